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


def simulate_cold(prefixes: Tokens, lanes: Tokens, order: Tokens) -> WatermarkResult:
    """H_i = min(P_i, C_i), then C = max(C, P_i), per lane in send order, starting empty.

    Args:
        prefixes: planned prefix P per request, tokens.
        lanes: lane id per request, small non-negative integers.
        order: request indices in send order.
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
    before[first] = 0
    requests = order[by_lane]
    result = WatermarkResult(*(np.empty_like(p) for _ in range(3)))
    result.before[requests], result.after[requests] = before, after
    result.hit[requests] = np.minimum(p, before)
    return result


def simulate_warm(prefixes: Tokens, lanes: Tokens) -> WatermarkResult:
    """Every lane starts at its longest planned prefix, so each request hits all of its own."""
    top = np.zeros(int(lanes.max()) + 1 if len(lanes) else 1, dtype=np.int64)
    np.maximum.at(top, lanes, prefixes)
    level = top[lanes]
    return WatermarkResult(before=level, hit=np.minimum(prefixes, level), after=level.copy())
