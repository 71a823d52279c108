"""The loop of :class:`prefixcache.cache.models.stack_distance.HitCurve`.

Every touch has a time; a bit stands at the last touch of each block. A block's depth in the stack is the number of bits
from its own on: a Fenwick tree counts whole words of 64, and a block that was touched right after the one before it in
the request lies one deeper than that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.models.compiled import compiled
from prefixcache.cache.models.trace import Counts, Numbers

Words = NDArray[np.uint64]


@compiled
def _ones(word: np.uint64) -> np.int64:
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def _bits_before(time: int, bits: Words, tree: Numbers) -> np.int64:
    word = time >> 6
    found = _ones(bits[word] & ((np.uint64(1) << np.uint64(time & 63)) - np.uint64(1)))
    while word > 0:
        found += tree[word]
        word &= word - 1
    return found


@compiled
def _add(word: int, change: int, tree: Numbers) -> None:
    if change != 0:
        place = word + 1
        while place < len(tree):
            tree[place] += change
            place += place & -place


@compiled
def _touch(
    blocks: Numbers, start: int, end: int, last: Counts, time: int, seen: int, bits: Words, tree: Numbers
) -> int:
    """Touch the blocks, the last one first, from ``time`` on; returns how many different ones there are by now."""
    cleared, fewer = 0, 0  # changes of one word are put into the tree together
    filled, more = time >> 6, 0
    for place in range(end - 1, start - 1, -1):
        before = last[blocks[place]]
        if before >= 0:
            bits[before >> 6] &= ~(np.uint64(1) << np.uint64(before & 63))
            if before >> 6 != cleared:
                _add(cleared, fewer, tree)
                cleared, fewer = before >> 6, 0
            fewer -= 1
        else:
            seen += 1
        last[blocks[place]] = time
        bits[time >> 6] |= np.uint64(1) << np.uint64(time & 63)
        if time >> 6 != filled:
            _add(filled, more, tree)
            filled, more = time >> 6, 0
        more += 1
        time += 1
    _add(cleared, fewer, tree)
    _add(filled, more, tree)
    return seen


@compiled
def needed_capacities(
    blocks: Numbers, ends: Counts, most_hit: Counts, first: int, drop: int, distinct: int, runs: Counts, hits: Counts
) -> None:
    """Count the leading blocks of all requests by the capacity that each needs to hit.

    Args:
        first: the first request that counts.
        runs: filled with the counts of all leading blocks by needed capacity, shape (distinct + 1,).
        hits: the same of those that count as hits.
    """
    last = np.full(distinct, -1, dtype=np.int64)
    words = (len(blocks) >> 6) + 1
    bits = np.zeros(words, dtype=np.uint64)
    tree = np.zeros(words + 1, dtype=np.int32)
    seen, time, start = 0, 0, 0
    for request in range(len(ends)):
        end = ends[request]
        needed, depth, above = 0, 0, -1
        for place in range(start, end if request >= first else start):
            touched = last[blocks[place]]
            if touched < 0:
                break
            depth = depth + 1 if touched == above - 1 else int(seen - _bits_before(touched, bits, tree))
            above = touched
            needed = max(needed, depth)
            runs[needed] += 1
            if drop <= place - start < most_hit[request]:
                hits[needed] += 1
        seen = _touch(blocks, start, end, last, time, seen, bits, tree)
        time += end - start
        start = end
