"""Task plan_prefixes (see `prefixcache.stages.plan_prefixes`)."""

from prefixcache.stages.plan_prefixes import PLAN_PREFIXES
from tasks.stage_task import stage_task

plan_prefixes = stage_task(PLAN_PREFIXES)
