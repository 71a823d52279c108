"""Mapped stages on the workers of a task runner; what is known already is not sent there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from prefect.cache_policies import NO_CACHE
from prefect.task_runners import TaskRunner

from prefixcache.artifact import Artifact
from prefixcache.errors import EnvironmentFailure, PrefixCacheError
from prefixcache.stages.away import run_away
from prefixcache.stages.job import Job
from prefixcache.stages.pool import worker_killed
from prefixcache.stages.stage import Stage
from prefixcache.stages.store import Store, artifacts_in
from prefixcache.version import GENERATOR_VERSION
from tasks.engines import Engine
from tasks.stage_task import StageTask, stage_task

WORKERS_SECONDS = 60.0
"""How long a cluster may have no worker: without one, calls would wait for ever."""

NO_WORKER = "look at the workers' logs; each needs this version of prefixcache and enough memory."
KILLED = {"BrokenExecutor", "KilledWorker", "WorkerCrashedError", "OutOfMemoryError", "NodeDiedError"}
"""What process pools, Dask and Ray raise for a call whose process is gone."""
NO_API = "set PREFECT_API_URL to a Prefect server that this machine and all workers reach; see docs/scaling.md."


class Away:
    """A task runner that is started when the first call is sent to it, and ended by :meth:`close`.

    Its tasks keep no records of their own: workers on other machines would keep them there, and answer from them
    without anybody looking at the files. The flow writes the records (:mod:`tasks.runner`).

    Args:
        engine: which runner.
        workers: processes of a cluster of its own.
        store: where the files travel through; None: all workers see the folder under the same path.
    """

    def __init__(self, engine: Engine, workers: int, store: Store | None) -> None:
        self.engine = engine
        self.workers = workers
        self.store = store
        self._stack = ExitStack()
        self._runner: TaskRunner[Any] | None = None
        self._tasks: dict[str, StageTask] = {}

    def map(
        self,
        stage: Stage,
        root: Path,
        job: Job,
        inputs: Sequence[tuple[Any, ...]],
        finished: Callable[[int, Artifact], None],
    ) -> None:
        """Run the stage once per tuple of inputs; ``finished`` is called with each one's number and artifact, in order.

        Raises:
            PrefixCacheError: the stage's own, or that the workers could not run it.
        """
        if not inputs:
            return
        if self.store is not None:
            self.store.push(artifacts_in(inputs))
        runner, task = self._started(), self._task(stage)
        try:
            calls = [runner.submit(task, {"root": root, "job": job, "inputs": values}) for values in inputs]
        except BrokenExecutor as error:
            raise worker_killed(self.engine.name) from error
        for number, call in enumerate(calls):
            artifact = self._result(stage, call)
            if self.store is not None:
                self.store.fetch([artifact])
            finished(number, artifact)

    def close(self) -> None:
        self._stack.close()
        self._runner = None

    def _started(self) -> TaskRunner[Any]:
        if self._runner is None:
            try:
                runner = self._stack.enter_context(self.engine.started(self.workers))
                client = getattr(runner, "client", None)  # Dask connects when it is looked at
                if client is not None:
                    client.wait_for_workers(1, timeout=WORKERS_SECONDS)
            except PrefixCacheError:
                raise
            except Exception as error:
                where = f" at {self.engine.address}" if self.engine.address else ""
                raise EnvironmentFailure(
                    f"{self.engine.name}{where} cannot be reached or started: {_first_line(error)}",
                    field="runner_address" if self.engine.address else "runner",
                    remedy="start the cluster and check its address and version; see docs/scaling.md.",
                ) from error
            self._runner = runner
        return self._runner

    def _task(self, stage: Stage) -> StageTask:
        if stage.name not in self._tasks:
            address = self.store.address if self.store else None
            body = partial(run_away, stage.name, stage.version, GENERATOR_VERSION, address)
            task = stage_task(stage, body).with_options(cache_policy=NO_CACHE, persist_result=False)
            self._tasks[stage.name] = task
        return self._tasks[stage.name]

    def _result(self, stage: Stage, call: Any) -> Artifact:
        try:
            value = call.result(raise_on_failure=False)
        except Exception as error:  # not the stage's own, which comes as a value: a worker is gone or lacks a package
            if _is_killed(error):
                raise worker_killed(self.engine.name) from error
            raise EnvironmentFailure(
                f"the workers of {self.engine.name} could not run it: {_first_line(error)}",
                field="runner",
                stage=stage.name,
                remedy=NO_API if "reach API" in str(error) else NO_WORKER,
            ) from error
        if isinstance(value, Artifact):
            return value
        if isinstance(value, BaseException):
            raise worker_killed(self.engine.name) if _is_killed(value) else value
        raise RuntimeError(f"stage {stage.name} gave a {type(value).__name__} on a worker")


def _is_killed(error: BaseException) -> bool:
    """By name, since neither Dask nor Ray need be installed. Both first try the call again on another worker."""
    return any(kind.__name__ in KILLED for kind in type(error).__mro__)


def _first_line(error: BaseException) -> str:
    text = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
