"""A cache's matching semantics: into which pieces a prompt falls, and by what key each piece is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.blocks import block_keys, chained_keys, salted
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

    def stored(self, ids: NDArray[np.int32], domain: int) -> tuple[U64, Ends]:
        """As :meth:`pieces`, for one cache domain: equal pieces in two domains have two keys."""
        if self.chained:
            keys = chained_keys(ids, self.unit, domain)
            return keys, np.arange(1, len(keys) + 1, dtype=np.int64) * self.unit
        keys, ends = self.pieces(ids)
        return salted(keys, domain), ends
