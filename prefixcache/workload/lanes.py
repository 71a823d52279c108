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
    lane. ``members``: request indices sorted by lane; ``starts``: first member of each lane.
    """

    lane_of: Tokens
    group: Tokens
    domain: Tokens
    members: Tokens
    starts: Tokens

    @classmethod
    def of(cls, groups: NDArray[np.int32], domains: NDArray[np.int32]) -> Lanes:
        code = groups.astype(np.int64) * (int(domains.max(initial=0)) + 1) + domains
        present, lane_of = np.unique(code, return_inverse=True)
        members = np.argsort(lane_of, kind="stable")
        starts = np.searchsorted(lane_of[members], np.arange(len(present)))
        width = int(domains.max(initial=0)) + 1
        return cls(lane_of.astype(np.int64), present // width, present % width, members, starts)

    def total(self, values: Tokens) -> Tokens:
        """Sum of a per-request value per lane."""
        return np.add.reduceat(values[self.members], self.starts)

    def top(self, values: Tokens) -> Tokens:
        """Maximum of a per-request value per lane."""
        return np.maximum.reduceat(values[self.members], self.starts)

    def hits(self, prefixes: Tokens, *, cold: bool) -> Tokens:
        """Expected hits per lane for planned prefixes, in their unit: sum P, less max P from a cold start.

        Domain invariant 1: the order inside a lane does not change this sum.
        """
        total = self.total(prefixes)
        return total - self.top(prefixes) if cold else total
