"""The cumulative rate of a profile and its inverse: the k-th arrival is where the integral of the rate reaches k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from prefixcache.load.shapes.model import Segment

Floats = NDArray[np.float64]
ROUNDING = 1e-9
"""Relative: an arrival that near to the end of a profile is its end, which belongs to it no more."""


def segment_total(segment: Segment) -> float:
    """Arrivals within a segment, not rounded; infinite for one without an end."""
    start, end, seconds = segment.start, segment.end, segment.seconds
    if seconds is None:
        return float("inf")
    if segment.curve == "exponential" and start != end:
        return (end - start) * seconds / float(np.log(end / start))
    return (start + end) / 2 * seconds


def segment_times(segment: Segment, counts: Floats) -> Floats:
    """Seconds into a segment at which its cumulative rate reaches ``counts`` (0 ... its total).

    Linear: the root of ``start t + (end - start) t^2 / (2 T) = count`` in the form that cancels nothing. Exponential,
    with ``k = ln(end / start)``: ``start T / k (exp(k t / T) - 1) = count`` solved for t.
    """
    start, end, seconds = segment.start, segment.end, segment.seconds
    if seconds is None or start == end:
        return counts / start
    if segment.curve == "exponential":
        k = np.log(end / start)
        times: Floats = seconds / k * np.log1p(k * counts / (start * seconds))
    else:
        root = np.sqrt(np.maximum(start * start + 2 * (end - start) * counts / seconds, 0.0))
        below = start + root
        times = np.divide(2 * counts, below, out=np.zeros_like(counts), where=below > 0)
    return np.minimum(times, seconds)


def invert(segments: Sequence[Segment], counts: Floats) -> Floats:
    """Seconds at which the profile's cumulative rate reaches each of ``counts``.

    Args:
        segments: one after another; only the last may be without an end.
        counts: not decreasing, from 0 on, shape (n,).

    Returns:
        float64, shape (m,), m <= n: a profile that ends takes no arrival at its end or later.
    """
    totals = np.array([segment_total(s) for s in segments])
    lasting = np.array([0.0 if s.seconds is None else s.seconds for s in segments])
    ends, begins = np.cumsum(totals), np.concatenate(([0.0], np.cumsum(lasting)[:-1]))
    counts = counts[counts < ends[-1] * (1 - ROUNDING)]
    where = np.minimum(np.searchsorted(ends, counts, side="right"), len(segments) - 1)
    before = np.concatenate(([0.0], ends[:-1]))
    times = np.empty_like(counts)
    for index, segment in enumerate(segments):
        mine = where == index
        if mine.any():
            times[mine] = begins[index] + segment_times(segment, counts[mine] - before[index])
    return np.maximum.accumulate(times) if times.size else times
