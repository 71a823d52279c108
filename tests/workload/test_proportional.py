"""One base ratio per group, exact to the unit, against exact fractions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.workload.lanes import HitRules, Lanes
from prefixcache.workload.proportional import plan_units
from tests.workload import oracle


@dataclass(frozen=True)
class Group:
    lengths: list[int]
    ceilings: list[int]
    lanes: list[int]
    budget: int
    unit: int
    cold: bool
    head: int = 0
    drop: int = 0

    def hits(self, prefixes: list[int]) -> int:
        # Each lane is a domain of its own here, as a group's lanes are.
        cache = oracle.Cache(self.lanes, range(len(prefixes)), self.cold, self.lanes, self.head, self.drop)
        return cache.total(prefixes)

    def base(self, ratio: object) -> list[int]:
        return oracle.base_prefixes(ratio, self.lengths, self.ceilings, self.unit, self.head)  # type: ignore[arg-type]

    def plan(self, *, calibrate: bool = True) -> tuple[list[int], int]:
        lanes = Lanes.of(np.zeros(len(self.lanes), dtype=np.int32), np.array(self.lanes, dtype=np.int32))
        prefixes, raised = plan_units(
            np.array(self.lengths),
            np.array(self.ceilings),
            lanes,
            self.budget,
            unit=self.unit,
            rules=HitRules(self.head, self.drop, cold=self.cold),
            calibrate=calibrate,
        )
        return prefixes.tolist(), raised


@st.composite
def groups(draw: st.DrawFn) -> Group:
    """Requests of one group over a few domains, with a budget that they can reach."""
    count = draw(st.integers(1, 14))
    unit = draw(st.sampled_from([1, 2, 5, 16]))
    pool = draw(st.sampled_from([[100], [33, 34, 35], [20, 40, 80, 160], list(range(1, 90))]))
    lengths = draw(st.lists(st.sampled_from(pool), min_size=count, max_size=count))
    non_shared = draw(st.sampled_from([0, 1, unit, 40]))
    head, drop = draw(st.integers(0, min(lengths) // unit)), draw(st.sampled_from([0, 0, 1, 2]))
    ceilings = [oracle.ceiling(length, unit, non_shared, head * unit) for length in lengths]
    lanes = draw(st.lists(st.integers(0, draw(st.integers(0, 2))), min_size=count, max_size=count))
    cold = draw(st.booleans())
    bare = Group(lengths, ceilings, lanes, 0, unit, cold, head, drop)
    return replace(bare, budget=draw(st.integers(bare.hits([head] * count), bare.hits(ceilings))))


@given(groups())
@settings(max_examples=400, deadline=None)
def test_total_is_exact_and_no_prefix_exceeds_its_ceiling(group: Group) -> None:
    prefixes, _ = group.plan()
    assert group.hits(prefixes) == group.budget
    assert all(group.head <= p <= top for p, top in zip(prefixes, group.ceilings, strict=True))


@given(groups())
@settings(max_examples=150, deadline=None)
def test_one_ratio_per_group_and_only_requests_of_the_next_threshold_are_raised(group: Group) -> None:
    prefixes, raised = group.plan()
    steps = oracle.thresholds(group.lengths, group.ceilings, group.unit)
    below = [ratio for ratio in steps if group.hits(group.base(ratio)) <= group.budget]
    reached = group.hits(group.base(below[-1]))
    if reached == group.budget:  # of several ratios with this total, the smallest
        smallest = next(ratio for ratio in steps if group.hits(group.base(ratio)) == group.budget)
        assert prefixes == group.base(smallest)
        assert raised == 0
        return
    base, following = group.base(below[-1]), group.base(steps[len(below)])
    more = [p - b for p, b in zip(prefixes, base, strict=True)]
    assert set(more) <= {0, 1}
    assert all(not up or n == b + 1 for up, b, n in zip(more, base, following, strict=True))
    assert raised == sum(more)


@given(groups())
@settings(max_examples=120, deadline=None)
def test_longer_requests_share_no_less_up_to_a_unit(group: Group) -> None:
    prefixes, _ = group.plan()
    by_length = sorted(zip(group.lengths, prefixes, strict=True))
    longest = 0
    for _, prefix in by_length:
        assert prefix >= longest - 1
        longest = max(longest, prefix)


@given(groups())
@settings(max_examples=120, deadline=None)
def test_without_calibration_the_plan_is_the_plain_formula_below_the_budget(group: Group) -> None:
    prefixes, raised = group.plan(calibrate=False)
    steps = oracle.thresholds(group.lengths, group.ceilings, group.unit)
    best = max(total for ratio in steps if (total := group.hits(group.base(ratio))) <= group.budget)
    smallest = next(ratio for ratio in steps if group.hits(group.base(ratio)) == best)
    assert (prefixes, raised) == (group.base(smallest), 0)


@pytest.mark.parametrize("cold", [True, False])
def test_no_budget_plans_nothing(cold: bool) -> None:
    assert Group([100, 90], [5, 4], [0, 0], 0, 16, cold).plan() == ([0, 0], 0)


def test_raised_requests_are_spread_evenly() -> None:
    """100 equal requests, warm, 25 units too many for one ratio: every fourth one is raised."""
    group = Group([160] * 100, [9] * 100, [0] * 100, 425, 16, False)
    prefixes, raised = group.plan()
    places = [k for k, p in enumerate(prefixes) if p == 5]
    assert raised == len(places) == 25
    assert {b - a for a, b in pairwise(places)} == {4}


@pytest.mark.parametrize("longest", [1 << 20, (1 << 24) - 1])
def test_the_longest_requests_are_still_exact(longest: int) -> None:
    lengths = [longest - 1, longest, longest // 3, 17]
    ceilings = [length // 1 - 1 for length in lengths]
    budget = sum(ceilings) // 2 + 1
    prefixes, _ = Group(lengths, ceilings, [0] * 4, budget, 1, False).plan()
    assert sum(prefixes) == budget


@pytest.mark.parametrize("cold", [True, False])
@pytest.mark.parametrize("drop", [1, 2, 3])
def test_requests_below_the_drop_are_not_raised_in_vain(drop: int, cold: bool) -> None:
    """Thresholds of 20, 40 and 80 tokens coincide, so worthless and useful rises come together."""
    lengths = [20, 40, 80] * 3
    ceilings = [length // 5 - 1 for length in lengths]
    bare = Group(lengths, ceilings, [0] * 9, 0, 5, cold, 0, drop)
    for budget in range(bare.hits(ceilings) + 1):
        prefixes, _ = replace(bare, budget=budget).plan()
        assert bare.hits(prefixes) == budget
