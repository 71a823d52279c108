"""Task build_masters (see `prefixcache.stages.build_masters`)."""

from prefixcache.stages.build_masters import BUILD_MASTERS
from tasks.stage_task import stage_task

build_masters = stage_task(BUILD_MASTERS)
