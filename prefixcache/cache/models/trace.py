"""A trace: requests in arrival order as numbers of their blocks, the form that all cache models take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Numbers = NDArray[np.int32]


@dataclass(frozen=True)
class Trace:
    """Requests in arrival order.

    Attributes:
        blocks: numbers of all complete prompt blocks, one request after the other. Equal numbers mean equal blocks with
            equal chains of parents; they are dense: 0 to ``distinct`` - 1.
        ends: where each request ends in ``blocks``, shape (n,).
        input_tokens: prompt tokens per request, shape (n,); the last block may be incomplete and has no number then.
        output_tokens: generated tokens per request, shape (n,).
        unit: tokens per block.
        distinct: how many different block numbers there are.
    """

    blocks: Numbers
    ends: Counts
    input_tokens: Counts
    output_tokens: Counts
    unit: int
    distinct: int

    @classmethod
    def of_keys(
        cls, keys: NDArray[np.uint64], ends: Counts, input_tokens: Counts, output_tokens: Counts, unit: int
    ) -> Trace:
        """From chained block keys (:mod:`prefixcache.cache.blocks`), numbered in the order of the keys' values."""
        distinct, numbers = np.unique(keys, return_inverse=True)
        return cls(numbers.astype(np.int32), ends, input_tokens, output_tokens, unit, len(distinct))

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def starts(self) -> Counts:
        """Where each request begins in ``blocks``."""
        return np.concatenate([np.zeros(min(1, len(self)), dtype=np.int64), self.ends[:-1]])

    @property
    def sizes(self) -> Counts:
        """Complete blocks per request."""
        return self.ends - self.starts

    @property
    def most_hit_blocks(self) -> Counts:
        """Leading blocks that may hit: engines recompute at least the last token."""
        found: Counts = np.minimum(self.sizes, np.maximum(self.input_tokens - 1, 0) // self.unit)
        return found

    def take(self, requests: Counts) -> Trace:
        """These requests in the order given; block numbers stay as they are."""
        sizes, starts = self.sizes[requests], self.starts[requests]
        ends = np.cumsum(sizes)
        at = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes) + np.repeat(starts, sizes)
        return Trace(
            self.blocks[at], ends, self.input_tokens[requests], self.output_tokens[requests], self.unit, self.distinct
        )


@dataclass(frozen=True)
class Served:
    """What a cache did with a trace, one row a request.

    Attributes:
        hits: hit tokens of the device cache, after the engine's last-token rule, shape (n,).
        external_hits: hit tokens of slower tiers, beyond ``hits``, shape (n,); zeros where there is one tier.
        evicted: blocks that lost their content while the request was served, shape (n,).
        used: blocks that hold content a later request could hit, after the request, shape (n,).
    """

    hits: Counts
    external_hits: Counts
    evicted: Counts
    used: Counts
