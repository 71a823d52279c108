"""Task hash_blocks (see `prefixcache.stages.hash_blocks`): one task per shard, its work in the pool of build_shards."""

from __future__ import annotations

from prefixcache.stages.hash_blocks import HASH_BLOCKS
from tasks.in_pool import in_pool
from tasks.stage_task import stage_task

hash_blocks = stage_task(HASH_BLOCKS, in_pool(HASH_BLOCKS))
