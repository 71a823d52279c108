"""Task build_report (see `prefixcache.report.build`): the report's JSON and HTML from a run directory.

Not cached: it costs a second and reads files that a cache key would have to hash.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.states import Failed

from prefixcache.errors import PrefixCacheError
from prefixcache.report.build import build_prefix_cache_report


@task(name="build_report", task_run_name="build_report", cache_policy=NO_CACHE, persist_result=False, log_prints=False)
def build_report(run_dir: Path, language: str, slo: str | None = None) -> Any:
    """Write report/*; returns the report as plain data."""
    try:
        return build_prefix_cache_report(run_dir, language, slo)
    except PrefixCacheError as error:
        return Failed(message=str(error), data=error)
