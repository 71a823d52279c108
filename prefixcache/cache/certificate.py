"""The certificate: hits that an unbounded block cache gives for the real token ids, next to the planned ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.keyed import InMemory, KeyRows, OneAfterAnother
from prefixcache.cache.matching.scattered import Pieces, scattered_hits
from prefixcache.cache.matching.semantics import CHAINED, Matching
from prefixcache.cache.trie import leading_hits

Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class KeyedPrompts:
    """Keys and token counts of prompts in arrival order.

    ``rows``: chained keys of their leading blocks; None where pieces are found anywhere. ``parts``: those pieces, part
    by part; the prompts are numbered from 0.
    """

    lengths: Tokens
    rows: KeyRows | None = None
    parts: Sequence[Pieces] = ()

    @classmethod
    def of(
        cls, prompts: Iterable[tuple[NDArray[np.int32], int]], unit: int, matching: Matching | None = None
    ) -> KeyedPrompts:
        """From (token ids, cache domain) pairs; the domain separates the keys. Default: chained blocks of ``unit``."""
        matching = matching or Matching(CHAINED, unit)
        keys, ends, lengths = [], [], []
        for ids, domain in prompts:
            own, stops = matching.stored(ids, domain)
            keys.append(own)
            ends.append(stops)
            lengths.append(len(ids))
        counts = np.array(lengths, dtype=np.int64)
        if matching.chained:
            return cls(counts, InMemory(keys))
        sizes = np.array([len(own) for own in keys], dtype=np.int64)
        flat = np.concatenate([np.zeros(0, dtype=np.uint64), *keys])
        stops = np.concatenate([np.zeros(0, dtype=np.int64), *ends])
        return cls(counts, None, [Pieces.of(flat, sizes, stops, counts, np.arange(len(counts)))])

    def __len__(self) -> int:
        return len(self.lengths)

    def reordered(self, order: Tokens) -> KeyedPrompts:
        """The same prompts arriving in another order; ``order``: old numbers in the new order. In memory only."""
        if self.rows is not None:
            assert isinstance(self.rows, InMemory)
            return KeyedPrompts(self.lengths[order], InMemory([self.rows.rows[row] for row in order.tolist()]))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        [part] = self.parts
        prompts = rank[part.prompts]
        at = np.lexsort((prompts, part.keys))
        return KeyedPrompts(self.lengths[order], None, [Pieces(part.keys[at], prompts[at], part.tokens[at])])


def simulate_pass(name: str, requests: KeyedPrompts, warmup: KeyedPrompts, unit: int, drop: int = 0) -> Tokens:
    """Hit tokens per request of one pass.

    ``cold`` starts empty, ``hot`` after the warmup prompts, ``replay`` after the requests themselves.

    Args:
        drop: matched units that the engine throws away again (EAGLE and MTP drop the last one).
    """
    earlier = {"cold": None, "hot": warmup, "replay": requests}[name]
    matched = _leading(requests, earlier, unit) if requests.rows is not None else _scattered(requests, earlier)
    hits: Tokens = np.maximum(matched - drop * unit, 0)
    return hits


def _leading(requests: KeyedPrompts, earlier: KeyedPrompts | None, unit: int) -> Tokens:
    assert requests.rows is not None
    if earlier is None or earlier.rows is None or not len(earlier):
        return leading_hits(requests.rows, requests.lengths, unit)
    rows = OneAfterAnother([earlier.rows, requests.rows])
    return leading_hits(rows, np.concatenate([earlier.lengths, requests.lengths]), unit)[len(earlier) :]


def _scattered(requests: KeyedPrompts, earlier: KeyedPrompts | None) -> Tokens:
    before = [] if earlier is None else [_arriving_before(part, len(earlier)) for part in earlier.parts]
    return scattered_hits([*before, *requests.parts], len(requests))


def _arriving_before(part: Pieces, count: int) -> Pieces:
    return Pieces(part.keys, np.asarray(part.prompts) - count, part.tokens)
