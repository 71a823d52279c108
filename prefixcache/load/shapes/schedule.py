"""The moments at which an open loop sends: seconds from the beginning of its clock."""

from __future__ import annotations

import hashlib

import numpy as np

from prefixcache.load.shapes.model import Open, Rated
from prefixcache.load.shapes.rates import Floats, invert
from prefixcache.load.shapes.trace import trace_offsets


def arrival_offsets(shape: Open, count: int) -> Floats:
    """When requests 0 ... count - 1 are sent. The first goes at once, that is where the rate begins to be above 0.

    Returns:
        float64 seconds, not decreasing, shape (m,), m <= count: fewer where the shape ends before the requests do.

    Raises:
        InputError: a trace that cannot be read.
    """
    if isinstance(shape, Rated):
        return invert(shape.segments, unit_arrivals(count, shape.burstiness, shape.seed))
    return trace_offsets(shape)[:count]


def unit_arrivals(count: int, burstiness: float | None, seed: int) -> Floats:
    """Arrivals of a renewal process with one arrival per second on average, from 0 on, shape (count,).

    The gaps are gamma distributed with shape ``burstiness`` and mean 1 (variance 1 / burstiness), all 1 without it. A
    rate that changes runs through the same arrivals at another speed, so equal seeds make runs at different rates
    comparable, and a longer run begins like a shorter one.
    """
    if burstiness is None:
        return np.arange(count, dtype=np.float64)
    gaps = generator(seed).gamma(burstiness, 1 / burstiness, max(count - 1, 0))
    return np.concatenate(([0.0], np.cumsum(gaps)))[:count]


def generator(seed: int) -> np.random.Generator:
    """Random numbers of a seed, the same on every machine."""
    digest = hashlib.sha256(f"prefixcache load {seed}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
