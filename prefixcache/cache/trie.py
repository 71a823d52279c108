"""An unbounded, block-exact prefix cache over real tokens: the certificate's simulator (domain.md 5).

It knows nothing of the plan: prompts arrive one after the other, each hits the leading blocks that an earlier prompt of
its domain has stored, at most those before its last token, and then stores all its full blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
SLAB = 16  # depths looked at together: bounds the memory


def leading_hits(keys: Sequence[U64], lengths: NDArray[np.int64], unit: int) -> NDArray[np.int64]:
    """Hit tokens of each prompt, in arrival order.

    Args:
        keys: chained block keys per prompt, in arrival order (:mod:`prefixcache.cache.blocks`).
        lengths: tokens per prompt; the last token is always recomputed.
        unit: tokens per block.

    Depth by depth: a prompt hits where its key was first seen at an earlier one. Prompts that share their prefix with
    no other drop out, so the work is the number of shared blocks, not of all.
    """
    depth_hits = np.zeros(len(keys), dtype=np.int64)
    sizes = np.array([len(row) for row in keys], dtype=np.int64)
    alive = np.arange(len(keys))
    slab_start = 0
    while len(alive := alive[sizes[alive] > slab_start]):
        alive = _walk_slab(_slab(keys, alive, slab_start), sizes - slab_start, alive, depth_hits)
        slab_start += SLAB
    capped: NDArray[np.int64] = np.minimum(depth_hits, np.maximum(lengths - 1, 0) // unit)
    return capped * unit


def _slab(keys: Sequence[U64], alive: NDArray[np.int64], start: int) -> U64:
    """Keys at depths [start, start + SLAB), one row per depth; beyond a prompt's end 0."""
    rows = np.zeros((len(alive), SLAB), dtype=np.uint64)
    for row, prompt in zip(rows, alive, strict=True):
        part = keys[prompt][start : start + SLAB]
        row[: len(part)] = part
    return np.ascontiguousarray(rows.T)


def _walk_slab(
    slab: U64, sizes: NDArray[np.int64], alive: NDArray[np.int64], depth_hits: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count hits at the slab's depths; returns the prompts that still share their prefix with another."""
    places = np.arange(len(alive))
    for depth, row in enumerate(slab):
        places = places[sizes[alive[places]] > depth]
        if not len(places):
            break
        _, first, inverse, counts = np.unique(row[places], return_index=True, return_inverse=True, return_counts=True)
        depth_hits[alive[places[first[inverse] < np.arange(len(places))]]] += 1
        places = places[counts[inverse] > 1]
    return alive[places]
