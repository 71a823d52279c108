"""The certificate: hits that an unbounded block cache gives for the real token ids, next to the planned ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.matching.scattered import scattered_hits
from prefixcache.cache.matching.semantics import CHAINED, Matching
from prefixcache.cache.trie import leading_hits

Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class KeyedPrompts:
    """Keys and token counts of prompts in arrival order.

    ``keys``: of each prompt's pieces, as the cache's matching semantics name them. ``ends``: token counts at which the
    pieces end; None where they are leading blocks (``chained_prefix``).
    """

    keys: list[NDArray[np.uint64]]
    lengths: Tokens
    ends: list[Tokens] | None = None

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
        return cls(keys, np.array(lengths, dtype=np.int64), None if matching.chained else ends)


def simulate_pass(name: str, requests: KeyedPrompts, warmup: KeyedPrompts, unit: int, drop: int = 0) -> Tokens:
    """Hit tokens per request of one pass.

    ``cold`` starts empty, ``hot`` after the warmup prompts, ``replay`` after the requests themselves.

    Args:
        drop: matched units that the engine throws away again (EAGLE and MTP drop the last one).
    """
    earlier = {"cold": KeyedPrompts([], requests.lengths[:0]), "hot": warmup, "replay": requests}[name]
    lengths = np.concatenate([earlier.lengths, requests.lengths])
    keys = [*earlier.keys, *requests.keys]
    if requests.ends is None:
        matched = leading_hits(keys, lengths, unit)[len(earlier.keys) :]
    else:
        matched = scattered_hits(keys, [*(earlier.ends or []), *requests.ends], lengths)[len(earlier.keys) :]
    hits: Tokens = np.maximum(matched - drop * unit, 0)
    return hits


def duplicate_branches(requests: KeyedPrompts, warmup: KeyedPrompts, prefixes: Tokens, unit: int) -> list[int]:
    """Requests whose first non-shared block another prompt of the domain also has behind the same prefix.

    Args:
        prefixes: planned prefix per request, then per warmup prompt, tokens.
    """
    keys = [*requests.keys, *warmup.keys]
    depth = prefixes // unit
    own = [(row[d], i) for i, (row, d) in enumerate(zip(keys, depth.tolist(), strict=True)) if len(row) > d]
    if not own:
        return []
    values = np.array([key for key, _ in own], dtype=np.uint64)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return [i for (_, i), many in zip(own, counts[inverse] > 1, strict=True) if many and i < len(requests.keys)]
