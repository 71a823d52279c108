"""Task build_shards (see `prefixcache.stages.build_shards`): one task per shard, its work in a process pool."""

from __future__ import annotations

from prefixcache.stages.build_shards import BUILD_SHARDS
from tasks.in_pool import in_pool
from tasks.stage_task import stage_task

build_shards = stage_task(BUILD_SHARDS, in_pool(BUILD_SHARDS))
