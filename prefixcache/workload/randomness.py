"""Random numbers that are the same everywhere: raw 64-bit words of a counter-based generator, nothing else.

NumPy promises stable streams for its bit generators but not for the distributions on top of them, so bounded
integers and permutations are made here from the raw words (RFC 3.2.4).
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray


def digest(*parts: object) -> int:
    """A 128-bit key from parts, e.g. ``digest(seed, "lengths")``; parts are separated unambiguously."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "little")


def words(key: int, count: int) -> NDArray[np.uint64]:
    """``count`` uniform 64-bit words of the stream named ``key``."""
    return np.random.Philox(key=key).random_raw(count)


def below(bound: NDArray[np.int64] | int, raw: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Uniform integers in [0, bound) from raw words, for bound < 2**31 (bias below 2**-32).

    The high 32 bits times the bound, shifted: only integer operations.
    """
    return ((raw >> np.uint64(32)) * np.asarray(bound, dtype=np.uint64) >> np.uint64(32)).astype(np.int64)


def permutation(key: int, count: int) -> NDArray[np.int64]:
    """A uniformly random order of ``range(count)``; ties of 64-bit keys fall back to the index."""
    return np.argsort(words(key, count), kind="stable").astype(np.int64)
