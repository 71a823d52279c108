"""Simulation, the check of the designed ratio, counters and the report as functions (RFC 3.5.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np

from prefixcache.analysis.rundir import load_run
from prefixcache.api.objects import (
    DatasetManifest,
    PerformanceResult,
    PrefixCacheReport,
    PrefixCacheSimulationResult,
    RequestPlan,
    RuntimeMetrics,
    ValidationReport,
)
from prefixcache.api.planning import planned_prefixes
from prefixcache.cache.watermark import simulate_cold, simulate_replay, simulate_warm
from prefixcache.engines.aggregate import aggregate
from prefixcache.engines.detect import detect_adapter
from prefixcache.engines.http import Connection, Timeouts, open_client
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.snapshot import Snapshot, metrics_source, take_snapshot
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.report.build import REPORT_HTML, REPORT_JSON
from prefixcache.report.build import build_prefix_cache_report as build_report
from prefixcache.workload.verdict import FAIL, PASS, WARNING

MetricsSnapshot = Snapshot
PassName = Literal["cold", "hot", "replay"]


def simulate_prefix_cache_watermarks(
    requests: list[RequestPlan],
    cache_scope: str,
    *,
    pass_name: PassName = "cold",
    unit: int = 16,
    head: int = 0,
    drop: int = 0,
) -> PrefixCacheSimulationResult:
    """Watermarks and hits of requests in send order, with an unbounded cache.

    Widened: ``pass_name``; ``unit``: hit unit (replay only); ``head``: shared tokens that the cache can serve (cold
    only); ``drop``: tokens of each match that the engine throws away. Tokens all.

    Args:
        requests: as they are sent, with groups and planned prefixes.
        cache_scope: `global` (also `shared`): one cache; `dp_local`, `instance_local`: one per ``planned_dp_id``.

    Raises:
        InputError: an unknown scope or pass, a request without a group or a planned prefix that fits into it.
    """
    if cache_scope not in ("global", "shared", "dp_local", "instance_local"):
        raise InputError(f"{cache_scope!r} is unknown", field="cache_scope", remedy="global, dp_local, instance_local.")
    for request in requests:
        if request.prefix_group_id is None:
            raise InputError(
                "is missing", field="prefix_group_id", request_id=request.request_id, remedy="allocate groups first."
            )
    local = cache_scope in ("dp_local", "instance_local")
    names = sorted({str(request.prefix_group_id) for request in requests})
    group = np.array([names.index(str(request.prefix_group_id)) for request in requests], dtype=np.int64)
    domains = np.array([request.planned_dp_id or 0 if local else 0 for request in requests], dtype=np.int64)
    prefixes = planned_prefixes(requests)
    lengths = np.array([request.input_len for request in requests], dtype=np.int64)
    lanes = group * (int(domains.max(initial=0)) + 1) + domains
    if pass_name == "cold":
        order = np.arange(len(requests))
        found = simulate_cold(prefixes, lanes, order, domains=domains, head=head, drop=drop)
    elif pass_name == "hot":
        found = simulate_warm(prefixes, lanes, drop=drop)
    elif pass_name == "replay":
        found = simulate_replay(lengths, prefixes, lanes, unit=unit, drop=drop)
    else:
        raise InputError(f"{pass_name!r} is unknown", field="pass_name", remedy="write cold, hot or replay.")
    of_groups = np.bincount(group, weights=found.hit, minlength=len(names)).astype(np.int64)
    return PrefixCacheSimulationResult(
        request_ids=[request.request_id for request in requests],
        input_len=lengths.tolist(),
        cached_watermark_before=found.before.tolist(),
        expected_hit_len=found.hit.tolist(),
        cached_watermark_after=found.after.tolist(),
        hits_of_groups=dict(zip(names, of_groups.tolist(), strict=True)),
    )


def validate_theoretical_hit_rate(
    simulation: PrefixCacheSimulationResult,
    target_hit_ratio: float | Decimal,
    pass_tolerance: float | Decimal,
    warning_tolerance: float | Decimal,
) -> ValidationReport:
    """Designed against target, in exact arithmetic: PASS, PASS_WITH_WARNING or FAIL (RFC 3.3.17).

    Raises:
        InputError: nothing was simulated.
    """
    if not simulation.input_tokens:
        raise InputError("the simulation has no request", field="simulation", remedy="simulate requests first.")
    ratios = {
        "target_hit_ratio": target_hit_ratio,
        "pass_tolerance": pass_tolerance,
        "warning_tolerance": warning_tolerance,
    }
    for name, value in ratios.items():
        if not 0 <= value <= 1:  # NaN too
            raise InputError(f"{value} lies outside [0, 1]", field=name, remedy="write a ratio, e.g. 0.5 for 50 %.")
    if warning_tolerance < pass_tolerance:
        raise InputError(
            f"{warning_tolerance} is below pass_tolerance {pass_tolerance}",
            field="warning_tolerance",
            remedy="swap them.",
        )
    target, passing, warning = (Fraction(str(value)) for value in ratios.values())
    deviation = Fraction(simulation.expected_hit_tokens, simulation.input_tokens) - target
    status = PASS if abs(deviation) <= passing else WARNING if abs(deviation) <= warning else FAIL
    return ValidationReport(
        target_hit_ratio=float(target),
        designed_hit_ratio=simulation.designed_hit_ratio,
        expected_hit_tokens=simulation.expected_hit_tokens,
        input_tokens=simulation.input_tokens,
        signed_deviation=float(deviation),
        absolute_deviation=float(abs(deviation)),
        validation_status=status,
        reason=None if status == PASS else f"the design is {float(deviation) * 100:+.2f} percentage points off",
    )


def take_metrics_snapshot(endpoints: Sequence[str]) -> MetricsSnapshot:
    """Read all metrics pages now. An endpoint that gives none is an entry in ``errors``.

    Raises:
        InputError: an address that is none.
    """

    async def read() -> Snapshot:
        async with open_client(Timeouts(), Connection()) as client:
            return await take_snapshot(client, [metrics_source(url) for url in endpoints])

    return asyncio.run(read())


def collect_prefix_cache_metrics(
    endpoints: list[str], before_snapshot: MetricsSnapshot, after_snapshot: MetricsSnapshot
) -> RuntimeMetrics:
    """What these endpoints counted between two snapshots (:func:`take_metrics_snapshot`).

    Counters are summed before anything is divided; what cannot be known is None and says why in ``endpoints``.

    Raises:
        InputError: an address that is none, a page of an unknown framework.
        EnvironmentFailure: none of these endpoints gave a page.
    """
    labels = [metrics_source(url).label for url in endpoints]
    before, after = (_only(labels, snapshot) for snapshot in (before_snapshot, after_snapshot))
    page = next(((label, page) for s in (after, before) for label, page in s.pages.items()), None)
    if page is None:
        raise EnvironmentFailure("none of the endpoints gave metrics", field="endpoints", remedy="check the addresses.")
    found = aggregate(detect_adapter(page[1], page[0]), before, after)
    queries, hits = found.total.delta(Quantity.QUERIES), found.total.delta(Quantity.HITS)
    return RuntimeMetrics(
        status=found.status,
        prefix_cache_queries=None if queries is None else int(queries),
        prefix_cache_hits=None if hits is None else int(hits),
        actual_hit_rate=found.total.hit_rate,
        endpoints=[entry.to_json() for entry in found.endpoints],
    )


def _only(labels: list[str], snapshot: Snapshot) -> Snapshot:
    """These endpoints; one that the snapshot lacks is missing, not left out."""
    pages = {label: snapshot.pages[label] for label in labels if label in snapshot.pages}
    return Snapshot(pages, {name: snapshot.errors.get(name, "not read") for name in labels if name not in pages})


def metrics_of_run(run_dir: Path) -> RuntimeMetrics:
    """Counters and performance of a finished run.

    Raises:
        InputError: not a run directory.
    """
    from prefixcache.analysis.comparison import compare_pass

    run = load_run(run_dir)
    main = compare_pass(run, run.target_pass)
    return RuntimeMetrics(
        status=run.status,
        prefix_cache_queries=main["measured_query_tokens"],
        prefix_cache_hits=main["measured_hit_tokens"],
        actual_hit_rate=main["actual_hit_rate"],
        endpoints=run.counters.get(run.target_pass, {}).get("endpoints") or [],
        passes=[run.counters[name] for name in run.passes if name in run.counters],
        performance=PerformanceResult(dict(run.performance)),
        run_dir=run_dir,
    )


def build_prefix_cache_report(
    manifest: DatasetManifest,
    validation: ValidationReport,
    runtime_metrics: RuntimeMetrics,
    performance_result: PerformanceResult | None = None,
    *,
    language: str = "en",
) -> PrefixCacheReport:
    """Write the report of a run into its run directory, as `prefixcache report` does.

    Widened: ``performance_result`` may be left out, it lies in the run directory; ``language`` of the page.

    Raises:
        InputError: metrics that are not of a run; a manifest or validation of another dataset than the run's.
    """
    run_dir = runtime_metrics.run_dir
    if run_dir is None:
        raise InputError(
            "these metrics are not of a run",
            field="runtime_metrics",
            remedy="use PrefixCacheBenchmarkRunner's.",
        )
    if manifest.digest != DatasetManifest.load(run_dir).digest:
        raise InputError("is not of the dataset that was run", field="manifest", remedy="load the run's own manifest.")
    designed = ValidationReport.load(run_dir / "dataset")
    if (validation.expected_hit_tokens, validation.input_tokens) != (
        designed.expected_hit_tokens,
        designed.input_tokens,
    ):
        raise InputError("is not of the dataset that was run", field="validation", remedy="validate the run's dataset.")
    if performance_result is not None and performance_result != metrics_of_run(run_dir).performance:
        raise InputError("is not of this run", field="performance_result", remedy="leave it out.")
    content = build_report(run_dir, language)
    folder = run_dir / "report"
    return PrefixCacheReport(folder / REPORT_JSON, folder / REPORT_HTML, content)
