"""Task check_collisions (see `prefixcache.stages.simulate`)."""

from prefixcache.stages.simulate import CHECK_COLLISIONS
from tasks.stage_task import stage_task

check_collisions = stage_task(CHECK_COLLISIONS)
