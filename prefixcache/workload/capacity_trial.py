"""Whether a changed workload reaches its target in caches of a given size, found with few simulations.

By the planner's own rule (:func:`prefixcache.workload.capacity.nearest_plan`): the same plans are looked at, but only
as many as decide. A plan hits in no cache more than in one that never evicts, so plans that are asked for less than
what is sought need no simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.errors import InputError
from prefixcache.workload.capacity import MOST_TRIES, Sent, pool_of, totals_to_try
from prefixcache.workload.frame import Frame
from prefixcache.workload.plan import Ground, ground_of
from prefixcache.workload.prefixes import FEW_GROUPS
from prefixcache.workload.shape import Shape

Tokens = NDArray[np.int64]
BLOCKS = 24_000_000
"""Input blocks that the search for one lever may simulate, some seconds of one core: no clock, so that the same
configuration has the same suggestions everywhere."""
LEAST_SIMULATIONS = 10
LRU_COSTS = 3
"""Stack distances against a simulation."""
PER_REQUEST, PER_GROUP = 20, 20_000
"""What planning a request and a group cost beside the blocks, in blocks."""


class CutShort(Exception):
    """The budget of a search is used up."""


@dataclass
class Budget:
    """What a search may still simulate."""

    left: int = BLOCKS
    simulations: int = 0

    def spend(self, blocks: int) -> None:
        """Raises CutShort."""
        if self.simulations >= LEAST_SIMULATIONS and blocks > self.left:
            raise CutShort
        self.simulations += 1
        self.left -= blocks


@dataclass(frozen=True)
class Workload:
    """What a configuration asks for, its requests drawn."""

    config: PrefixCacheDatasetConfig
    shape: Shape
    frame: Frame

    @property
    def blocks(self) -> int:
        """Input blocks."""
        return int(self.shape.lengths.sum()) // self.config.unit

    @property
    def cost(self) -> int:
        """Of one simulation, in blocks."""
        one_by_one = min(len(self.config.prefix.group_ids()), FEW_GROUPS)
        return self.blocks + PER_REQUEST * len(self.shape.lengths) + PER_GROUP * one_by_one


@dataclass
class Trial:
    """One workload in its caches. Hits and totals are units.

    Raises:
        InputError: inputs that disagree, or a request that no cache of this size holds.
    """

    workload: Workload
    budget: Budget
    ground: Ground = field(init=False)
    sent: Sent = field(init=False)
    tried: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        config = self.workload.config
        self.ground = ground_of(config, self.workload.shape, self.workload.frame)
        pool = pool_of(config)
        assert pool is not None and self.ground.goals is not None
        self.sent = replace(self.ground.sent(config, pool), passes=(config.target_pass,))
        self.goal = self.ground.goals.total
        self.low, self.high = sum(self.ground.minimum), sum(self.ground.maximum)
        self.start = min(max(self.goal, self.low), self.high)
        self.totals = sorted({self.start, *totals_to_try(self.low, self.high)})

    @property
    def input_tokens(self) -> int:
        return int(self.workload.shape.lengths.sum())

    def hits(self, total: int) -> int:
        """Hits of the plan that an unbounded cache would hit ``total`` of.

        Raises:
            CutShort: they are not known and cannot be paid for.
        """
        if total not in self.tried:
            config, order = self.workload.config, self.ground.order
            self.budget.spend(self.workload.cost)
            prefixes = self.ground.prefixes_for(config, total)[0][order] * config.unit
            self.tried[total] = int(self.sent.hits(prefixes)[config.target_pass].sum()) // config.unit
        return self.tried[total]

    def most(self, enough: int | None = None) -> int:
        """The most that any plan hits; with ``enough``, only whether any hits as much."""
        best = 0
        for total in reversed(self.totals):
            if total <= best or (enough is not None and (best >= enough or total < enough)):
                break
            best = max(best, self.hits(total))
        return best

    def ratio(self) -> Fraction:
        """The most that can be reached."""
        return self.ratio_of(self.most())

    def ratio_as_planned(self) -> Fraction:
        """The most of the plans that the planner would try: those at the ends only where its first one is exact."""
        if self.tried.get(self.start) == self.goal:
            return self.ratio_of(max(self.goal, self.hits(self.low), self.hits(self.high)))
        return max(self.ratio(), self.seen)

    def ratio_of(self, units: int) -> Fraction:
        return Fraction(units * self.workload.config.unit, self.input_tokens)

    @property
    def seen(self) -> Fraction:
        """The most that any plan simulated so far hits."""
        return self.ratio_of(max(self.tried.values(), default=0))

    def blocks_by_lru(self) -> int:
        """Blocks per domain that a cache would need that drops what was used longest ago: near to what a pool needs."""
        from prefixcache.cache.models.stack_distance import HitCurve

        self.budget.spend(LRU_COSTS * self.workload.cost)
        config, order = self.workload.config, self.ground.order
        prefixes = self.ground.prefixes_for(config, self.high)[0][order] * config.unit
        curve = reduce(add, (HitCurve.of(trace, config.hit_drop, warm) for trace, warm in self.sent.traces(prefixes)))
        blocks = curve.smallest(min(self.goal * config.unit, curve.ideal))
        outputs = int(self.workload.shape.outputs.sum())
        return blocks * (self.input_tokens + outputs) // self.input_tokens + 1

    def reaches(self) -> bool:
        """Whether the planner calls the target reachable."""
        if self.goal > self.high or self.most(self.goal) < self.goal:
            return False
        return self.goal >= self.low or self.hits(self.low) <= self.goal

    def passes(self) -> bool:
        """Whether it also finds a plan within the tolerance."""
        if not self.reaches():
            return False
        place = next(
            (number for number, total in enumerate(self.totals) if self._near(total) or self._above(total)), None
        )
        if place is None:
            return False
        above, below = self.totals[place], self.totals[max(place - 1, 0)]
        for _ in range(MOST_TRIES):
            if self._near(above) or self._near(below):
                return True
            if above - below <= 1:
                return False
            middle = (below + above) // 2
            below, above = (below, middle) if self.hits(middle) >= self.goal else (middle, above)
        return False

    def _above(self, total: int) -> bool:
        return total >= self.goal and self.hits(total) >= self.goal

    def _near(self, total: int) -> bool:
        """Only of totals that may hit enough: no other is worth a simulation."""
        config = self.workload.config
        target = Fraction((config.target.hit_ratio if config.target is not None else None) or 0)
        tolerance = Fraction(config.validation.pass_tolerance)
        if self.ratio_of(total) < target - tolerance:
            return False
        if total not in self.tried and total < self.goal:
            return False
        return abs(self.ratio_of(self.hits(total)) - target) <= tolerance


def trial_of(workload: Workload, budget: Budget) -> Trial | None:
    """None: the workload cannot be planned at all, such as with a request larger than the cache."""
    try:
        trial = Trial(workload, budget)
        trial.hits(trial.high)
    except InputError:
        return None
    return trial
