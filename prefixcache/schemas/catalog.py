"""All schemas by kind, and the files they are published as."""

from __future__ import annotations

import json
from collections.abc import Callable

from prefixcache.schemas import (
    config_file,
    dataset_files,
    measuring_output,
    metrics_output,
    probe_output,
    report_file,
    rows,
    run_files,
    series_output,
    simulation_output,
)
from prefixcache.schemas.parts import Schema

MAKERS: dict[str, Callable[[], Schema]] = {
    "config": config_file.config,
    "manifest": dataset_files.manifest,
    "request_metadata": rows.metadata_row,
    "data": rows.data_row,
    "warmup": rows.warmup_row,
    "validation_report": dataset_files.validation_report,
    "request_results": rows.result_row,
    "performance_metrics": run_files.performance_metrics,
    "prefix_cache_metrics": run_files.prefix_cache_metrics,
    "run": run_files.run,
    "prefix_cache_report": report_file.prefix_cache_report,
    "trace_simulation": simulation_output.trace_simulation,
    "dataset_simulation": simulation_output.dataset_simulation,
    "clocked_simulation": simulation_output.clocked_simulation,
    "run_comparison": measuring_output.run_comparison,
    "slo_search": measuring_output.slo_search,
    "run_series": series_output.run_series,
    "metrics": metrics_output.metrics,
    "probe": probe_output.probe,
}


def schema_of(kind: str) -> Schema:
    """The schema of an artifact.

    Raises:
        KeyError: no such kind.
    """
    return MAKERS[kind]()


def schema_files() -> dict[str, str]:
    """File name → content, as in docs/schemas."""
    return {
        f"{kind}.schema.json": json.dumps(make(), indent=2, ensure_ascii=False) + "\n" for kind, make in MAKERS.items()
    }
