"""Lanes: one cache domain times one prefix group, the unit that owns a watermark; sums and maxima over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class Lanes:
    """Requests sorted by lane.

    ``lane_of``: lane per request (generated order), dense ids ordered by (group, domain). ``group`` and ``domain``: per
    lane. ``opens``: per lane, whether it holds the first request of its domain, the one that meets no head either.
    ``members``: request indices sorted by lane; ``starts``: first member of each lane.
    """

    lane_of: Tokens
    group: Tokens
    domain: Tokens
    opens: NDArray[np.bool_]
    members: Tokens
    starts: Tokens

    @classmethod
    def of(cls, groups: NDArray[np.int32], domains: NDArray[np.int32], order: Tokens | None = None) -> Lanes:
        """``order``: request indices as they are sent, default generated order; it decides which lane opens a domain"""
        width = int(domains.max(initial=0)) + 1
        present, lane_of = np.unique(groups.astype(np.int64) * width + domains, return_inverse=True)
        members = np.argsort(lane_of, kind="stable")
        starts = np.searchsorted(lane_of[members], np.arange(len(present)))
        sent = domains if order is None else domains[order]
        _, first = np.unique(sent, return_index=True)
        opens = np.zeros(len(present), dtype=np.bool_)
        opens[lane_of[first if order is None else order[first]]] = True
        return cls(lane_of.astype(np.int64), present // width, present % width, opens, members, starts)

    def of_group(self, group: int, members: Tokens) -> Lanes:
        """One group's lanes over its requests; lane and request numbers count from 0, ``members`` in their order."""
        mine = np.arange(*np.searchsorted(self.group, [group, group + 1]))  # lanes are ordered by group
        return self.slice_of(self.lane_of[members], mine)

    def slice_of(self, lane_of: Tokens, mine: Tokens) -> Lanes:
        """Some lanes that follow each other; ``lane_of``: of their requests."""
        lane_of = lane_of - mine[0]
        by_lane = np.argsort(lane_of, kind="stable")
        starts = np.searchsorted(lane_of[by_lane], np.arange(len(mine)))
        return Lanes(lane_of, self.group[mine], self.domain[mine], self.opens[mine], by_lane, starts)

    def total(self, values: Tokens) -> Tokens:
        """Sum of a per-request value per lane."""
        return np.add.reduceat(values[self.members], self.starts)

    def top(self, values: Tokens) -> Tokens:
        """Maximum of a per-request value per lane."""
        return np.maximum.reduceat(values[self.members], self.starts)


@dataclass(frozen=True)
class HitRules:
    """What a planned prefix is worth (domain.md 2). All in hit units.

    ``head``: K, shared by all requests. ``drop``: matched units that the engine throws away again. ``cold``: from a
    cold start, else every lane starts at its longest planned prefix.
    """

    head: int = 0
    drop: int = 0
    cold: bool = True

    def worth(self, prefixes: Tokens) -> Tokens:
        """Hits of a prefix that is cached in full: f(P) = max(0, P - drop)."""
        return np.maximum(prefixes - self.drop, 0)

    @property
    def head_worth(self) -> int:
        """f(K): hits of a request that meets the head alone."""
        return max(self.head - self.drop, 0)

    def hits(self, lanes: Lanes, prefixes: Tokens) -> Tokens:
        """Expected hits per lane.

        A cold lane's hits are f of all its prefixes but the longest, whatever their order: of (P, C) each request hits
        the smaller and leaves the larger as the watermark (domain.md 2, invariant 1). Where the domain has run already,
        the lane starts at K, which then is one more prefix in that bag.
        """
        total = lanes.total(self.worth(prefixes))
        if not self.cold:
            return total
        hits: Tokens = total - self.lost(lanes, prefixes)
        return hits

    def lost(self, lanes: Lanes, prefixes: Tokens) -> Tokens:
        """What a cold start costs per lane: f of its final watermark, less f(K) where the domain had run before."""
        if not self.cold:
            return np.zeros(len(lanes.group), dtype=np.int64)
        lost: Tokens = self.worth(lanes.top(prefixes)) - np.where(lanes.opens, 0, self.head_worth)
        return lost
