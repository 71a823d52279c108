"""Task build_shards (see `prefixcache.stages.build_shards`): one task per shard, its work in a process pool of our own.

A thread of the task runner waits for the pool; that costs milliseconds where a process-pool task runner costs a server
start per worker.
"""

from __future__ import annotations

from typing import Any

from prefixcache.artifact import Artifact
from prefixcache.stages.build_shards import BUILD_SHARDS
from prefixcache.stages.pool import shared_pool
from tasks.stage_task import stage_task


def _in_pool(*arguments: Any) -> Artifact:
    artifact: Artifact = shared_pool().run(BUILD_SHARDS.run, *arguments)
    return artifact


build_shards = stage_task(BUILD_SHARDS, _in_pool)
