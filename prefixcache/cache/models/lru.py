"""Least recently used blocks, request by request: the plain model of trace studies.

One request at a time: the leading run of cached blocks is looked up first; then all blocks of the request are touched
or inserted, the last one first, so that heads stay longest; then the least recently used go until the cache fits its
capacity. Generated tokens are not stored. A request larger than the cache leaves its heads.
"""

from __future__ import annotations

import numpy as np

from prefixcache.cache.models.arrays import grown
from prefixcache.cache.models.lru_kernel import serve_lru
from prefixcache.cache.models.trace import Numbers, Served, Trace


class RequestLru:
    """A cache of ``capacity`` blocks; None: unbounded.

    Args:
        tell_evicted: whether :attr:`Served.gone` is filled.
    """

    def __init__(self, capacity: int | None = None, *, tell_evicted: bool = False) -> None:
        self._capacity = capacity
        self._tell = tell_evicted
        # See ring_kernel.
        self._ring: Numbers = np.zeros((1, 2), dtype=np.int32)
        self._count = 0

    def serve(self, trace: Trace) -> Served:
        self._ring = grown(self._ring, trace.distinct + 1, -1)
        capacity = trace.distinct if self._capacity is None else self._capacity
        # Evictions are at most what was there and what comes in.
        gone = np.empty(self._count + len(trace.blocks) if self._tell else 0, dtype=np.int32)
        runs, evicted, used = np.empty((3, len(trace)), dtype=np.int64)
        self._count = serve_lru(
            trace.blocks, trace.ends, self._ring, self._count, capacity, runs, evicted, used, gone, self._tell
        )
        hits = np.minimum(runs, trace.most_hit_blocks) * trace.unit
        told = gone[: int(evicted.sum())].copy() if self._tell else None
        return Served(hits, np.zeros_like(hits), evicted, used, runs, told)

    def reset(self) -> None:
        self._ring[:] = -1
        self._ring[0] = 0
        self._count = 0
