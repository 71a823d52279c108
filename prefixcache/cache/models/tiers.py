"""Slower tiers behind a device cache: host memory, then external stores, with promotion and counters of their own.

A request hits its leading blocks in the device cache first; from there on the leading blocks that any slower tier holds
are loaded instead of computed, all but the last token. The device stores them like computed ones, so it behaves as
without tiers. Each slower tier evicts the blocks it used least recently, the tails of a request before its heads.

What the tiers hold is decided by ``write``:

- ``through``: all blocks of a request are stored in, or touched in, every tier when it is served.
- ``evicted``: a tier gets what the next faster one evicts (the first one the device's evictions), in that order.

A block that is found is touched in its tier and, with ``through``, in all faster ones: it is promoted. No engine's
tiers were measured block for block; the counters follow vLLM's (external queries are what the device did not hit).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from prefixcache.cache.models.model import CacheModel
from prefixcache.cache.models.tiers_kernel import serve_evicted, serve_through
from prefixcache.cache.models.trace import Counts, Numbers, Served, TieredServed, Trace
from prefixcache.errors import InputError

Write = Literal["through", "evicted"]


@dataclass(frozen=True)
class TierCounters:
    """The counters of a server with tiers, in tokens."""

    queries: int
    hits: int
    external_queries: int
    external_hits: int

    @classmethod
    def of(cls, trace: Trace, served: Served) -> TierCounters:
        queries, hits = int(trace.input_tokens.sum()), int(served.hits.sum())
        return cls(queries, hits, queries - hits, int(served.external_hits.sum()))

    @property
    def total_ratio(self) -> float | None:
        """Hits of all tiers over the device's queries: neither the sum nor the mean of the tiers' ratios."""
        return (self.hits + self.external_hits) / self.queries if self.queries else None


class TieredCache:
    """A device cache with slower tiers.

    Args:
        device: with ``write`` ``evicted`` one that tells what it evicts (``tell_evicted``).
        slower: blocks of each slower tier, fastest first; None: unbounded.
    """

    def __init__(self, device: CacheModel, slower: Sequence[int | None], *, write: Write = "through") -> None:
        self._device, self._slower, self._write = device, list(slower), write
        self._rings: Numbers = self._empty(0)
        self._counts: Counts = np.zeros(len(self._slower), dtype=np.int64)

    def serve(self, trace: Trace) -> TieredServed:
        """Serve these requests in order.

        Raises:
            InputError: the device does not tell what it evicts.
        """
        local = self._device.serve(trace)
        if self._rings.shape[1] < trace.distinct + 1:
            more = self._empty(trace.distinct)[:, self._rings.shape[1] :]
            self._rings = np.concatenate([self._rings, more], axis=1)
        capacities = np.array([trace.distinct if size is None else size for size in self._slower], dtype=np.int64)
        found = np.zeros((len(trace), len(self._slower)), dtype=np.int64)
        known = (trace.blocks, trace.ends, local.hits // trace.unit, trace.most_hit_blocks)
        tiers = (self._rings, self._counts, capacities, found)
        if self._write == "through":
            serve_through(*known, *tiers)
        elif local.gone is None:
            raise InputError(
                "the device cache does not tell what it evicts",
                field="device",
                remedy="make it with tell_evicted=True.",
            )
        else:
            serve_evicted(*known, local.gone, np.cumsum(local.evicted), *tiers)
        tokens = found * trace.unit
        return TieredServed(local.hits, tokens.sum(axis=1), local.evicted, local.used, local.runs, local.gone, tokens)

    def reset(self, *, external: bool = False) -> None:
        """The device is reset; slower tiers only if asked (vLLM: ``?reset_external=true``)."""
        self._device.reset()
        if external:
            self._rings = self._empty(self._rings.shape[1] - 1)
            self._counts[:] = 0

    def _empty(self, distinct: int) -> Numbers:
        rings = np.full((len(self._slower), distinct + 1, 2), -1, dtype=np.int32)
        rings[:, 0] = 0
        return rings
