"""How far a changed workload could reach: every field of a scene is a lever (RFC 3.3.6)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.workload.budget import goal_units
from prefixcache.workload.frame import Frame
from prefixcache.workload.lanes import HitRules, Lanes
from prefixcache.workload.ordering import send_order
from prefixcache.workload.routing import route_requests
from prefixcache.workload.shape import ceilings_of


@dataclass(frozen=True)
class Wish:
    """The target: one ratio, or one per group, and how far from it a plan may end and pass."""

    ratio: Fraction
    groups: list[Fraction] | None
    within: Fraction


class Reach(NamedTuple):
    """What a workload can hit at most and at least, in units, and its input tokens; per group."""

    maximum: list[int]
    minimum: list[int]
    unit: int
    input_tokens: list[int]

    @property
    def ratio(self) -> Fraction:
        return Fraction(sum(self.maximum) * self.unit, sum(self.input_tokens))

    def meets(self, wish: Wish) -> bool:
        """The same rule as the plan's: the goal is the multiple of the unit nearest to the target.

        In a small dataset that multiple may lie too far off.
        """
        rows = [(wish.ratio, sum(self.input_tokens), sum(self.minimum), sum(self.maximum))]
        if wish.groups is not None:
            rows = list(zip(wish.groups, self.input_tokens, self.minimum, self.maximum, strict=True))
        return all(self._near(wish, *row) for row in rows)

    def _near(self, wish: Wish, ratio: Fraction, tokens: int, low: int, high: int) -> bool:
        goal = goal_units(ratio, tokens, self.unit)
        return low <= goal <= high and (not tokens or abs(Fraction(goal * self.unit, tokens) - ratio) <= wish.within)


@dataclass(frozen=True)
class Scene:
    """A workload whose maximum can be computed: every field is a lever."""

    lengths: NDArray[np.int64]
    groups: NDArray[np.int32]
    unit: int
    non_shared: int
    domains: int
    cold: bool
    frame: Frame

    def maximum(self, config: PrefixCacheDatasetConfig) -> Reach:
        rules = HitRules(self.frame.head // self.unit, config.hit_drop, cold=self.cold)
        order = np.arange(len(self.lengths))
        if self.domains > 1 or rules.head:  # else it decides nothing
            within, across = config.order
            order = send_order(
                self.groups,
                self.lengths,
                np.zeros_like(self.lengths),
                within=within,
                across=across,
                preserve=config.request_order.preserve_group_dependency,
                seed=config.seed,
            )
        domains = route_requests(config, self.groups, self.lengths, order, self.domains)
        lanes = Lanes.of(self.groups, domains, order)
        ceilings = ceilings_of(self.lengths, self.unit, self.non_shared, self.frame)
        size = max(len(config.prefix.group_ids()), int(self.groups.max()) + 1)

        def per_group(values: NDArray[np.int64], index: NDArray[np.int64] | NDArray[np.int32]) -> list[int]:
            found: list[int] = np.bincount(index, weights=values, minlength=size).astype(np.int64).tolist()
            return found

        return Reach(
            per_group(rules.hits(lanes, ceilings), lanes.group),
            per_group(rules.hits(lanes, np.full_like(ceilings, rules.head)), lanes.group),
            self.unit,
            per_group(self.lengths, self.groups),
        )
