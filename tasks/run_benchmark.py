"""Task run_benchmark (see `prefixcache.load.run`): preflight, passes, snapshots.

Never cached and never retried: a second try would meet the cache that the first one warmed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.states import Failed

from prefixcache.errors import PrefixCacheError
from prefixcache.load.options import ProgressCallback, RunOptions
from prefixcache.load.run import run_benchmark as run

_callback: list[ProgressCallback] = []


@task(
    name="run_benchmark",
    task_run_name="run_benchmark",
    cache_policy=NO_CACHE,
    retries=0,
    persist_result=False,
    log_prints=False,
)
def run_benchmark(dataset: Path, run_dir: Path, options: Any) -> Any:
    """Send the dataset and write runtime/*; returns the run's summary as plain data.

    ``options`` is a :class:`RunOptions`; its addresses never reach Prefect's records.
    """
    assert isinstance(options, RunOptions)
    try:
        return run(dataset, run_dir, options, _callback[-1] if _callback else None).to_json()
    except PrefixCacheError as error:
        return Failed(message=str(error), data=error)


def watcher() -> ProgressCallback | None:
    """Who is told of benchmarks in this process at the moment."""
    return _callback[-1] if _callback else None


@contextmanager
def watched(progress: ProgressCallback) -> Iterator[None]:
    """Tell ``progress`` of every step of the benchmarks that run in this process inside this block."""
    _callback.append(progress)
    try:
        yield
    finally:
        _callback.pop()
