"""Runs the stage list as tasks of the current flow; a cached result counts only if its files are intact."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import wait
from contextlib import suppress
from pathlib import Path
from typing import Any

from prefect import State
from prefect.results import get_result_store

from prefixcache.artifact import Artifact
from prefixcache.errors import PrefixCacheError
from prefixcache.stages.job import Job
from prefixcache.stages.made import note, noted
from prefixcache.stages.pool import sharing
from prefixcache.stages.progress import Meter
from prefixcache.stages.stage import Stage
from prefixcache.stages.store import Store
from tasks.away import Away
from tasks.build_masters import build_masters
from tasks.build_shards import build_shards
from tasks.check_collisions import check_collisions
from tasks.engines import Engine
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


SHOWN = 32
"""Cached task runs of one stage that are worth their milliseconds: a hundred of them hide what was done."""


class AsTasks:
    """A :class:`prefixcache.stages.stage.Runner` whose stages are tasks of the flow that is running.

    Args:
        workers: processes of the pool that mapped stages share, or of a cluster of the flow's own.
        engine: who runs the mapped stages.
        store: where files travel through if the dataset's home is an address.
    """

    def __init__(self, workers: int, engine: Engine | None = None, store: Store | None = None) -> None:
        self.workers = workers
        self.away = Away(engine, workers, store) if engine is not None and engine.away else None

    def __enter__(self) -> AsTasks:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.away is not None:
            self.away.close()

    def call(self, stage: Stage, root: Path, job: Job, *inputs: Any) -> Artifact:
        meter = Meter(stage.name, 1)
        task = TASKS[stage.name]
        known = _known(task, root, job, inputs) is not None
        artifact = _result(_fresh_unless(known, task)(root, job, inputs, return_state=True))
        meter.finished(artifact)
        return artifact

    def map(self, stage: Stage, root: Path, job: Job, inputs: Sequence[tuple[Any, ...]]) -> list[Artifact]:
        if len(inputs) == 1 and self.away is None:
            return [self.call(stage, root, job, *inputs[0])]
        with sharing(self.workers, len(inputs)):
            if self.away is not None:
                return self._map_away(self.away, stage, root, job, inputs)
            return self._map(TASKS[stage.name], root, job, inputs)

    def _map(self, task: StageTask, root: Path, job: Job, inputs: Sequence[tuple[Any, ...]]) -> list[Artifact]:
        """Few calls are all shown as task runs, those known already as cached; of many only what has to be made."""
        meter = Meter(task.name, len(inputs))
        known = [_known(task, root, job, values) for values in inputs]
        quiet = len(inputs) > SHOWN
        pending: list[Any] = [
            artifact if artifact and quiet else _fresh_unless(artifact is not None, task).submit(root, job, values)
            for artifact, values in zip(known, inputs, strict=True)
        ]
        made: list[Artifact] = []
        try:
            for before, found in zip(known, pending, strict=True):
                if not isinstance(found, Artifact):
                    found.wait()
                made.append(found if isinstance(found, Artifact) else _result(found.state))
                meter.finished(made[-1], known=before is not None)
        except Exception:
            _give_up(pending[len(made) :])
            raise
        return made

    def _map_away(
        self, away: Away, stage: Stage, root: Path, job: Job, inputs: Sequence[tuple[Any, ...]]
    ) -> list[Artifact]:
        """What is known is answered here, the rest there; its records are written here as each comes in."""
        task = TASKS[stage.name]
        meter = Meter(stage.name, len(inputs))
        made = {number: known for number, values in enumerate(inputs) if (known := _known(task, root, job, values))}
        missing = [number for number in range(len(inputs)) if number not in made]
        cached = [task.submit(root, job, inputs[number]) for number in made]
        for future, artifact in zip(cached, list(made.values()), strict=True):
            future.wait()
            meter.finished(artifact, known=True)

        def finished(number: int, artifact: Artifact) -> None:
            made[missing[number]] = artifact
            _record(task, job, inputs[missing[number]], artifact)
            note(stage, root, job, inputs[missing[number]], artifact)  # here, since a worker's folder may be its own
            meter.finished(artifact)

        away.map(stage, root, job, [inputs[number] for number in missing], finished)
        return [made[number] for number in range(len(inputs))]


def _give_up(pending: list[Any]) -> None:
    """After a failure: what has not begun does not; what has goes to its end, so that what it makes is known later."""
    futures = [found.wrapped_future for found in pending if not isinstance(found, Artifact)]
    wait([future for future in futures if not future.cancel()])


def _stage(task: StageTask) -> Stage:
    policy = task.cache_policy
    assert isinstance(policy, StagePolicy) and policy.stage is not None
    return policy.stage


def _key(task: StageTask, job: Job, inputs: tuple[Any, ...]) -> str:
    return _stage(task).key(job, inputs)


def _known(task: StageTask, root: Path, job: Job, inputs: tuple[Any, ...]) -> Artifact | None:
    """The recorded artifact if its files are intact: a hit itself does not look at them."""
    key = _key(task, job, inputs)
    # Outside of an event loop Prefect's methods run to their end; their types allow for the other case too.
    store: Any = get_result_store().update_for_task(task)
    if store.exists(key):
        # A record cut off by a kill, or of another version: whatever it is, it is no result.
        with suppress(Exception):
            known = store.read(key).result
            if isinstance(known, Artifact) and known.intact(root):
                return known
    made = noted(_stage(task), root, job, inputs)  # by a worker whose result nobody was there to record
    if made is not None:
        _record(task, job, inputs, made)
    return made


def _record(task: StageTask, job: Job, inputs: tuple[Any, ...], artifact: Artifact) -> None:
    """Write the record that the task would have written if it had run in this process."""
    store: Any = get_result_store().update_for_task(task)
    store.write(obj=artifact, key=_key(task, job, inputs))


def _fresh_unless(known: bool, task: StageTask) -> StageTask:
    return task if known else task.with_options(refresh_cache=True)


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
