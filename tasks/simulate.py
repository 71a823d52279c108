"""Task simulate (see `prefixcache.stages.simulate`)."""

from prefixcache.stages.simulate import SIMULATE
from tasks.stage_task import stage_task

simulate = stage_task(SIMULATE)
