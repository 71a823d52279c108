"""One call of a mapped stage in a process that somebody else runs: a worker of Dask, of Ray, of a process pool.

The worker may be another machine with another installation, another working directory and no view of the folder. Each
of these is told plainly instead of being met as a missing file, or as other bytes under the same key.
"""

from __future__ import annotations

import socket
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from prefixcache.artifact import Artifact
from prefixcache.errors import EnvironmentFailure
from prefixcache.stages.job import Job
from prefixcache.stages.made import run_noted
from prefixcache.stages.stage import Stage
from prefixcache.stages.store import Store, artifacts_in
from prefixcache.version import GENERATOR_VERSION

VISIBLE_SECONDS = 10.0
"""How long a file may take to be seen through a network file system after another machine has closed it."""


def run_away(
    name: str, version: int, generator: str, address: str | None, root: Path, job: Job, *inputs: Any
) -> Artifact:
    """Run a stage here and hand its artifact back.

    Args:
        name, version: of the stage, as the flow knows it.
        generator: the flow's generator version.
        address: of the store, where machines share no folder; None: ``root`` is shared.
        root: the dataset's folder; with a store that of this machine takes its place.

    Raises:
        EnvironmentFailure: another version is installed here, or the folder is not to be seen.
    """
    stage = _stages()[name]
    if (stage.version, GENERATOR_VERSION) != (version, generator):
        raise EnvironmentFailure(
            f"the worker on {socket.gethostname()} has another version of prefixcache: generator {GENERATOR_VERSION}, "
            f"{name} {stage.version} instead of {generator}, {version}",
            field="runner",
            stage=name,
            remedy="install the same version on every worker.",
        )
    wanted = list(artifacts_in(inputs))
    if address is None:
        _see(root, name, wanted)
        return run_noted(stage, root, job, *inputs)
    store = _store(address)
    store.fetch(wanted)
    made = stage.run(store.root, job, *inputs)
    store.push([made])
    return made


def _stages() -> dict[str, Stage]:
    from prefixcache.pipeline import STAGES  # which imports every stage, this one's callers among them

    return {stage.name: stage for stage in STAGES}


@lru_cache(maxsize=4)
def _store(address: str) -> Store:
    return Store(address)


def _see(root: Path, stage: str, artifacts: list[Artifact]) -> None:
    deadline = time.monotonic() + VISIBLE_SECONDS
    for file in (file for artifact in artifacts for file in artifact.files):
        while not (root / file.path).is_file():
            if time.monotonic() > deadline:
                raise EnvironmentFailure(
                    f"the worker on {socket.gethostname()} does not see {root / file.path}",
                    field="output",
                    stage=stage,
                    remedy="give every worker the dataset's folder under the same path, or write to an address such "
                    "as s3://bucket/datasets/one.",
                )
            time.sleep(0.1)
