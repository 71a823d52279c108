"""Hits against the capacity of a cache, and the capacity that a share of the ideal needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache, reduce
from operator import add
from typing import Any

import numpy as np

from prefixcache.cache.models.trace import Trace
from prefixcache.simulation.engines import LRU, Engine
from prefixcache.simulation.sizes import ratio

SHARES = (0.5, 0.9, 0.99)
EXACT, SIMULATED = "stack_distances", "simulated"
POINTS = 24


def sweep(engine: Engine, traces: Sequence[Trace], before: Sequence[Trace] | None = None) -> dict[str, Any]:
    """Hit tokens of all domains together against the blocks of each domain's cache.

    Least recently used blocks have the stack property: one pass gives the hits at every capacity
    (``method: stack_distances``). Other engines are simulated at capacities that grow geometrically, and the needed
    capacity is found by bisection (``method: simulated``): where hits are not monotone in capacity, which no engine
    promises, a smaller one may do too.

    Args:
        traces: requests of each domain.
        before: requests that each domain's cache has served before and that are not counted (warmup).
    """
    tokens = sum(int(trace.input_tokens.sum()) for trace in traces)
    if engine.name == LRU:
        return _report(EXACT, *_exact(engine, traces, before), tokens)
    return _report(SIMULATED, *_simulated(engine, traces, before), tokens)


Hits = Callable[[int], int]


def _exact(engine: Engine, traces: Sequence[Trace], before: Sequence[Trace] | None) -> tuple[Hits, int, int, int]:
    from prefixcache.cache.models.stack_distance import HitCurve

    earlier: Sequence[Trace | None] = before or [None] * len(traces)
    curve = reduce(add, (HitCurve.of(trace, engine.drop, first) for trace, first in zip(traces, earlier, strict=True)))
    return curve.tokens_at, curve.ideal, 1, max(curve.smallest(curve.ideal), 1)


def _simulated(engine: Engine, traces: Sequence[Trace], before: Sequence[Trace] | None) -> tuple[Hits, int, int, int]:
    def hits(blocks: int | None) -> int:
        total = 0
        for number, trace in enumerate(traces):
            model = engine.cache(blocks, trace.unit)
            if before is not None:
                model.serve(before[number])
            total += int(model.serve(trace).hits.sum())
        return total

    ideal = hits(None)
    everything = [*traces, *(before or ())]
    least = max(engine.smallest(trace) for trace in everything)
    enough = least
    remembered = cache(hits)
    while remembered(enough) < ideal and enough < (1 << 30):
        enough *= 2
    return remembered, ideal, least, enough


def _report(method: str, hits: Hits, ideal: int, least: int, enough: int, tokens: int) -> dict[str, Any]:
    """``least``, ``enough``: capacities between which hits grow to the ideal."""
    start = _first(hits, math.ceil(ideal / 100), least, enough)  # below it there is nothing to see
    sizes = np.unique(np.geomspace(start, enough, POINTS).round().astype(np.int64)).tolist()
    needed = []
    for share in SHARES:
        goal = math.ceil(Decimal(str(share)) * ideal)
        place = next(number for number, size in enumerate(sizes) if hits(size) >= goal)
        blocks = _first(hits, goal, sizes[place - 1] + 1 if place else start, sizes[place])
        needed.append({"share": share, "num_blocks": blocks, **_figures(hits(blocks), tokens)})
    return {
        "method": method,
        "ideal_hit_tokens": ideal,
        "ideal_token_hit_ratio": ratio(ideal, tokens),
        "points": [{"num_blocks": size, **_figures(hits(size), tokens)} for size in sizes],
        "needed": needed,
    }


def _figures(hits: int, tokens: int) -> dict[str, Any]:
    return {"hit_tokens": hits, "token_hit_ratio": ratio(hits, tokens)}


def _first(hits: Hits, goal: int, least: int, enough: int) -> int:
    """The first capacity from ``least`` on that reaches the goal, by bisection."""
    low, high = least, enough
    while low < high:
        middle = (low + high) // 2
        if hits(middle) >= goal:
            high = middle
        else:
            low = middle + 1
    return low
