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
Counts = NDArray[np.int64]
BATCH = 1 << 16
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


def chained_keys_of_many(ids: NDArray[np.int32], ends: Counts, unit: int, salts: Counts) -> tuple[U64, Counts]:
    """:func:`chained_keys` of many prompts at once.

    Args:
        ids: all their token ids, one prompt after the other.
        ends: where each prompt ends in ``ids``. salts: one per prompt.

    Returns:
        All keys one prompt after the other, and how many each prompt has.
    """
    forms, blocks = block_forms_of_many(ids, ends, unit)
    return chain_of_forms(forms, blocks, salts), blocks


def chain_of_forms(forms: U64, blocks: Counts, salts: Counts) -> U64:
    """Chained keys from the forms of all blocks, one prompt after the other."""
    last = np.cumsum(blocks)
    first = last - blocks
    depth = np.arange(len(forms), dtype=np.int64) - np.repeat(first, blocks)
    with np.errstate(over="ignore"):
        places = np.repeat(salts.astype(np.uint64) << np.uint64(32), blocks) + (depth + 1).astype(np.uint64)
        chain = np.cumsum(mix(forms ^ mix(places)), dtype=np.uint64)
        before = np.where(first > 0, chain[np.maximum(first - 1, 0)] if len(chain) else np.uint64(0), np.uint64(0))
        found: U64 = chain - np.repeat(before, blocks)
    return found


def block_forms_of_many(ids: NDArray[np.int32], ends: Counts, unit: int) -> tuple[U64, Counts]:
    """:func:`block_forms` of many prompts, one after the other, and how many blocks each has."""
    lengths = np.diff(ends, prepend=0)
    blocks = lengths // unit
    total = int(blocks.sum())
    begin = np.repeat(ends - lengths, blocks)
    depth = np.arange(total, dtype=np.int64) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    starts = begin + depth * unit
    windows = np.lib.stride_tricks.sliding_window_view(ids, unit) if total else np.zeros((0, unit), dtype=np.int32)
    forms = np.empty(total, dtype=np.uint64)
    for at in range(0, total, BATCH):  # the blocks as 64-bit words are four times their size
        part = windows[starts[at : at + BATCH]].astype(np.uint64)
        with np.errstate(over="ignore"):
            forms[at : at + BATCH] = np.einsum("ij,j->i", part + np.uint64(1), _multipliers(unit))
    return forms, blocks


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
