"""Caches that do not share: one copy of a model per cache domain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.models.model import CacheModel
from prefixcache.cache.models.trace import Numbers, Served, TieredServed, Trace


class DomainCaches:
    """One cache per domain, made by ``make``; routes come with the requests (:mod:`prefixcache.workload.routing`)."""

    def __init__(self, make: Callable[[], CacheModel], domains: int) -> None:
        self._caches = [make() for _ in range(domains)]

    def serve(self, trace: Trace, routes: NDArray[np.int32]) -> Served:
        """Serve requests in order, each in its domain; ``used`` is that of the request's own domain.

        Args:
            routes: domain of each request, shape (n,).
        """
        if len(self._caches) == 1:
            return self._caches[0].serve(trace)
        places = [np.flatnonzero(routes == domain) for domain in range(len(self._caches))]
        parts = [cache.serve(trace.take(own)) for cache, own in zip(self._caches, places, strict=True)]
        back = np.argsort(np.concatenate(places), kind="stable")
        hits, external, evicted, used = (
            np.concatenate([getattr(part, name) for part in parts])[back]
            for name in ("hits", "external_hits", "evicted", "used")
        )
        runs = [part.runs for part in parts if part.runs is not None]
        told = np.concatenate(runs)[back] if len(runs) == len(parts) else None
        known = (hits, external, evicted, used, told, _gone(parts, back))
        tiers = [part.tier_hits for part in parts if isinstance(part, TieredServed)]
        return TieredServed(*known, np.concatenate(tiers)[back]) if len(tiers) == len(parts) else Served(*known)

    def reset(self) -> None:
        for cache in self._caches:
            cache.reset()


def _gone(parts: list[Served], back: NDArray[np.intp]) -> Numbers | None:
    """The evicted blocks in the order of all requests."""
    lists = [part.gone for part in parts if part.gone is not None]
    if len(lists) < len(parts):
        return None
    counts = np.concatenate([part.evicted for part in parts])
    rank = np.empty_like(back)
    rank[back] = np.arange(len(back))
    order = np.argsort(np.repeat(rank, counts), kind="stable")
    gone: Numbers = np.concatenate(lists)[order]
    return gone
