"""The certificate: hits that an unbounded block cache gives for the real token ids, next to the planned ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.blocks import chained_keys
from prefixcache.cache.trie import leading_hits

Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class KeyedPrompts:
    """Chained block keys, token counts of prompts in arrival order."""

    keys: list[NDArray[np.uint64]]
    lengths: Tokens

    @classmethod
    def of(cls, prompts: Iterable[tuple[NDArray[np.int32], int]], unit: int) -> KeyedPrompts:
        """From (token ids, cache domain) pairs; the domain separates the keys."""
        keys, lengths = [], []
        for ids, domain in prompts:
            keys.append(chained_keys(ids, unit, domain))
            lengths.append(len(ids))
        return cls(keys, np.array(lengths, dtype=np.int64))


def simulate_pass(name: str, requests: KeyedPrompts, warmup: KeyedPrompts, unit: int) -> Tokens:
    """Hit tokens per request of one pass: ``cold`` starts empty, ``hot`` after the warmup prompts."""
    if name == "cold":
        return leading_hits(requests.keys, requests.lengths, unit)
    lengths = np.concatenate([warmup.lengths, requests.lengths])
    return leading_hits([*warmup.keys, *requests.keys], lengths, unit)[len(warmup.keys) :]


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
