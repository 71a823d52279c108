"""A stage by name and version, how its inputs are fingerprinted, and who runs it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson

from prefixcache.artifact import Artifact
from prefixcache.stages.job import Job
from prefixcache.stages.made import noted, run_noted
from prefixcache.stages.pool import pool_size, worker_pool
from prefixcache.stages.progress import Meter


@dataclass(frozen=True)
class Stage:
    """One step: ``run(root, job, *inputs) -> Artifact``.

    ``version`` is raised when equal inputs would give another output. ``content_only``: the output does not depend on
    how the dataset is run or judged.
    """

    name: str
    version: int
    run: Callable[..., Artifact]
    content_only: bool = True

    def key(self, job: Job, inputs: Sequence[Any]) -> str:
        """Name, version and fingerprint of all inputs; artifacts count by content, folders not at all."""
        parts = [job.fingerprint(content_only=self.content_only), *(_fingerprint(value) for value in inputs)]
        digest = hashlib.sha256(orjson.dumps(parts)).hexdigest()
        return f"{self.name}-v{self.version}-{digest}"


def _fingerprint(value: Any) -> Any:
    if isinstance(value, Artifact):
        return value.content_hash
    if isinstance(value, (list, tuple)):
        return [_fingerprint(item) for item in value]
    return value


class Runner(Protocol):
    """Runs stages: in this process, or as cached tasks of a flow."""

    def call(self, stage: Stage, root: Path, job: Job, *inputs: Any) -> Artifact: ...

    def map(self, stage: Stage, root: Path, job: Job, inputs: Sequence[tuple[Any, ...]]) -> list[Artifact]:
        """The stage once per tuple of inputs; results in the order of the tuples."""
        ...


class InProcess:
    """Runs every stage here and now; mapped stages in a process pool if there is more than one worker.

    Of mapped stages only what the folder has no whole files of (:mod:`prefixcache.stages.made`).
    """

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def call(self, stage: Stage, root: Path, job: Job, *inputs: Any) -> Artifact:
        meter = Meter(stage.name, 1)
        artifact = stage.run(root, job, *inputs)
        meter.finished(artifact)
        return artifact

    def map(self, stage: Stage, root: Path, job: Job, inputs: Sequence[tuple[Any, ...]]) -> list[Artifact]:
        meter = Meter(stage.name, len(inputs))
        made = {number: known for number, values in enumerate(inputs) if (known := noted(stage, root, job, values))}
        for artifact in made.values():
            meter.finished(artifact, known=True)
        missing = [number for number in range(len(inputs)) if number not in made]
        if missing:
            with worker_pool(pool_size(self.workers, len(missing))) as pool:
                calls = [(stage, root, job, *inputs[number]) for number in missing]
                for number, artifact in zip(missing, pool.map(run_noted, calls), strict=True):
                    made[number] = artifact
                    meter.finished(artifact)
        return [made[number] for number in range(len(inputs))]
