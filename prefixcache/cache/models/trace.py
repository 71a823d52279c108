"""A trace: requests in arrival order as numbers of their blocks, the form that all cache models take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.blocks import block_forms, chain_of_forms

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
        tokens: tokens of each entry of ``blocks`` where they differ (content-defined chunks); None: ``unit`` each.
    """

    blocks: Numbers
    ends: Counts
    input_tokens: Counts
    output_tokens: Counts
    unit: int
    distinct: int
    tokens: Counts | None = None

    @classmethod
    def of_keys(
        cls, keys: NDArray[np.uint64], ends: Counts, input_tokens: Counts, output_tokens: Counts, unit: int
    ) -> Trace:
        """From chained block keys (:mod:`prefixcache.cache.blocks`), numbered in the order of the keys' values."""
        distinct, numbers = np.unique(keys, return_inverse=True)
        return cls(numbers.astype(np.int32), ends, input_tokens, output_tokens, unit, len(distinct))

    @classmethod
    def of_new_keys(
        cls, keys: NDArray[np.uint64], ends: Counts, input_tokens: Counts, output_tokens: Counts, unit: int
    ) -> Trace:
        """As :meth:`of_keys`, numbered in the order in which keys come first: quicker, and what belongs together lies
        together in a model's memory."""
        from prefixcache.cache.models.numbering_kernel import number_keys  # loads the compiler

        numbers = np.empty(len(keys), dtype=np.int32)
        distinct = number_keys(np.ascontiguousarray(keys), numbers)
        return cls(numbers, ends, input_tokens, output_tokens, unit, distinct)

    def __len__(self) -> int:
        return len(self.ends)

    def chained(self) -> Trace:
        """The same requests with blocks numbered by their chains: equal ids behind different parents become different.

        What engines that hash by parents need of ids that others gave to blocks.
        """
        keys = chain_of_forms(block_forms(self.blocks, 1), self.sizes, np.zeros(len(self), dtype=np.int64))
        return Trace.of_new_keys(keys, self.ends, self.input_tokens, self.output_tokens, self.unit)

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

    def before(self, later: Trace) -> Trace:
        """These requests, then those of ``later``, which shares their numbering."""
        both = self.tokens is not None and later.tokens is not None
        return Trace(
            np.concatenate([self.blocks, later.blocks]),
            np.concatenate([self.ends, later.ends + len(self.blocks)]),
            np.concatenate([self.input_tokens, later.input_tokens]),
            np.concatenate([self.output_tokens, later.output_tokens]),
            self.unit,
            max(self.distinct, later.distinct),
            np.concatenate([self.tokens, later.tokens]) if both else None,
        )

    def part(self, begin: int, end: int) -> Trace:
        """Requests [begin, end), without a copy."""
        first = int(self.ends[begin - 1]) if begin else 0
        last = int(self.ends[end - 1]) if end else 0
        blocks, lengths = slice(first, last), slice(begin, end)
        return Trace(
            self.blocks[blocks],
            self.ends[lengths] - first,
            self.input_tokens[lengths],
            self.output_tokens[lengths],
            self.unit,
            self.distinct,
            None if self.tokens is None else self.tokens[blocks],
        )

    def take(self, requests: Counts) -> Trace:
        """These requests in the order given; block numbers stay as they are."""
        sizes, starts = self.sizes[requests], self.starts[requests]
        ends = np.cumsum(sizes)
        at = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes) + np.repeat(starts, sizes)
        lengths = self.input_tokens[requests], self.output_tokens[requests]
        tokens = None if self.tokens is None else self.tokens[at]
        return Trace(self.blocks[at], ends, *lengths, self.unit, self.distinct, tokens)


@dataclass(frozen=True)
class Served:
    """What a cache did with a trace, one row a request.

    Attributes:
        hits: hit tokens of the device cache, after the engine's last-token rule, shape (n,).
        external_hits: hit tokens of slower tiers, beyond ``hits``, shape (n,); zeros where there is one tier.
        evicted: blocks that lost their content while the request was served, shape (n,).
        used: blocks that hold content a later request could hit, after the request, shape (n,).
        runs: leading blocks found in the device cache, before the last-token rule and drops, shape (n,); None where
            the model does not tell.
        gone: numbers of the evicted blocks in order, ``evicted`` of each request, -1 for blocks of generated tokens;
            None unless the model was asked for them.
    """

    hits: Counts
    external_hits: Counts
    evicted: Counts
    used: Counts
    runs: Counts | None = None
    gone: Numbers | None = None


@dataclass(frozen=True)
class TieredServed(Served):
    """``tier_hits``: hit tokens of each slower tier, fastest first, shape (n, tiers); they sum to ``external_hits``."""

    tier_hits: NDArray[np.int64] = None  # type: ignore[assignment]  # follows fields with defaults
