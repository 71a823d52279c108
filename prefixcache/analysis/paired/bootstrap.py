"""Bootstrap intervals of ratios, paired and seeded.

Means: bias-corrected and accelerated intervals (BCa; Efron 1987), the acceleration by the jackknife. Percentiles: plain
percentile intervals, since the jackknife of a percentile does not converge. A pair is drawn as a whole, so what both
members have in common (the prompt) cancels. Counts of how often each pair was drawn are used instead of copies: a
resample costs a pass over the pairs, not a sort.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Method = Literal["bca", "percentile", "block"]
RESAMPLES = 2000
CONFIDENCE = 0.95
_CELLS = 1 << 21
"""Counts held at once."""


@dataclass(frozen=True, slots=True)
class Draws:
    """How often is drawn, the share that an interval is to cover, and the generator's seed."""

    resamples: int = RESAMPLES
    confidence: float = CONFIDENCE
    seed: int = 0

    @property
    def tails(self) -> tuple[float, float]:
        return (1 - self.confidence) / 2, (1 + self.confidence) / 2


@dataclass(frozen=True, slots=True)
class Interval:
    """``low`` and ``high`` at the confidence asked for; None below two pairs, or where a ratio divides by 0."""

    low: float | None
    high: float | None
    method: Method


def ratio_intervals(baseline: Floats, candidate: Floats, percentiles: Sequence[float], draws: Draws) -> list[Interval]:
    """Intervals of baseline / candidate: of the ratio of means first, then of the ratio of each percentile.

    Args:
        baseline, candidate: (pairs,) one value each of every pair.
        percentiles: 0-100; they interpolate linearly, as ``numpy.percentile``.
        draws: how is drawn.
    """
    pairs = len(baseline)
    if pairs < 2:
        return [Interval(None, None, "bca"), *(Interval(None, None, "percentile") for _ in percentiles)]
    drawn = _resampled(baseline, candidate, percentiles, draws.resamples, np.random.default_rng(draws.seed))
    means = _bca(drawn[:, 0], baseline, candidate, draws.tails)
    return [means, *(_interval(drawn[:, n], draws.tails, "percentile") for n in range(1, drawn.shape[1]))]


def _resampled(
    baseline: Floats, candidate: Floats, percentiles: Sequence[float], resamples: int, random: np.random.Generator
) -> Floats:
    """(resamples, 1 + percentiles) ratios of every draw."""
    pairs = len(baseline)
    order = np.argsort(baseline, kind="stable"), np.argsort(candidate, kind="stable")
    ascending = baseline[order[0]], candidate[order[1]]
    found = np.empty((resamples, 1 + len(percentiles)))
    step = max(1, _CELLS // pairs)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        picks = random.integers(0, pairs, (size, pairs)) + np.arange(size)[:, None] * pairs
        counts = np.bincount(picks.ravel(), minlength=size * pairs).reshape(size, pairs)
        block = found[start : start + size]
        with np.errstate(divide="ignore", invalid="ignore"):
            block[:, 0] = (counts @ baseline) / (counts @ candidate)
            if percentiles:
                first = _percentiles(ascending[0], counts[:, order[0]], percentiles)
                block[:, 1:] = first / _percentiles(ascending[1], counts[:, order[1]], percentiles)
    return found


def _percentiles(ascending: Floats, counts: NDArray[np.int64], percentiles: Sequence[float]) -> Floats:
    """(draws, percentiles) of sorted values drawn ``counts`` times each."""
    places = (len(ascending) - 1) * np.asarray(percentiles) / 100
    below = places.astype(np.int64)
    above = np.minimum(below + 1, len(ascending) - 1)
    found = np.empty((len(counts), len(places)))
    for n, ends in enumerate(np.cumsum(counts, axis=1)):
        low = ascending[np.searchsorted(ends, below, side="right")]
        high = ascending[np.searchsorted(ends, above, side="right")]
        found[n] = low + (high - low) * (places - below)
    return found


def _bca(drawn: Floats, baseline: Floats, candidate: Floats, tails: tuple[float, float]) -> Interval:
    """The interval of the ratio of means, corrected for bias and skewness."""
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = (baseline.sum() - baseline) / (candidate.sum() - candidate)
        ratio = baseline.sum() / candidate.sum()
    if not (np.isfinite(drawn).all() and np.isfinite(left_out).all() and np.isfinite(ratio)):
        return Interval(None, None, "bca")
    if drawn.min() == drawn.max():  # all pairs have one ratio: there is nothing to correct
        return Interval(float(drawn[0]), float(drawn[0]), "bca")
    normal = NormalDist()
    below = (float((drawn < ratio).sum()) + float((drawn == ratio).sum()) / 2) / len(drawn)
    bias = normal.inv_cdf(min(max(below, 0.5 / len(drawn)), 1 - 0.5 / len(drawn)))
    apart = left_out.mean() - left_out
    spread = float((apart**2).sum())
    acceleration = float((apart**3).sum()) / (6 * spread**1.5) if spread else 0.0

    def corrected(tail: float) -> float:
        z = bias + normal.inv_cdf(tail)
        return normal.cdf(bias + z / (1 - acceleration * z))

    return _interval(drawn, (corrected(tails[0]), corrected(tails[1])), "bca")


def throughput_interval(baseline: Floats, candidate: Floats, draws: Draws) -> Interval:
    """Interval of a ratio of throughputs, candidate / baseline, by a circular block bootstrap (Politis & Romano 1992).

    Throughput is no mean over requests: the time between two completions depends on those around it. So runs of
    successive gaps are drawn, of the cube root of their number (at least 1) each, from both passes on their own.

    Args:
        baseline, candidate: (completions,) seconds between successive completions, the first since the beginning.
    """
    if min(len(baseline), len(candidate)) < 2:
        return Interval(None, None, "block")
    random = np.random.default_rng(draws.seed)
    first, second = (_gap_means(gaps, draws.resamples, random) for gaps in (baseline, candidate))
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = first / second
    return _interval(drawn, draws.tails, "block")


def _gap_means(gaps: Floats, resamples: int, random: np.random.Generator) -> Floats:
    length = max(1, round(len(gaps) ** (1 / 3)))
    around = np.concatenate([[0.0], np.cumsum(np.concatenate([gaps, gaps[: length - 1]]))])
    sums = around[length:] - around[:-length]
    blocks = -(-len(gaps) // length)
    found = np.empty(resamples)
    step = max(1, _CELLS // blocks)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        found[start : start + size] = sums[random.integers(0, len(gaps), (size, blocks))].sum(axis=1)
    means: Floats = found / (blocks * length)
    return means


def _interval(drawn: Floats, tails: tuple[float, float], method: Method) -> Interval:
    if not np.isfinite(drawn).all():
        return Interval(None, None, method)
    low, high = np.quantile(drawn, tails)
    return Interval(float(low), float(high), method)
