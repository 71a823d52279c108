"""Input and output lengths: one int64 array per dataset, the same on every machine (RFC 3.3.1; domain.md 4)."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.config.lengths import (
    AnyLength,
    EmpiricalLength,
    ExplicitLength,
    FixedLength,
    HistogramLength,
    LogNormalLength,
    TruncatedNormalLength,
    UniformLength,
)
from prefixcache.errors import InputError
from prefixcache.workload import portable
from prefixcache.workload.length_files import read_lengths
from prefixcache.workload.randomness import below, digest, permutation, words

Lengths = NDArray[np.int64]
MINIMUM_INPUT = 1  # head + tail + 1, with no head and no tail
_RESOLUTION = 1 << 53


def draw_lengths(config: AnyLength, count: int | None, seed: int, *, field: str = "input_length") -> Lengths:
    """Token lengths in generated order, shape (count,).

    Args:
        config: the length model.
        count: number of requests; None takes an explicit list's own length.
        seed: the global seed; input and output lengths use separate streams of it.
        field: ``input_length`` or ``output_length``, for the stream and for errors.

    Raises:
        InputError: an explicit list of another length, an empirical file without usable values.
    """
    if isinstance(config, ExplicitLength):
        return _explicit(config, count, field)
    if count is None:
        raise InputError("is missing", field="request_count", remedy="write how many requests the dataset has.")
    key = digest(seed, "lengths", field)
    if isinstance(config, FixedLength):
        return np.full(count, config.value, dtype=np.int64)
    if isinstance(config, UniformLength):
        return config.min + below(config.max - config.min + 1, words(key, count))
    if isinstance(config, HistogramLength):
        return _histogram(config, count, key, field)
    if isinstance(config, EmpiricalLength):
        return _empirical(config, count, key, field)
    low, mass = _truncated_normal(config) if isinstance(config, TruncatedNormalLength) else _lognormal(config)
    return low + _invert(mass, words(key, count))


def _explicit(config: ExplicitLength, count: int | None, field: str) -> Lengths:
    if config.file is not None:
        values = read_lengths(config.file, config.column, field=field)
    else:
        values = np.asarray(config.values, dtype=np.int64)
    if count is not None and len(values) != count:
        raise InputError(
            f"{len(values)} explicit lengths, but request_count is {count}",
            field=f"{field}.values" if config.file is None else f"{field}.file",
            remedy="leave out request_count or give one length per request.",
            stage="plan_lengths",
        )
    return values


def _invert(mass: NDArray[np.float64], raw: NDArray[np.uint64]) -> Lengths:
    """Index drawn with probability proportional to ``mass``: inversion of the cumulated table.

    This is the distribution that rejection sampling of the untruncated law gives (nothing piles up at the ends), with
    one random word per draw. ``np.cumsum`` adds in order, so the table is the same everywhere.
    """
    cumulated = np.cumsum(mass)
    edges = np.floor(cumulated / cumulated[-1] * _RESOLUTION).astype(np.uint64)
    return np.searchsorted(edges[:-1], raw >> np.uint64(11), side="right").astype(np.int64)


def _truncated_normal(config: TruncatedNormalLength) -> tuple[int, NDArray[np.float64]]:
    mean, std = float(config.mean), float(config.std)
    reach = 38 * std + 1  # beyond, the mass is 0 beside that of the length nearest to the mean
    low, high = max(config.min, int(mean - reach)), min(config.max, int(mean + reach) + 1)
    z = (np.arange(low, high + 1, dtype=np.float64) - mean) / std
    return low, _density(z)


def _density(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp(-z**2 / 2), scaled so that the largest is 1: a narrow law between two integers keeps its mass."""
    exponent = -0.5 * z * z
    return portable.exp(exponent - exponent.max())


def _lognormal(config: LogNormalLength) -> tuple[int, NDArray[np.float64]]:
    values = np.arange(config.min, config.max + 1, dtype=np.float64)
    z = (portable.log(values) - portable.log(np.array([float(config.median)]))) / float(config.sigma)
    return config.min, _density(z) / values


def _histogram(config: HistogramLength, count: int, key: int, field: str) -> Lengths:
    """A bin by weight, then a uniform length inside [lo, hi); the last bin is closed."""
    lows = np.array([max(item.range[0], MINIMUM_INPUT) for item in config.bins], dtype=np.int64)
    highs = np.array([item.range[1] for item in config.bins], dtype=np.int64)
    highs[-1] += 1
    weights = [
        item.weight if high > low else Decimal(0) for item, low, high in zip(config.bins, lows, highs, strict=True)
    ]
    if not any(weights):
        raise InputError(
            f"no bin holds a length of at least {MINIMUM_INPUT}",
            field=f"{field}.bins",
            remedy="raise the bins' ranges.",
        )
    chosen = _invert(np.array([float(weight) for weight in weights]), words(key, count))
    return lows[chosen] + below((highs - lows)[chosen], words(digest(key, "inside"), count))


def _empirical(config: EmpiricalLength, count: int, key: int, field: str) -> Lengths:
    observed = read_lengths(config.file, config.column or field, field=field)
    usable = observed[observed >= MINIMUM_INPUT]
    if config.replacement:
        if not len(usable):
            raise InputError("no usable length in the file", field=f"{field}.file", remedy="name another column.")
        return usable[below(len(usable), words(key, count))]
    if len(usable) < count:
        raise InputError(
            f"the file has {len(usable)} usable lengths, {count} are needed without replacement",
            field=f"{field}.replacement",
            remedy="write replacement: true, or ask for fewer requests.",
        )
    return usable[permutation(key, len(usable))[:count]]


def summarize(lengths: Lengths, bins: list[tuple[int, int]] | None = None) -> dict[str, Any]:
    """RFC 3.3.1's summary: count, min, max, mean, percentiles (linear interpolation), per-bin counts."""
    if not len(lengths):
        return {"count": 0, "min": None, "max": None, "mean": None, "bins": []}
    if bins is None:
        edges = np.unique(np.linspace(lengths.min(), int(lengths.max()) + 1, 11).astype(np.int64))
        bins = [(int(a), int(b)) for a, b in pairwise(edges)]
        closed = False
    else:
        closed = True
    rows = []
    for number, (low, high) in enumerate(bins):
        top = high + 1 if closed and number == len(bins) - 1 else high
        rows.append({"range": [low, high], "count": int(((lengths >= low) & (lengths < top)).sum())})
    percentiles = {f"p{q}": float(np.percentile(lengths, q)) for q in (50, 90, 95, 99)}
    total = int(lengths.sum())
    return {
        "count": len(lengths),
        "min": int(lengths.min()),
        "max": int(lengths.max()),
        "mean": total / len(lengths),
        **percentiles,
        "total": total,
        "bins": rows,
    }
