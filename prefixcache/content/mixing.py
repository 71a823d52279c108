"""Keyed 64-bit hashes of whole arrays, for content choices per request (RFC 3.2.4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]


def mix(values: U64) -> U64:
    """The SplitMix64 finaliser: a bijection on 64-bit words (Steele, Lea, Flood 2014)."""
    z = np.asarray(values, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def combine(key: U64 | np.uint64, values: NDArray[np.int64] | int) -> U64:
    """Hash of (key, value): different values under one key never give the same word."""
    with np.errstate(over="ignore"):
        step = np.asarray(values).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return mix(np.asarray(key, dtype=np.uint64) ^ mix(step + np.uint64(0x9E3779B97F4A7C15)))


def pick(key: U64, bound: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """Uniform integers in [0, bound) for bounds below 2**31."""
    return ((key >> np.uint64(32)) * np.asarray(bound, dtype=np.uint64) >> np.uint64(32)).astype(np.int64)
