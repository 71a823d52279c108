"""Task plan_lengths (see `prefixcache.stages.plan_lengths`)."""

from prefixcache.stages.plan_lengths import PLAN_LENGTHS
from tasks.stage_task import stage_task

plan_lengths = stage_task(PLAN_LENGTHS)
