"""What a generation had done when it failed: the error's context and a partial manifest (RFC 3.3.23, 3.4.3)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prefixcache.artifact import Artifact
from prefixcache.errors import EnvironmentFailure, PrefixCacheError, VerdictError, locating
from prefixcache.files import write_json
from prefixcache.stages.job import Job
from prefixcache.stages.stage import Runner, Stage
from prefixcache.version import GENERATOR_VERSION

CUT_OFF = "could not be written in full, the disk is full or a limit on files is reached"  # numpy keeps no cause
PARTIAL_MANIFEST = "partial_manifest.json"
KEPT = f"{PARTIAL_MANIFEST} in the dataset's folder keeps what was done and found"


class Recorded:
    """A runner that remembers which stages have given which artifacts."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.done: list[dict[str, Any]] = []
        self.running: str | None = None

    def call(self, stage: Stage, root: Path, job: Job, *inputs: Any) -> Artifact:
        self.running = stage.name
        with _told(stage, root, job):
            artifact = self.runner.call(stage, root, job, *inputs)
        self._finished(stage, [artifact])
        return artifact

    def map(self, stage: Stage, root: Path, job: Job, inputs: Sequence[tuple[Any, ...]]) -> list[Artifact]:
        self.running = stage.name
        with _told(stage, root, job):
            artifacts = self.runner.map(stage, root, job, inputs)
        self._finished(stage, artifacts)
        return artifacts

    def _finished(self, stage: Stage, artifacts: list[Artifact]) -> None:
        files = [file.model_dump(exclude={"written_ns"}) for artifact in artifacts for file in artifact.files]
        rows = sum(artifact.rows for artifact in artifacts)
        self.done.append({"stage": stage.name, "version": stage.version, "rows": rows, "files": files})
        self.running = None


@contextmanager
def _told(stage: Stage, root: Path, job: Job) -> Iterator[None]:
    """What the disk refuses, as one message with file, stage and cause; errors of a stage know their dataset."""
    try:
        with locating(stage=stage.name, dataset_id=job.config.dataset_id, retry_count=0):
            yield
    except OSError as error:
        raise refused_by_disk(stage, root, job, error) from error


def refused_by_disk(stage: Stage, root: Path, job: Job, error: OSError) -> EnvironmentFailure:
    """File, stage and cause; no path of this machine, since records of all kinds keep it."""
    return EnvironmentFailure(
        f"{_within(root, error.filename)}: {error.strerror or CUT_OFF}",
        field="output",
        stage=stage.name,
        dataset_id=job.config.dataset_id,
        remedy="free space on the disk, raise the limit, or name a folder on another disk; the same command again "
        "goes on from what is whole (with --no-prefect from the start).",
    )


def _within(root: Path, name: str | bytes | None) -> str:
    """A file's name without the path of this machine."""
    if name is None:
        return "a file"
    path = Path(os.fsdecode(name))
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


@contextmanager
def keeping_context(root: Path, job: Job, runner: Recorded) -> Iterator[None]:
    """On a failure write partial_manifest.json; it is removed when a generation starts.

    A generation that is killed leaves none: nobody is there to write it. The manifest itself is written last of all, so
    a folder with a partial manifest or with none is not taken for a dataset.
    """
    path = root / PARTIAL_MANIFEST
    path.unlink(missing_ok=True)
    try:
        yield
    except VerdictError:  # validation_report.json tells more
        raise
    except Exception as error:
        known = isinstance(error, PrefixCacheError)
        content = {
            "status": "failed",
            "dataset_id": job.config.dataset_id,
            "generator_version": GENERATOR_VERSION,
            "failed_stage": (error.stage if isinstance(error, PrefixCacheError) else None) or runner.running,
            "error": {
                "kind": type(error).__name__,
                **(error.as_json() if isinstance(error, PrefixCacheError) else {"message": str(error)[:300]}),
            },
            "expected_error": known,
            "finished_stages": runner.done,
            "config": job.identity,
        }
        try:
            write_json(path, content)
        except OSError:  # a full disk: the error itself is what matters
            path.unlink(missing_ok=True)
        else:
            if isinstance(error, PrefixCacheError):
                error.remedy = "; ".join([*([error.remedy.rstrip(".")] if error.remedy else []), f"{KEPT}."])
        raise
