"""Planning against a cache of a given size: which blocks a plan sends, what a pool of that size hits of them, and the
plan that comes nearest to the target.

With a bounded cache the total is no closed form of the prefixes, so plans of the unbounded planner are tried, each for
another total, and simulated block for block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.bounded import PoolSize, serve_passes
from prefixcache.cache.models.trace import Trace
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.errors import InputError
from prefixcache.workload.budget import Goals
from prefixcache.workload.shape import Shape

Tokens = NDArray[np.int64]
FIRST_TRIES, MOST_TRIES = 17, 48


def pool_of(config: PrefixCacheDatasetConfig) -> PoolSize | None:
    """The caches that a configuration plans for; None: they never evict."""
    if config.planning.num_blocks is None:
        return None
    return PoolSize(config.planning.num_blocks, config.block_size, config.hit_drop, config.routing.domains)


@dataclass(frozen=True)
class Sent:
    """What is sent whatever the prefixes are. Arrays are per request in send order; lengths in tokens.

    ``head``: tokens, whole blocks, that all requests share. ``around``: tokens of a warmup prompt beyond its prefix.
    """

    groups: Tokens
    lanes: Tokens
    domains: Tokens
    lengths: Tokens
    outputs: Tokens
    lane_group: Tokens
    lane_domain: Tokens
    head: int
    around: int
    passes: tuple[str, ...]
    target_pass: str
    pool: PoolSize

    def hits(self, prefixes: Tokens) -> dict[str, Tokens]:
        """Hit tokens per pass and request, in send order, one request at a time. ``prefixes``: tokens, in send order.

        Raises:
            InputError: the pool cannot hold one of the requests.
        """
        requests, warmup, warm_domains = self._with_warmup(prefixes)
        try:
            return serve_passes(self.passes, requests, self.domains, warmup, warm_domains, self.pool)
        except InputError as error:
            raise InputError(error.message, field="planning.num_blocks", remedy=error.remedy) from None

    def traces(self, prefixes: Tokens) -> list[tuple[Trace, Trace | None]]:
        """Per domain the requests of the target's pass, and those that warm the cache up before."""
        requests, warmup, warm_domains = self._with_warmup(prefixes)
        found: list[tuple[Trace, Trace | None]] = []
        for domain in range(self.pool.domains):
            warm = warmup.take(np.flatnonzero(warm_domains == domain)) if len(warmup) else None
            found.append((requests.take(np.flatnonzero(self.domains == domain)), warm))
        return found

    def _with_warmup(self, prefixes: Tokens) -> tuple[Trace, Trace, Tokens]:
        """The requests, the warmup prompts with the same numbering, and the domain of each of these."""
        warm, top = np.zeros(0, dtype=np.int64), np.zeros(len(self.lane_group), dtype=np.int64)
        if "hot" in self.passes:
            np.maximum.at(top, self.lanes, prefixes)
            warm = np.flatnonzero(top > 0)
        trace = self._trace(
            np.concatenate([self.lane_group[warm], self.groups]),
            np.concatenate([top[warm], prefixes]),
            np.concatenate([np.maximum(top[warm], self.head) + self.around, self.lengths]),
            np.concatenate([np.ones(len(warm), dtype=np.int64), self.outputs]),
        )
        first = len(warm)
        return trace.part(first, len(trace)), trace.part(0, first), self.lane_domain[warm]

    def _trace(self, groups: Tokens, prefixes: Tokens, lengths: Tokens, outputs: Tokens) -> Trace:
        """Blocks by structure: the head's, each master's beyond it, and every request's own, which no other has."""
        unit = self.pool.block_size
        head, shared, sizes = self.head // unit, prefixes // unit, lengths // unit
        top = np.zeros(int(groups.max(initial=0)) + 1, dtype=np.int64)
        np.maximum.at(top, groups, np.maximum(shared - head, 0))
        begin = head + np.cumsum(top) - top
        ends = np.cumsum(sizes)
        total = int(ends[-1]) if len(ends) else 0
        depth = np.arange(total) - np.repeat(ends - sizes, sizes)
        mine = depth >= np.repeat(shared, sizes)
        numbers = np.where(depth < head, depth, np.repeat(begin[groups] - head, sizes) + depth)
        numbers[mine] = head + int(top.sum()) + np.arange(int(mine.sum()))
        distinct = head + int(top.sum()) + int(mine.sum())
        return Trace(numbers.astype(np.int32), ends, lengths, outputs, unit, distinct)


