"""The watermark model: how far each lane's master prefix is cached when a request arrives (RFC 3.3.4, 3.3.7).

A lane is one cache domain times one prefix group. Closed form for an unbounded cache, in array operations only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class WatermarkResult:
    """Per request in generated order, tokens: watermark before, expected hit, watermark after."""

    before: Tokens
    hit: Tokens
    after: Tokens


def simulate_cold(
    prefixes: Tokens,
    lanes: Tokens,
    order: Tokens,
    *,
    domains: NDArray[np.integer] | None = None,
    head: int = 0,
    drop: int = 0,
) -> WatermarkResult:
    """H_i = max(0, min(P_i, C_i) - drop), then C = max(C, P_i), per lane in send order.

    C starts at ``head`` in a lane whose domain has had a request before, else at 0.

    Args:
        prefixes: planned prefix P per request, tokens, at least ``head``.
        lanes: lane id per request, small non-negative integers.
        order: request indices in send order.
        domains: cache domain per request; needed with a head only, default: one domain.
        head: K in tokens, the part of all prompts' common beginning that the cache can serve.
        drop: matched tokens that the engine throws away again.
    """
    p, lane = prefixes[order], lanes[order]
    by_lane = np.argsort(lane, kind="stable")
    p, lane = p[by_lane], lane[by_lane]
    # One running maximum for all lanes: each lane is lifted above everything the lanes before it can reach.
    lift = (int(p.max()) + 1 if len(p) else 1) * np.cumsum(np.diff(lane, prepend=lane[:1]) != 0)
    after = np.maximum.accumulate(p + lift) - lift
    before = np.empty_like(after)
    before[1:] = after[:-1]
    first = np.flatnonzero(np.diff(lane, prepend=lane[:1] - 1) != 0)
    requests = order[by_lane]
    before[first] = np.where(_opens(requests[first], order, domains), 0, head) if head else 0
    result = WatermarkResult(*(np.empty_like(p) for _ in range(3)))
    result.before[requests], result.after[requests] = before, after
    result.hit[requests] = np.maximum(np.minimum(p, before) - drop, 0)
    return result


def _opens(requests: Tokens, order: Tokens, domains: NDArray[np.integer] | None) -> NDArray[np.bool_]:
    """Which of these requests are the first of their domain."""
    sent = np.zeros(len(order), dtype=np.int64) if domains is None else domains[order]
    _, first = np.unique(sent, return_index=True)
    opening: NDArray[np.bool_] = np.isin(requests, order[first])
    return opening


def simulate_warm(prefixes: Tokens, lanes: Tokens, *, drop: int = 0) -> WatermarkResult:
    """Every lane starts at its longest planned prefix, so each request hits all of its own, less the drop."""
    level = _tops(prefixes, lanes)
    return WatermarkResult(before=level, hit=np.maximum(prefixes - drop, 0), after=level.copy())


def simulate_replay(lengths: Tokens, prefixes: Tokens, lanes: Tokens, *, unit: int, drop: int = 0) -> WatermarkResult:
    """The same set has been sent before: each request finds all of itself but the last token, in whole units.

    The watermarks are those of the masters, as in a warm cache; what hits beyond them is the request's own text.
    """
    level = _tops(prefixes, lanes)
    own = np.maximum(lengths - 1, 0) // unit * unit
    return WatermarkResult(before=level, hit=np.maximum(own - drop, 0), after=level.copy())


def _tops(prefixes: Tokens, lanes: Tokens) -> Tokens:
    """Longest planned prefix of each request's lane."""
    top = np.zeros(int(lanes.max()) + 1 if len(lanes) else 1, dtype=np.int64)
    np.maximum.at(top, lanes, prefixes)
    return top[lanes]
