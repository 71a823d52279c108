"""Hits of a cache that finds equal pieces wherever they stand: independent blocks and content-defined chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from prefixcache.files import forget_pages

U64 = NDArray[np.uint64]
Tokens = NDArray[np.int64]
MEMORY_PIECES = 1 << 20


@dataclass(frozen=True)
class Pieces:
    """Pieces of a shard's prompts, sorted by key and then prompt.

    ``prompts``: number in arrival order; below 0 for prompts that arrive before the first counted one. ``tokens``: what
    a hit is worth: the piece's length, 0 where it holds its prompt's last token, which is always computed.
    """

    keys: U64
    prompts: Tokens
    tokens: Tokens

    @classmethod
    def of(cls, keys: U64, sizes: Tokens, ends: Tokens, lengths: Tokens, prompts: Tokens) -> Pieces:
        """Sort what :meth:`prefixcache.cache.matching.semantics.Matching.stored_of_many` gives.

        Args:
            keys, ends: of all pieces. sizes: pieces of each prompt. lengths: its tokens. prompts: its number.
        """
        starts = np.zeros_like(ends)
        starts[1:] = ends[:-1]
        starts[(np.cumsum(sizes) - sizes)[sizes > 0]] = 0
        tokens = np.where(ends < np.repeat(lengths, sizes), ends - starts, 0)
        by_key = np.argsort(keys, kind="stable")
        return cls(keys[by_key], np.repeat(prompts, sizes)[by_key], tokens[by_key])

    def between(self, low: int, high: int) -> tuple[U64, Tokens, Tokens]:
        begin = int(np.searchsorted(self.keys, np.uint64(low)))
        end = len(self.keys) if high >> 64 else int(np.searchsorted(self.keys, np.uint64(high)))
        return tuple(np.asarray(part[begin:end]) for part in (self.keys, self.prompts, self.tokens))  # type: ignore[return-value]


def scattered_hits(parts: Sequence[Pieces], count: int, memory_pieces: int = MEMORY_PIECES) -> Tokens:
    """Hit tokens of prompts 0 to ``count - 1`` in an unbounded cache.

    Each prompt looks up all its pieces first, hits those that an earlier prompt has stored, wherever they stood, and
    then stores its own.

    Args:
        parts: pieces of all prompts, parts in arrival order.
        memory_pieces: about how many are looked at together; the keys are hashes, so equal ranges of them fill evenly.
    """
    hits = np.zeros(count, dtype=np.int64)
    total = sum(len(part.keys) for part in parts)
    ranges = max(1, -(-total // memory_pieces))
    bounds = [(number << 64) // ranges for number in range(ranges + 1)]
    for low, high in pairwise(bounds):
        slices = [part.between(low, high) for part in parts]
        keys = np.concatenate([np.zeros(0, dtype=np.uint64), *(own for own, _, _ in slices)])
        if not len(keys):
            continue
        order = np.argsort(keys, kind="stable")  # within a key the prompts stay in arrival order
        keys = keys[order]
        prompts = np.concatenate([own for _, own, _ in slices])[order]
        tokens = np.concatenate([own for _, _, own in slices])[order]
        begins = np.concatenate(([True], keys[1:] != keys[:-1]))
        first = np.repeat(prompts[begins], np.diff(np.append(np.flatnonzero(begins), len(keys))))
        hit = (first < prompts) & (prompts >= 0)
        hits += np.bincount(prompts[hit], weights=tokens[hit], minlength=count).astype(np.int64)
        for part in parts:
            for array in (part.keys, part.prompts, part.tokens):
                forget_pages(array)
    return hits
