"""What a generation had done when it failed: the error's context and a partial manifest (RFC 3.3.23, 3.4.3)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from prefixcache.artifact import Artifact
from prefixcache.errors import EnvironmentFailure, PrefixCacheError, VerdictError, locating
from prefixcache.files import json_bytes, write_bytes, write_json
from prefixcache.stages.job import Job
from prefixcache.stages.made import noted, part_of
from prefixcache.stages.pool import GOES_ON
from prefixcache.stages.stage import Runner, Stage
from prefixcache.stages.workspace import WORK
from prefixcache.version import GENERATOR_VERSION

CUT_OFF = "could not be written in full, the disk is full or a limit on files is reached"  # numpy keeps no cause
PARTIAL_MANIFEST = "partial_manifest.json"
RESERVE = f"{WORK}/reserve"
RESERVED_BYTES = 1 << 17
"""Kept on the disk while a generation runs, so that a full one can still be told of what is whole."""
KEPT = f"{PARTIAL_MANIFEST} in the dataset's folder keeps what was done and found"


class Recorded:
    """A runner that remembers which stages have given which artifacts, and of the one that failed what is whole."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.done: list[dict[str, Any]] = []
        self.running: str | None = None
        self.whole: list[Artifact] = []
        """Of the stage that is running, or failed: what its calls have made."""
        self.calls = 0

    def call(self, stage: Stage, root: Path, job: Job, *inputs: Any) -> Artifact:
        with self._told(stage, root, job, [inputs]):
            artifact = self.runner.call(stage, root, job, *inputs)
        self._finished(stage, [artifact])
        return artifact

    def map(self, stage: Stage, root: Path, job: Job, inputs: Sequence[tuple[Any, ...]]) -> list[Artifact]:
        with self._told(stage, root, job, inputs):
            artifacts = self.runner.map(stage, root, job, inputs)
        self._finished(stage, artifacts)
        return artifacts

    @contextmanager
    def _told(self, stage: Stage, root: Path, job: Job, inputs: Sequence[tuple[Any, ...]]) -> Iterator[None]:
        """What the disk refuses, as one message with file, stage and cause; errors of a stage know their dataset.

        Those after which the same command goes on say from what.
        """
        self.running, self.calls, self.whole = stage.name, len(inputs), []
        try:
            with locating(stage=stage.name, dataset_id=job.config.dataset_id, retry_count=0):
                yield
        except Exception as error:
            self.whole = [artifact for values in inputs if (artifact := noted(stage, root, job, values))]
            told = refused_by_disk(stage, root, job, error) if isinstance(error, OSError) else error
            if isinstance(told, EnvironmentFailure) and GOES_ON in (told.remedy or ""):
                told.message = "; ".join([told.message, *self._left(part_of(inputs[0]) if inputs else None)])
            if told is error:
                raise
            raise told from error

    def _finished(self, stage: Stage, artifacts: list[Artifact]) -> None:
        known = {"stage": stage.name, "version": stage.version, "calls": len(artifacts)}
        self.done.append({**known, **_made(artifacts)})
        self.running = None

    def _left(self, part: str | None) -> Iterator[str]:
        """What is whole and what is missing, in a sentence each. ``part``: the failed stage's calls are one a shard."""
        if part is not None:
            yield f"{self.running}: {len(self.whole)} of {self.calls} shards are whole and kept"
        following = self.following()
        missing = following[0] if part is not None and following else self.running
        yield f"{missing} and what follows is missing" if following else f"{missing} is missing"

    def following(self) -> list[str]:
        """Stages after the one that is running: whatever they once made is to be made again."""
        from prefixcache.pipeline import STAGES  # which imports this module

        names = [stage.name for stage in STAGES]
        return names[names.index(self.running) + 1 :] if self.running in names else []

    def unfinished(self) -> dict[str, Any] | None:
        """The stage that failed: its calls, those whose files are whole, and these files."""
        if self.running is None:
            return None
        return {"stage": self.running, "calls": self.calls, "whole": len(self.whole), **_made(self.whole)}


def _made(artifacts: list[Artifact]) -> dict[str, Any]:
    files = [file.model_dump(exclude={"written_ns"}) for artifact in artifacts for file in artifact.files]
    return {"rows": sum(artifact.rows for artifact in artifacts), "files": files}


def refused_by_disk(stage: Stage, root: Path, job: Job, error: OSError) -> EnvironmentFailure:
    """File, stage and cause; no path of this machine, since records of all kinds keep it."""
    return EnvironmentFailure(
        f"{_within(root, error.filename)}: {error.strerror or CUT_OFF}",
        field="output",
        stage=stage.name,
        dataset_id=job.config.dataset_id,
        remedy=f"free space on the disk, raise the limit, or name a folder on another disk; {GOES_ON}.",
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
    reserve = root / RESERVE
    try:
        with suppress(OSError):  # a disk that is full now is told by the first stage
            write_bytes(reserve, bytes(RESERVED_BYTES + 2 * len(json_bytes(job.identity))))
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
            "unfinished_stage": runner.unfinished(),
            "missing_stages": runner.following(),
            "config": job.identity,
        }
        reserve.unlink(missing_ok=True)
        try:
            write_json(path, content)
        except OSError:  # a full disk: the error itself is what matters
            path.unlink(missing_ok=True)
        else:
            if isinstance(error, PrefixCacheError):
                error.remedy = "; ".join([*([error.remedy.rstrip(".")] if error.remedy else []), f"{KEPT}."])
        raise
    finally:
        reserve.unlink(missing_ok=True)
