"""Caches that find equal pieces wherever they stand: independent blocks, content-defined chunks.

One request at a time: all its pieces are looked up first, each by itself; a piece with the prompt's last token counts
nothing, since that token is computed anyway. Then all pieces are touched or inserted, the last one first, and the least
recently used go until the cache fits its capacity. No engine's eviction was measured for this; the rule is the one of
:mod:`prefixcache.cache.models.lru`.
"""

from __future__ import annotations

import numpy as np

from prefixcache.cache.models.arrays import grown
from prefixcache.cache.models.scattered_kernel import serve_scattered
from prefixcache.cache.models.trace import Counts, Numbers, Served, Trace


class ScatteredLru:
    """Room for ``capacity`` tokens; None: unbounded. Numbers of a trace are those of the pieces' own contents."""

    def __init__(self, capacity: int | None = None) -> None:
        self._capacity = int(np.iinfo(np.int64).max) if capacity is None else capacity
        self._ring: Numbers = np.zeros((1, 2), dtype=np.int32)
        self._sizes: Counts = np.zeros(0, dtype=np.int64)
        self._state: Counts = np.zeros(2, dtype=np.int64)

    def serve(self, trace: Trace) -> Served:
        self._ring = grown(self._ring, trace.distinct + 1, -1)
        self._sizes = grown(self._sizes, trace.distinct, 0)
        tokens = np.full(len(trace.blocks), trace.unit) if trace.tokens is None else trace.tokens
        hits, evicted, used = np.empty((3, len(trace)), dtype=np.int64)
        serve_scattered(
            trace.blocks, trace.ends, tokens, _worth(trace, tokens), self._ring, self._sizes, self._state,
            self._capacity, hits, evicted, used,
        )  # fmt: skip
        return Served(hits, np.zeros_like(hits), evicted, used)

    def reset(self) -> None:
        self._ring[:] = -1
        self._ring[0] = 0
        self._state[:] = 0


def _worth(trace: Trace, tokens: Counts) -> Counts:
    """Tokens of each piece that end before the prompt's last token, else 0."""
    total = np.cumsum(tokens)
    before = np.concatenate([np.zeros(1, dtype=np.int64), total])[trace.starts]
    ends = total - np.repeat(before, trace.sizes)
    return np.where(ends < np.repeat(trace.input_tokens, trace.sizes), tokens, 0)
