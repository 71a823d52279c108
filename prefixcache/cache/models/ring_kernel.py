"""Blocks in the order of their last touch: a doubly linked ring in an array of shape (distinct + 1, 2).

Row 0 is the anchor, row b + 1 block b. Column 0 leads to the next newer block (from the anchor: the oldest), column 1
to the next older one (from the anchor: the newest); -1 in column 0: the block is not there.
"""

from __future__ import annotations

from prefixcache.cache.models.compiled import compiled
from prefixcache.cache.models.trace import Numbers


@compiled
def is_there(ring: Numbers, block: int) -> bool:
    return bool(ring[block + 1, 0] >= 0)


@compiled
def touch(ring: Numbers, block: int) -> int:
    """Make the block the newest; returns 1 if it is new, else 0."""
    row = block + 1
    newer, older = ring[row, 0], ring[row, 1]
    new = 1
    if newer >= 0:
        ring[newer, 1] = older
        ring[older, 0] = newer
        new = 0
    newest = ring[0, 1]
    ring[row, 0], ring[row, 1] = 0, newest
    ring[newest, 0] = row
    ring[0, 1] = row
    return new


@compiled
def take_oldest(ring: Numbers) -> int:
    """Remove the oldest block and return it."""
    row = ring[0, 0]
    newer = ring[row, 0]
    ring[0, 0] = newer
    ring[newer, 1] = 0
    ring[row, 0] = -1
    return int(row - 1)
