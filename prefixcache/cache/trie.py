"""An unbounded, block-exact prefix cache over real tokens: the certificate's simulator (domain.md 5).

It knows nothing of the plan: prompts arrive one after the other, each hits the leading blocks that an earlier prompt of
its domain has stored, at most those before its last token, and then stores all its full blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.keyed import InMemory, KeyRows

U64 = NDArray[np.uint64]
Counts = NDArray[np.int64]
SLAB = 8  # depths fetched together: bounds the memory to 64 bytes a prompt


def leading_hits(keys: KeyRows | Sequence[U64], lengths: Counts, unit: int) -> Counts:
    """Hit tokens of each prompt, in arrival order.

    Args:
        keys: chained block keys per prompt, in arrival order (:mod:`prefixcache.cache.blocks`).
        lengths: tokens per prompt; the last token is always recomputed.
        unit: tokens per block.

    Depth by depth each prompt has a representative, the earliest one with the same prefix so far, and hits where its
    key is the representative's. Only prompts that leave theirs are sorted, to find out who goes on with whom. Prompts
    that share their prefix with no other drop out, so the work is the number of shared blocks, not of all.
    """
    rows = keys if not isinstance(keys, Sequence) else InMemory(keys)
    sizes = rows.sizes
    walk = _Walk(sizes)
    start = 0
    while len(walk.alive):
        slab = rows.slab(start, start + SLAB, walk.alive)
        for depth in range(SLAB):
            slab = walk.step(slab, depth, start + depth)
            if not len(walk.alive):
                break
        start += SLAB
    capped: Counts = np.minimum(walk.hits, np.maximum(lengths - 1, 0) // unit)
    return capped * unit


class _Walk:
    """Prompts that still share their prefix with another, and whose it is.

    ``alive``: their numbers, ascending. ``leader``: place in ``alive`` of each one's representative; its own where it
    is the earliest. ``hits``: leading blocks found so far, per prompt.
    """

    def __init__(self, sizes: Counts) -> None:
        self.sizes = sizes
        self.alive: Counts = np.flatnonzero(sizes > 0)
        self.leader = np.zeros(len(self.alive), dtype=np.int64)  # with no block yet all prefixes are equal
        self.hits = np.zeros(len(sizes), dtype=np.int64)

    def step(self, slab: U64, depth: int, place: int) -> U64:
        """Compare row ``depth`` of the slab, the keys at ``place``; returns the slab of those still alive."""
        long = self.sizes[self.alive] > place
        row = slab[depth]
        # A representative that ends here leads nobody any longer.
        same = long & long[self.leader] & (row == row[self.leader])
        leader = np.where(same, self.leader, -1)
        if len(left := np.flatnonzero(long & ~same)):
            _, first, inverse = np.unique(row[left], return_index=True, return_inverse=True)
            leader[left] = left[first[inverse]]
        follows = long & (leader != np.arange(len(leader)))
        self.hits[self.alive[follows]] += 1
        kept = follows.copy()
        kept[leader[follows]] = True
        if kept.all():
            self.leader = leader
            return slab
        renumbered = np.cumsum(kept) - 1
        self.alive, self.leader = self.alive[kept], renumbered[leader[kept]]
        return slab[:, kept]
