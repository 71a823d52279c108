"""Content-defined chunks: cuts where a rolling hash over the last tokens says so, whatever stands before them.

A chunk ends behind token i once it has at least ``min`` tokens and the hash of tokens (i - window, i] falls into the
first of ``mean - min + 1`` equal parts of its range, or when it has ``max`` tokens (minimum, maximum and cut rule of
FastCDC, Xia et al. 2016). With ``window <= min`` the hash never looks beyond the chunk, so a chunk depends on its own
tokens only. What follows the last cut is no chunk yet: it is neither stored nor looked up.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.blocks import mix

U64 = NDArray[np.uint64]
Ends = NDArray[np.int64]
_CUTS, _NAMES = 0x63686E6B5F637574, 0x63686E6B5F6B6579  # two streams of multipliers; any fixed numbers do


@dataclass(frozen=True)
class Chunker:
    """Chunk lengths and the hash window, all in tokens."""

    min: int
    mean: int
    max: int
    window: int

    def is_cut(self, ids: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Per token of ``ids`` (any leading axes, tokens last): the hash of the window that ends there says "cut".

        The first ``window - 1`` tokens have no whole window and are False.
        """
        words = mix(np.asarray(ids).astype(np.uint64) + np.uint64(1))
        count = words.shape[-1] - self.window + 1
        found = np.zeros(words.shape, dtype=np.bool_)
        if count <= 0:
            return found
        total = np.zeros((*words.shape[:-1], count), dtype=np.uint64)
        with np.errstate(over="ignore"):
            for back, multiplier in enumerate(_multipliers(_CUTS, self.window)):
                start = self.window - 1 - back
                total += words[..., start : start + count] * multiplier
            parts = np.uint64(self.mean - self.min + 1)
            found[..., self.window - 1 :] = ((mix(total) >> np.uint64(32)) * parts >> np.uint64(32)) == 0
        return found

    def ends(self, ids: NDArray[np.int32]) -> Ends:
        """Token counts at which the chunks of a prompt end, ascending."""
        cuts = (np.flatnonzero(self.is_cut(ids)) + 1).tolist()
        found: list[int] = []
        start, at = 0, 0
        while True:
            at = bisect_left(cuts, start + self.min, at)
            end = min(cuts[at] if at < len(cuts) else start + self.max, start + self.max)
            if end > len(ids):
                return np.array(found, dtype=np.int64)
            found.append(end)
            start = end

    def keys(self, ids: NDArray[np.int32], ends: Ends) -> U64:
        """One key per chunk: a random linear form of its tokens' hashes by their place in the chunk, and its length."""
        if not len(ends):
            return np.zeros(0, dtype=np.uint64)
        starts = np.concatenate(([0], ends[:-1]))
        sizes = ends - starts
        offset = np.arange(int(ends[-1])) - np.repeat(starts, sizes)
        with np.errstate(over="ignore"):
            words = mix(ids[: int(ends[-1])].astype(np.uint64) + np.uint64(1)) * _multipliers(_NAMES, self.max)[offset]
            return mix(np.add.reduceat(words, starts) ^ mix(sizes.astype(np.uint64)))


@lru_cache(maxsize=16)
def _multipliers(stream: int, count: int) -> U64:
    return np.random.Philox(key=stream).random_raw(count) | np.uint64(1)
