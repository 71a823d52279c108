"""Block keys of real token ids, chained by prefix: equal keys at a depth mean equal prefixes up to there.

A block's key is a random linear form of its ids modulo 2**64, mixed with its depth; the chain is the running sum over
depths, so a request's key at depth d depends on all its blocks up to d. Two different prefixes collide with a
probability near 2**-64 per pair.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
_STREAM = 0x626C6F636B5F6B6579  # names the stream of multipliers; any fixed number does


def chained_keys(ids: NDArray[np.int32], unit: int, salt: int = 0) -> U64:
    """Keys of the full blocks of one prompt, shape (len(ids) // unit,).

    Args:
        ids: token ids.
        unit: tokens per block.
        salt: separates caches (domains); equal prompts under different salts share no key.
    """
    form = block_forms(ids, unit)
    with np.errstate(over="ignore"):
        places = np.arange(1 + salt * (1 << 32), 1 + salt * (1 << 32) + len(form), dtype=np.uint64)
        return np.cumsum(mix(form ^ mix(places)), dtype=np.uint64)


def block_keys(ids: NDArray[np.int32], unit: int) -> U64:
    """Keys of the full blocks of one prompt by their own tokens alone, shape (len(ids) // unit,)."""
    return mix(block_forms(ids, unit))


def block_forms(ids: NDArray[np.int32], unit: int) -> U64:
    """The linear form of each full block's ids, shape (len(ids) // unit,); not mixed."""
    blocks = len(ids) // unit
    with np.errstate(over="ignore"):
        return (ids[: blocks * unit].astype(np.uint64).reshape(blocks, unit) + np.uint64(1)) @ _multipliers(unit)


def salted(keys: U64, salt: int) -> U64:
    """The keys in another cache: different salts share none."""
    return mix(keys ^ mix(np.array(salt + 1, dtype=np.uint64)))


@lru_cache(maxsize=16)
def _multipliers(unit: int) -> U64:
    return np.random.Philox(key=_STREAM).random_raw(unit) | np.uint64(1)


def mix(z: U64) -> U64:
    """The SplitMix64 finaliser, a bijection on 64-bit words (Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
