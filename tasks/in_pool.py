"""The work of a mapped stage in a process pool of our own.

A thread of the task runner waits for the pool; that costs milliseconds where a process-pool task runner costs a server
start per worker.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prefixcache.artifact import Artifact
from prefixcache.stages.made import run_noted
from prefixcache.stages.pool import shared_pool
from prefixcache.stages.stage import Stage


def in_pool(stage: Stage) -> Callable[..., Artifact]:
    """The stage's function, run by a worker of the pool that is shared at that moment."""

    def run(*arguments: Any) -> Artifact:
        artifact: Artifact = shared_pool().run(run_noted, stage, *arguments)
        return artifact

    return run
