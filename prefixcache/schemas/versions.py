"""The version of each artifact's form, and the rule of those who read one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefixcache.errors import InputError

VERSIONS: dict[str, int] = {
    "config": 1,
    "manifest": 2,
    "request_metadata": 1,
    "data": 1,
    "warmup": 1,
    "validation_report": 1,
    "request_results": 1,
    "performance_metrics": 1,
    "prefix_cache_metrics": 1,
    "run": 1,
    "prefix_cache_report": 1,
    "trace_simulation": 1,
    "dataset_simulation": 1,
    "clocked_simulation": 1,
    "run_comparison": 1,
    "slo_search": 1,
    "run_series": 1,
    "metrics": 1,
    "probe": 1,
}
"""Kind of artifact → the newest version of its form that this package knows."""
FIRST = 1


def check_version(kind: str, value: Mapping[str, Any], *, field: str | None = None) -> int:
    """The version of an artifact that was read; one without ``schema_version`` is of the first.

    Args:
        kind: a key of ``VERSIONS``.
        value: the artifact's top level.
        field: the flag or argument that named it, for the error.

    Raises:
        InputError: the version is no whole number from 1, or newer than this package.
        KeyError: no such kind.
    """
    newest = VERSIONS[kind]
    found = value.get("schema_version", FIRST)
    if type(found) is not int or found < FIRST:
        raise InputError(
            f"{kind}.json has schema_version {str(found)[:50]!r}, which is no whole number from {FIRST}: this package "
            f"reads {_known(newest)}",
            field=field or "schema_version",
            remedy="make the file again.",
        )
    if found > newest:
        raise InputError(
            f"{kind}.json has schema_version {found}, this package reads {_known(newest)}",
            field=field or "schema_version",
            remedy="update prefixcache, or use the version that wrote the file.",
        )
    return found


def _known(newest: int) -> str:
    return f"{FIRST}" if newest == FIRST else f"{FIRST} to {newest}"
