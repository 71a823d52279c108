"""A cache's matching semantics: into which pieces a prompt falls, and by what key each piece is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.blocks import (
    block_forms_of_many,
    block_keys,
    chained_keys,
    chained_keys_of_many,
    mix,
    salted,
)
from prefixcache.cache.matching.chunker import Chunker
from prefixcache.config.collisions import chunk_lengths

U64 = NDArray[np.uint64]
Ends = NDArray[np.int64]
CHAINED, INDEPENDENT, CHUNKS = "chained_prefix", "independent_block", "content_defined_chunk"


@dataclass(frozen=True)
class Matching:
    """``unit``: tokens per block. ``chunker``: only with ``content_defined_chunk``."""

    semantics: str
    unit: int
    chunker: Chunker | None = None

    @classmethod
    def of(cls, rules: Mapping[str, Any], unit: int) -> Matching:
        """From the keys of ``suffix.collision_detection``, of a configuration or a manifest."""
        semantics = str(rules.get("cache_match_semantics") or CHAINED)
        if semantics != CHUNKS:
            return cls(semantics, unit)
        lengths = chunk_lengths(rules.get("chunk"), unit)
        return cls(semantics, unit, Chunker(lengths.min, lengths.mean, lengths.max, lengths.window))

    @property
    def chained(self) -> bool:
        return self.semantics == CHAINED

    def pieces(self, ids: NDArray[np.int32]) -> tuple[U64, Ends]:
        """Keys of the full blocks or chunks of one prompt and the token counts at which they end.

        Chained keys depend on all tokens before, the others on the piece alone.
        """
        if self.chunker is not None:
            ends = self.chunker.ends(ids)
            return self.chunker.keys(ids, ends), ends
        keys = chained_keys(ids, self.unit) if self.chained else block_keys(ids, self.unit)
        return keys, np.arange(1, len(keys) + 1, dtype=np.int64) * self.unit

    def pieces_of_many(self, ids: NDArray[np.int32], ends: Ends) -> tuple[U64, Ends, Ends]:
        """:meth:`pieces` of many prompts, one after the other: keys, pieces per prompt, token counts at their ends.

        Args:
            ids: all token ids. ends: where each prompt ends in them.
        """
        if self.chained:
            return self.stored_of_many(ids, ends, np.zeros(len(ends), dtype=np.int64))
        if self.chunker is None:
            forms, blocks = block_forms_of_many(ids, ends, self.unit)
            return mix(forms), blocks, self._block_ends(blocks)
        found = [self.pieces(part) for part in np.split(ids, ends[:-1])] if len(ends) else []
        keys = [np.zeros(0, dtype=np.uint64), *(own for own, _ in found)]
        stops = [np.zeros(0, dtype=np.int64), *(stop for _, stop in found)]
        return np.concatenate(keys), np.array([len(own) for own, _ in found], dtype=np.int64), np.concatenate(stops)

    def stored_of_many(self, ids: NDArray[np.int32], ends: Ends, domains: Ends) -> tuple[U64, Ends, Ends]:
        """:meth:`stored` of many prompts, as :meth:`pieces_of_many`; ``domains``: one per prompt."""
        if self.chained:
            keys, blocks = chained_keys_of_many(ids, ends, self.unit, domains)
            return keys, blocks, self._block_ends(blocks)
        keys, sizes, stops = self.pieces_of_many(ids, ends)
        salts = mix(np.repeat(domains.astype(np.uint64) + np.uint64(1), sizes))
        return mix(keys ^ salts), sizes, stops

    def _block_ends(self, blocks: Ends) -> Ends:
        depth = np.arange(int(blocks.sum()), dtype=np.int64) - np.repeat(np.cumsum(blocks) - blocks, blocks)
        return (depth + 1) * self.unit

    def stored(self, ids: NDArray[np.int32], domain: int) -> tuple[U64, Ends]:
        """As :meth:`pieces`, for one cache domain: equal pieces in two domains have two keys."""
        if self.chained:
            keys = chained_keys(ids, self.unit, domain)
            return keys, np.arange(1, len(keys) + 1, dtype=np.int64) * self.unit
        keys, ends = self.pieces(ids)
        return salted(keys, domain), ends
