"""Dense numbers for 64-bit keys, in the order in which keys come first: what belongs together stays together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.models.compiled import compiled
from prefixcache.cache.models.trace import Numbers

Keys = NDArray[np.uint64]
FIRST_BITS = 12
SPREAD = np.uint64(0x9E3779B97F4A7C15)


@compiled
def _slot(key: np.uint64, slots: Numbers, known: Keys, bits: int) -> np.int64:
    """Where the key stands in the table, or the empty place where it belongs."""
    place = np.int64((key * SPREAD) >> np.uint64(64 - bits))
    while slots[place] >= 0 and known[slots[place]] != key:
        place = (place + 1) & (len(slots) - 1)
    return place


@compiled
def number_keys(keys: Keys, numbers: Numbers) -> int:
    """Fill ``numbers``, one per key; returns how many different keys there are.

    The table is open addressing with linear probing, at most half full; its size doubles when it is not enough.
    """
    bits, count = FIRST_BITS, 0
    slots = np.full(1 << bits, -1, dtype=np.int32)
    known = np.empty(1 << (bits - 1), dtype=np.uint64)
    for row in range(len(keys)):
        place = _slot(keys[row], slots, known, bits)
        if slots[place] < 0:
            if count == len(known):
                bits += 1
                slots = np.full(1 << bits, -1, dtype=np.int32)
                more = np.empty(1 << (bits - 1), dtype=np.uint64)
                more[:count] = known
                known = more
                for number in range(count):
                    slots[_slot(known[number], slots, known, bits)] = number
                place = _slot(keys[row], slots, known, bits)
            known[count] = keys[row]
            slots[place] = count
            count += 1
        numbers[row] = slots[place]
    return count
