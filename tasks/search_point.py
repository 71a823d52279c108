"""Task search_point (see `prefixcache.load.slo_points`): one load of an SLO search, run unless it was finished before.

Not cached by Prefect: what was finished is known by the file beside the point's folder, with or without Prefect.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.states import Failed

from prefixcache.errors import PrefixCacheError
from prefixcache.load.slo_points import SloPoints


@task(
    name="search_point",
    task_run_name="{over}-{value}",
    cache_policy=NO_CACHE,
    retries=0,
    persist_result=False,
    log_prints=False,
)
def search_point(points: Any, over: str, value: str) -> Any:
    """Run and judge a point; returns its figures as plain data.

    ``points`` is a :class:`SloPoints`; its addresses never reach Prefect's records.
    """
    assert isinstance(points, SloPoints)
    try:
        return points.measure(Decimal(value))
    except PrefixCacheError as error:
        return Failed(message=str(error), data=error)
