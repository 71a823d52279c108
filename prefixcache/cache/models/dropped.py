"""Engines that throw away the end of what they matched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prefixcache.cache.models.model import CacheModel
from prefixcache.cache.models.trace import Served, Trace


class Dropped:
    """A cache whose hits are ``max(0, min(P, C) - drop * unit)`` (domain.md 1): the last ``drop`` blocks of a match are
    computed all the same. What is cached stays as it is in ``cache``."""

    def __init__(self, cache: CacheModel, drop: int) -> None:
        self._cache, self._drop = cache, drop

    def serve(self, trace: Trace) -> Served:
        served = self._cache.serve(trace)
        if not self._drop:
            return served
        return replace(served, hits=np.maximum(served.hits - self._drop * trace.unit, 0))

    def reset(self) -> None:
        self._cache.reset()
