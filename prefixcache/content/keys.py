"""Content seeds (RFC 3.2.4): hash of global seed, dataset, target ratio, group, request, retry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.content.mixing import combine
from prefixcache.workload.randomness import digest


@dataclass(frozen=True)
class ContentKeys:
    """64-bit keys. ``groups``: one per group, uint64 (groups,)."""

    dataset: np.uint64
    groups: NDArray[np.uint64]

    @classmethod
    def of(cls, config: PrefixCacheDatasetConfig) -> ContentKeys:
        parts = ("content", config.seed, config.dataset_id, config.target_label)
        names = config.prefix.group_ids()
        groups = np.array([_low(digest(*parts, name)) for name in names], dtype=np.uint64)
        return cls(np.uint64(_low(digest(*parts))), groups)

    def requests(
        self, groups: NDArray[np.int64], indices: NDArray[np.int64], retry: NDArray[np.int64] | int = 0
    ) -> NDArray[np.uint64]:
        """One key per request; the retry number gives the same request other content."""
        return combine(combine(self.groups[groups], indices), retry)

    def nodes(self, groups: NDArray[np.int64], prefixes: NDArray[np.int64], head: int = 0) -> NDArray[np.uint64]:
        """One key per node of the block trie; the root is the same node for all groups."""
        own = combine(self.groups[groups], prefixes)
        return np.where(prefixes <= head, self.dataset, own)


def _low(key: int) -> int:
    return key & 0xFFFFFFFFFFFFFFFF
