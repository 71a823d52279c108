"""Hits of :class:`~prefixcache.cache.models.lru.RequestLru` at every capacity from one pass over a trace.

The blocks in the order of their last touch are a stack, and a cache of ``c`` blocks holds its top ``c`` (Mattson et
al., 1970). It stays so when whole requests are touched before anything is evicted: what is in the top ``c`` afterwards
was touched now or was in the top ``c`` before. A leading block therefore hits where the capacity is at least the
deepest place that it or a block before it in the request had when the request came.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefixcache.cache.models.stack_kernel import needed_capacities
from prefixcache.cache.models.trace import Counts, Trace


@dataclass(frozen=True)
class HitCurve:
    """Hits by capacity: entry ``c`` of both arrays is for a cache of ``c`` blocks, the last one for all larger ones.

    Attributes:
        run_blocks: leading blocks found, before the last-token rule.
        hit_tokens: hit tokens after it.
    """

    run_blocks: Counts
    hit_tokens: Counts

    @classmethod
    def of(cls, trace: Trace, drop: int = 0, before: Trace | None = None) -> HitCurve:
        """Of a trace.

        Args:
            drop: matched blocks that the engine throws away again.
            before: what the cache has served already, not counted; None: it is empty.
        """
        whole = trace if before is None else before.before(trace)
        first = len(whole) - len(trace)
        runs, hits = np.zeros((2, whole.distinct + 1), dtype=np.int64)
        needed_capacities(whole.blocks, whole.ends, whole.most_hit_blocks, first, drop, whole.distinct, runs, hits)
        return cls(np.cumsum(runs), np.cumsum(hits) * trace.unit)

    def __add__(self, other: HitCurve) -> HitCurve:
        """Two caches of one capacity each."""
        size = max(len(self.hit_tokens), len(other.hit_tokens))
        runs, hits = (
            _longer(mine, size) + _longer(theirs, size)
            for mine, theirs in ((self.run_blocks, other.run_blocks), (self.hit_tokens, other.hit_tokens))
        )
        return HitCurve(runs, hits)

    def tokens_at(self, capacity: int) -> int:
        """Hit tokens of a cache of so many blocks."""
        return int(self.hit_tokens[min(capacity, len(self.hit_tokens) - 1)])

    @property
    def ideal(self) -> int:
        """Hit tokens of an unbounded cache."""
        return int(self.hit_tokens[-1])

    def smallest(self, tokens: int) -> int:
        """The smallest capacity with at least so many hit tokens (at most :attr:`ideal`), in blocks."""
        return int(np.searchsorted(self.hit_tokens, tokens))


def _longer(counts: Counts, size: int) -> Counts:
    return np.concatenate([counts, np.full(size - len(counts), counts[-1])])