@dataclass(frozen=True)
class Bounded:
    """A plan within a capacity. Arrays are per request in generated order.

    ``prefixes``: units. ``adjusted``: requests that the residual calibration moved. ``hits``: tokens per pass.
    ``goals``: with the least and most that the plans tried hit per group; None without a target, as ``found``.
    """

    prefixes: Tokens
    adjusted: int
    hits: dict[str, Tokens]
    goals: Goals | None
    found: Found | None


def plan_within(
    sent: Sent, shape: Shape, order: Tokens, goals: Goals | None, make: Callable[[int | None], tuple[Tokens, int]]
) -> Bounded:
    """The plan whose hits in caches of this size are nearest to the goal.

    Args:
        make: prefixes in units, in generated order, for a total of an unbounded cache, and how many were adjusted.

    Raises:
        InputError: a cache cannot hold one of the requests.
    """
    unit = sent.pool.block_size

    def simulated(total: int | None) -> dict[str, Tokens]:
        rows = {}
        for name, row in sent.hits(make(total)[0][order] * unit).items():
            rows[name] = np.empty_like(row)
            rows[name][order] = row
        return rows

    def of_groups(total: int) -> list[int]:
        units = simulated(total)[sent.target_pass] // unit
        return [
            int(own) for own in np.bincount(shape.groups, weights=units, minlength=len(goals.minimum if goals else []))
        ]

    if goals is None:
        return Bounded(*make(None), simulated(None), None, None)
    found = nearest_plan(
        goals.total,
        sum(goals.minimum),
        sum(goals.maximum),
        lambda total: int(simulated(total)[sent.target_pass].sum()) // unit,
    )
    within = replace(goals, minimum=of_groups(found.least), maximum=of_groups(found.most))
    return Bounded(*make(found.asked), simulated(found.asked), within, found)


@dataclass(frozen=True)
class Found:
    """The plan nearest to the goal among those tried; all in units.

    ``asked``: the total that the unbounded planner was given. ``hits``: what the bounded cache hits of that plan.
    ``least``, ``most``: totals asked for whose plans hit least and most. ``tries``: plans simulated.
    """

    asked: int
    hits: int
    least: int
    most: int
    tries: int


def nearest_plan(goal: int, low: int, high: int, hits_of: Callable[[int], int]) -> Found:
    """Search totals in [low, high] for the plan whose hits are nearest to ``goal``, ties to the smaller total.

    The plan of an unbounded cache first. Where that misses the goal, spread totals, the same whatever the goal is, then
    bisection where they pass it. The hits need not rise with the total: a cache that thrashes may hit more of a smaller
    plan. So this is the best of those tried, not of all.

    Args:
        hits_of: hits of the plan for a total.
    """
    tried: dict[int, int] = {}

    def hits(total: int) -> int:
        if total not in tried:
            tried[total] = hits_of(total)
        return tried[total]

    start = min(max(goal, low), high)
    if hits(start) != goal:
        for total in totals_to_try(low, high):
            hits(total)
        _bisect(goal, tried, hits)
    asked = min(tried, key=lambda total: (abs(tried[total] - goal), total))
    hits(low)
    hits(high)
    least, most = min(tried, key=lambda t: (tried[t], t)), max(tried, key=lambda t: (tried[t], -t))
    return Found(asked, tried[asked], least, most, len(tried))


def totals_to_try(low: int, high: int) -> list[int]:
    """Totals spread over all that there are, the same whatever the goal is."""
    totals: list[int] = np.linspace(low, high, FIRST_TRIES).astype(np.int64).tolist()
    return totals


def _bisect(goal: int, tried: dict[int, int], hits: Callable[[int], int]) -> None:
    totals = sorted(tried)
    below, above = next(((a, b) for a, b in pairwise(totals) if (tried[a] < goal) != (tried[b] < goal)), (0, 0))
    rising = below != above and tried[below] < goal
    while above - below > 1 and len(tried) < MOST_TRIES:
        middle = (below + above) // 2
        if hits(middle) == goal:
            return
        if (tried[middle] < goal) == rising:
            below = middle
        else:
            above = middle
