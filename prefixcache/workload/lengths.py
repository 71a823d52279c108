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
_RESOLUTION = 1 << 53


def draw_lengths(
    config: AnyLength,
    count: int | None,
    seed: int,
    *,
    field: str = "input_length",
    group: tuple[int, str] | None = None,
    shortest: int = 1,
) -> Lengths:
    """Token lengths in generated order, shape (count,).

    Args:
        config: the length model.
        count: number of requests; None takes an explicit list's own length.
        seed: the global seed; input and output lengths use separate streams of it.
        field: ``input_length`` or ``output_length``, for the stream and for errors.
        group: (place in the configuration, id) of the group whose own model this is; it has a stream of its own.
        shortest: no draw falls below (head + tail + 1); laws are conditioned on it, rows of files below it left out.

    Raises:
        InputError: an explicit list of another length, a file without usable values, a law below ``shortest``.
    """
    place = field if group is None else f"prefix.groups[{group[0]}].{field}"
    if isinstance(config, ExplicitLength):
        return _explicit(config, count, field, place)
    if count is None:
        raise InputError("is missing", field="request_count", remedy="write how many requests the dataset has.")
    if not count:
        return np.zeros(0, dtype=np.int64)
    key = digest(seed, "lengths", field) if group is None else digest(seed, "lengths", field, group[1])
    if isinstance(config, FixedLength):
        return np.full(count, config.value, dtype=np.int64)
    if isinstance(config, HistogramLength):
        return _histogram(config, count, key, place, shortest)
    if isinstance(config, EmpiricalLength):
        return _empirical(config, count, key, field, place, shortest)
    if config.max < shortest:
        raise InputError(
            f"no request may be shorter than {shortest} tokens (head, tail and one of its own), max is {config.max}",
            field=f"{place}.max",
            remedy=f"raise it to {shortest} at least.",
            stage="plan_lengths",
        )
    low = max(config.min, shortest)
    if isinstance(config, UniformLength):
        return low + below(config.max - low + 1, words(key, count))
    normal = isinstance(config, TruncatedNormalLength)
    low, mass = _truncated_normal(config, low) if normal else _lognormal(config, low)  # type: ignore[arg-type]
    return low + _invert(mass, words(key, count))


def _explicit(config: ExplicitLength, count: int | None, field: str, place: str) -> Lengths:
    if config.file is not None:
        values = read_lengths(config.file, config.column or field, field=place)
    else:
        values = np.asarray(config.values, dtype=np.int64)
    if count is not None and len(values) != count:
        raise InputError(
            f"{len(values)} explicit lengths, but "
            + (f"request_count is {count}" if place == field else f"the group has {count} requests"),
            field=f"{place}.values" if config.file is None else f"{place}.file",
            remedy="leave out request_count or give one length per request."
            if place == field
            else "give one length per request of the group.",
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


def _truncated_normal(config: TruncatedNormalLength, least: int) -> tuple[int, NDArray[np.float64]]:
    mean, std = float(config.mean), float(config.std)
    reach = 38 * std + 1  # beyond, the mass is 0 beside that of the length nearest to the mean
    low, high = max(least, int(mean - reach)), min(config.max, int(mean + reach) + 1)
    high = max(low, high)
    z = (np.arange(low, high + 1, dtype=np.float64) - mean) / std
    return low, _density(z)


def _density(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp(-z**2 / 2), scaled so that the largest is 1: a narrow law between two integers keeps its mass."""
    exponent = -0.5 * z * z
    return portable.exp(exponent - exponent.max())


def _lognormal(config: LogNormalLength, least: int) -> tuple[int, NDArray[np.float64]]:
    values = np.arange(least, config.max + 1, dtype=np.float64)
    z = (portable.log(values) - portable.log(np.array([float(config.median)]))) / float(config.sigma)
    return least, _density(z) / values


def _histogram(config: HistogramLength, count: int, key: int, place: str, shortest: int) -> Lengths:
    """A bin by weight, then a uniform length inside [lo, hi); the last bin is closed."""
    lows = np.array([max(item.range[0], shortest) for item in config.bins], dtype=np.int64)
    highs = np.array([item.range[1] for item in config.bins], dtype=np.int64)
    highs[-1] += 1
    weights = [
        item.weight if high > low else Decimal(0) for item, low, high in zip(config.bins, lows, highs, strict=True)
    ]
    if not any(weights):
        raise InputError(
            f"no bin holds a length of at least {shortest}",
            field=f"{place}.bins",
            remedy="raise the bins' ranges.",
        )
    chosen = _invert(np.array([float(weight) for weight in weights]), words(key, count))
    return lows[chosen] + below((highs - lows)[chosen], words(digest(key, "inside"), count))


def _empirical(config: EmpiricalLength, count: int, key: int, field: str, place: str, shortest: int) -> Lengths:
    observed = read_lengths(config.file, config.column or field, field=place)
    usable = observed[observed >= shortest]
    if config.replacement:
        if not len(usable):
            raise InputError("no usable length in the file", field=f"{place}.file", remedy="name another column.")
        return usable[below(len(usable), words(key, count))]
    if len(usable) < count:
        raise InputError(
            f"the file has {len(usable)} usable lengths, {count} are needed without replacement",
            field=f"{place}.replacement",
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
