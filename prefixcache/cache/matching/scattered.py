"""Hits of a cache that finds equal pieces wherever they stand: independent blocks and content-defined chunks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
Tokens = NDArray[np.int64]


def scattered_hits(keys: Sequence[U64], ends: Sequence[Tokens], lengths: Tokens) -> Tokens:
    """Hit tokens of each prompt, in arrival order, in an unbounded cache.

    Each prompt looks up all its pieces first, hits those that an earlier prompt has stored, wherever they stood, and
    then stores its own. A piece that holds the prompt's last token is never a hit: that token is always computed.

    Args:
        keys: keys of each prompt's pieces (:meth:`prefixcache.cache.matching.semantics.Matching.stored`).
        ends: token counts at which those pieces end.
        lengths: tokens per prompt.
    """
    counts = np.array([len(row) for row in keys], dtype=np.int64)
    if not counts.sum():
        return np.zeros(len(keys), dtype=np.int64)
    owner = np.repeat(np.arange(len(keys)), counts)
    flat = np.concatenate(ends)
    starts = np.concatenate(([0], flat[:-1]))
    starts[np.concatenate(([0], np.cumsum(counts)[:-1]))[counts > 0]] = 0
    # np.unique gives the first place of each key, and places are in arrival order.
    _, first, inverse = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
    hit = (owner[first][inverse] < owner) & (flat < lengths[owner])
    return np.bincount(owner[hit], weights=(flat - starts)[hit], minlength=len(keys)).astype(np.int64)
