"""Task check_collisions (see `prefixcache.stages.check_collisions`)."""

from prefixcache.stages.check_collisions import CHECK_COLLISIONS
from tasks.stage_task import stage_task

check_collisions = stage_task(CHECK_COLLISIONS)
