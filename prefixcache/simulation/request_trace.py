"""A request trace served by caches of several sizes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.models.domains import DomainCaches
from prefixcache.cache.models.trace import Served, Trace
from prefixcache.dataset.request_traces import read_request_trace, with_unnamed_blocks
from prefixcache.errors import InputError
from prefixcache.schemas.versions import VERSIONS
from prefixcache.simulation.engines import LRU, STORING_OUTPUTS, TRACE_ENGINES, Engine
from prefixcache.simulation.sizes import as_given, named_as_flags, ratio
from prefixcache.simulation.sweep import sweep

Routes = NDArray[np.int32]
TRACE_ROUTES = ("round_robin", "random")


def simulate_trace(
    path: Path,
    *,
    block_size: int,
    num_blocks: Sequence[int | None],
    engine: str = LRU,
    count_partial: bool = False,
    domains: int = 1,
    routing: str = "round_robin",
    seed: int = 0,
    with_sweep: bool = False,
) -> dict[str, Any]:
    """Hits of a trace's requests, one at a time in order of time.

    Args:
        path: see :mod:`prefixcache.dataset.request_traces`.
        num_blocks: blocks of each domain's cache, one result each; None: unbounded.
        count_partial: whether last blocks that are not full count; engines that cache full blocks only refuse it.
        routing: ``round_robin`` or ``random`` (by ``seed``).
        with_sweep: add hits against capacity.

    Raises:
        InputError: a file, size, engine or route that is none; a request larger than an engine's cache.
    """
    chosen = Engine.named(engine, known=TRACE_ENGINES)
    if count_partial and engine in STORING_OUTPUTS:
        raise InputError(
            f"{engine} caches complete blocks only",
            field="--count-partial",
            remedy="leave it out, or use --engine lru.",
        )
    for size in num_blocks:
        chosen.check_size(size, with_sweep)
    read = read_request_trace(path, block_size, partial=count_partial, outputs=engine in STORING_OUTPUTS)
    trace = read.trace.chained() if chosen.chains_itself else read.trace
    if engine in STORING_OUTPUTS:
        trace = with_unnamed_blocks(trace)
    routes = _routes(len(trace), domains, routing, seed)
    report: dict[str, Any] = {
        "schema_version": VERSIONS["trace_simulation"],
        "engine": engine,
        "block_size": block_size,
        "count_partial": count_partial,
        "domains": domains,
        "routing": routing,
        "results": [_result(chosen, trace, len(read.trace.blocks), size, routes, domains) for size in num_blocks],
        "warnings": list(read.warnings),
    }
    if with_sweep:
        report["sweep"] = sweep(chosen, [trace.take(np.flatnonzero(routes == home)) for home in range(domains)])
    return report


def _routes(count: int, domains: int, policy: str, seed: int) -> Routes:
    from prefixcache.workload.routing import route

    if policy not in TRACE_ROUTES:
        raise InputError(
            f"{policy!r} cannot be used with a trace, whose requests have no groups",
            field="--routing",
            remedy=f"write one of {', '.join(TRACE_ROUTES)}.",
        )
    numbers = np.arange(count, dtype=np.int64)
    none = np.zeros(count, dtype=np.int32)
    return route(none, np.ones(count, dtype=np.int64), numbers, policy=policy, domains=domains, seed=seed)


def _result(
    engine: Engine, trace: Trace, given: int, blocks: int | None, routes: Routes, domains: int
) -> dict[str, Any]:
    """``given``: blocks with an id in the trace."""
    with named_as_flags():
        served = DomainCaches(lambda: engine.cache(blocks, trace.unit), domains).serve(trace, routes)
    found = _run_blocks(served)
    return {
        "num_blocks": as_given(blocks),
        "requests": len(trace),
        "blocks": given,
        "hit_blocks": found,
        "block_hit_ratio": ratio(found, given),
        "input_tokens": int(trace.input_tokens.sum()),
        "hit_tokens": int(served.hits.sum()),
        "token_hit_ratio": ratio(int(served.hits.sum()), int(trace.input_tokens.sum())),
    }


def _run_blocks(served: Served) -> int:
    assert served.runs is not None
    return int(served.runs.sum())
