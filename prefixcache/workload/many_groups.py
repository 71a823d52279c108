"""The `proportional` objective for many groups at once: the same plan as group by group, in array steps over all.

:func:`prefixcache.workload.proportional.plan_units` takes a millisecond per group however small it is. Here all groups
halve their ranges of ratios in step, so that 100,000 groups take as many steps as one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.workload.lanes import HitRules, Lanes
from prefixcache.workload.proportional import choose

Tokens = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Batch:
    """Groups that are planned together. ``lengths`` in tokens, the rest in hit units.

    ``part``: per request the number of its group among those of the batch, ascending. ``lanes``: over these requests.
    ``part_of_lane``: ascending. ``budgets``: per group.
    """

    lengths: Tokens
    ceilings: Tokens
    part: Tokens
    lanes: Lanes
    part_of_lane: Tokens
    budgets: Tokens
    unit: int
    rules: HitRules

    @classmethod
    def of(
        cls,
        lengths: Tokens,
        ceilings: Tokens,
        groups: Tokens,
        lanes: Lanes,
        budgets: Tokens,
        unit: int,
        rules: HitRules,
    ) -> Batch:
        """All groups that have requests.

        Args:
            lengths, ceilings, groups: per request, sorted by group, inside a group as sent.
            lanes: ``lane_of`` in that order.
            budgets: per group, those without requests included.
        """
        present, part = np.unique(groups, return_inverse=True)
        by_lane = np.argsort(lanes.lane_of, kind="stable")
        starts = np.searchsorted(lanes.lane_of[by_lane], np.arange(len(lanes.group)))
        own = Lanes(lanes.lane_of, lanes.group, lanes.domain, lanes.opens, by_lane, starts)
        of_lane = np.searchsorted(present, lanes.group)
        return cls(lengths, ceilings, part.reshape(-1), own, of_lane, budgets[present], unit, rules)

    @property
    def count(self) -> int:
        return len(self.budgets)

    def take(self, kept: Mask) -> Batch:
        """Some of the groups."""
        if kept.all():
            return self
        mine, lanes = kept[self.part], kept[self.part_of_lane]
        number, lane = np.cumsum(kept) - 1, np.cumsum(lanes) - 1
        lane_of = lane[self.lanes.lane_of[mine]]
        by_lane = np.argsort(lane_of, kind="stable")
        starts = np.searchsorted(lane_of[by_lane], np.arange(int(lanes.sum())))
        own = Lanes(
            lane_of, self.lanes.group[lanes], self.lanes.domain[lanes], self.lanes.opens[lanes], by_lane, starts
        )
        parts = number[self.part[mine]], number[self.part_of_lane[lanes]]
        return Batch(
            self.lengths[mine], self.ceilings[mine], parts[0], own, parts[1], self.budgets[kept], self.unit, self.rules
        )

    def bits(self) -> Tokens:
        """Per group: fraction bits of its ratios; as for a single group."""
        longest = np.zeros(self.count, dtype=np.int64)
        np.maximum.at(longest, self.part, self.lengths)
        return 62 - np.frexp(longest.astype(np.float64))[1].astype(np.int64)  # exact below 2**53

    def prefixes(self, ratio: Tokens, bits: Tokens) -> Tokens:
        scaled = self.lengths * ratio[self.part] >> bits[self.part]
        units: Tokens = np.maximum(np.minimum(scaled // self.unit, self.ceilings), self.rules.head)
        return units

    def hits(self, prefixes: Tokens) -> Tokens:
        """Per group."""
        per_lane = self.rules.hits(self.lanes, prefixes)
        starts = np.searchsorted(self.part_of_lane, np.arange(self.count))
        return np.add.reduceat(per_lane, starts)

    def per_part(self, chosen: Mask) -> Tokens:
        return np.bincount(self.part[chosen], minlength=self.count)


def plan_batch(batch: Batch, *, calibrate: bool) -> tuple[Tokens, int]:
    """Prefixes in units, and how many requests the calibration raised; see ``plan_units``."""
    bits = batch.bits()
    one = np.left_shift(np.int64(1), bits)
    above = _first(batch, bits, one, lambda part, found: found > part.budgets)
    ratio = above - 1
    units = batch.prefixes(ratio, bits)
    reached = batch.hits(units)
    exact = (reached == batch.budgets) | (not calibrate)
    if exact.any():
        part = batch.take(exact)
        wanted = reached[exact]
        smallest = _first(part, bits[exact], one[exact], lambda _, found: found >= wanted)
        units[exact[batch.part]] = part.prefixes(smallest, bits[exact])
    if exact.all():
        return units, 0
    rest = batch.take(~exact)
    raised = _raised(rest, units[~exact[batch.part]], above[~exact], bits[~exact], (batch.budgets - reached)[~exact])
    units[~exact[batch.part]] += raised
    return units, int(raised.sum())


def _first(batch: Batch, bits: Tokens, one: Tokens, holds: Callable[[Batch, Tokens], Mask]) -> Tokens:
    """Per group the smallest ratio in [0, one] at which the monotone condition holds; one + 1 if at none."""
    low, high = np.zeros_like(one), one + 1
    while (busy := low < high).any():
        middle = (low + high) // 2
        right = holds(batch, batch.hits(batch.prefixes(middle, bits)))
        high = np.where(busy & right, middle, high)
        low = np.where(busy & ~right, middle + 1, low)
    return low


def _raised(batch: Batch, base: Tokens, above: Tokens, bits: Tokens, need: Tokens) -> Tokens:
    """One for each request that is raised by a unit, so that each group's hits grow by what it needs."""
    rises = (batch.prefixes(above, bits) > base) & (base >= batch.rules.drop)
    if not batch.rules.cold:
        return _spread(batch, rises, need).astype(np.int64)
    is_top = base == batch.lanes.top(base)[batch.lanes.lane_of]
    plain, tied = rises & ~is_top, rises & is_top
    have = batch.per_part(plain)
    chosen = _spread(batch, plain, np.minimum(need, have))
    # Of requests tied at the maximum of a lane the first one raised only moves the maximum.
    lanes = np.bincount(batch.part_of_lane, minlength=batch.count)
    ties, left = batch.per_part(tied), need - np.minimum(need, have)
    one_lane = (lanes == 1) & (left > 0) & (ties > 1)
    chosen |= _spread(batch, tied, np.where(one_lane, np.minimum(left, ties - 1) + 1, 0))
    for part in np.flatnonzero((lanes > 1) & (left > 0)).tolist():
        mine = slice(*np.searchsorted(batch.part, [part, part + 1]).tolist())
        own = batch.lanes.slice_of(batch.lanes.lane_of[mine], np.flatnonzero(batch.part_of_lane == part))
        chosen[mine] = False
        members = choose(base[mine], rises[mine], own, int(need[part]), cold=True)
        chosen[mine.start + members] = True
    return chosen.astype(np.int64)


def _spread(batch: Batch, candidates: Mask, counts: Tokens) -> Mask:
    """Per group so many of its candidates, evenly spread over their order (``proportional.spread``)."""
    places = np.flatnonzero(candidates)
    sizes = batch.per_part(candidates)
    begins = np.cumsum(sizes) - sizes
    part = np.repeat(np.arange(batch.count), counts)
    number = np.arange(len(part)) - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = np.zeros(len(candidates), dtype=np.bool_)
    chosen[places[begins[part] + (2 * number + 1) * sizes[part] // (2 * counts[part])]] = True
    return chosen
