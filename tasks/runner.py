"""Runs the stage list as tasks of the current flow; a cached result counts only if its files are intact."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefect import State
from prefect.results import get_result_store

from prefixcache.artifact import Artifact
from prefixcache.errors import PrefixCacheError
from prefixcache.stages.job import Job
from prefixcache.stages.pool import pool_size, sharing
from prefixcache.stages.stage import Stage, tell
from tasks.build_masters import build_masters
from tasks.build_shards import build_shards
from tasks.check_collisions import check_collisions
from tasks.hash_blocks import hash_blocks
from tasks.plan_lengths import plan_lengths
from tasks.plan_prefixes import plan_prefixes
from tasks.policy import StagePolicy
from tasks.probe_tokenizer import probe_tokenizer
from tasks.publish import publish
from tasks.simulate import simulate
from tasks.stage_task import StageTask
from tasks.tokenize_sources import tokenize_sources
from tasks.validate import validate

TASKS: dict[str, StageTask] = {
    task.name: task
    for task in (
        probe_tokenizer,
        plan_lengths,
        plan_prefixes,
        tokenize_sources,
        build_masters,
        build_shards,
        hash_blocks,
        check_collisions,
        simulate,
        validate,
        publish,
    )
}


class AsTasks:
    """A :class:`prefixcache.stages.stage.Runner` whose stages are tasks of the flow that is running.

    Args:
        workers: processes of the pool that mapped stages share.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def call(self, stage: Stage, root: Path, job: Job, *inputs: Any) -> Artifact:
        return self.map(stage, root, job, [inputs])[0]

    def map(self, stage: Stage, root: Path, job: Job, inputs: Sequence[tuple[Any, ...]]) -> list[Artifact]:
        with sharing(pool_size(self.workers, len(inputs))):
            return self._map(TASKS[stage.name], root, job, inputs)

    def _map(self, task: StageTask, root: Path, job: Job, inputs: Sequence[tuple[Any, ...]]) -> list[Artifact]:
        tell(task.name, 0, len(inputs))
        if len(inputs) == 1:
            states = [_unless_damaged(task, root, job, inputs[0])(root, job, inputs[0], return_state=True)]
            tell(task.name, 1, 1)
        else:
            futures = [_unless_damaged(task, root, job, values).submit(root, job, values) for values in inputs]
            for done, future in enumerate(futures, 1):
                future.wait()
                tell(task.name, done, len(inputs))
            states = [future.state for future in futures]
        return [_result(state) for state in states]


def _unless_damaged(task: StageTask, root: Path, job: Job, inputs: tuple[Any, ...]) -> StageTask:
    """The task, told to run anew where its cached artifact is not intact: a hit itself does not look at the files."""
    policy = task.cache_policy
    assert isinstance(policy, StagePolicy) and policy.stage is not None
    key = policy.stage.key(job, inputs)
    # Outside of an event loop Prefect's methods run to their end; their types allow for the other case too.
    store: Any = get_result_store().update_for_task(task)
    if not store.exists(key):
        return task
    try:
        known = store.read(key).result
    except Exception:  # a record cut off by a kill, or of another version: whatever it is, it is no result
        known = None
    if isinstance(known, Artifact) and known.intact(root):
        return task
    return task.with_options(refresh_cache=True)


def _result(state: State[Any]) -> Artifact:
    """The artifact, or the stage's own error."""
    value = state.result(raise_on_failure=False)
    if isinstance(value, Artifact):
        return value
    if isinstance(value, PrefixCacheError):
        raise value
    if isinstance(value, BaseException):
        raise value
    raise RuntimeError(f"stage ended in state {state.name}: {state.message}")
