"""Task validate (see `prefixcache.stages.validate`)."""

from prefixcache.stages.validate import VALIDATE
from tasks.stage_task import stage_task

validate = stage_task(VALIDATE)
