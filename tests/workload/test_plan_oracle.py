"""Whole plans of small datasets against every possible choice of prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.workload.frame import Frame
from prefixcache.workload.plan import Plan, plan_dataset
from tests.workload import oracle
from tests.workload.configs import configure, explicit

MOVES = ("prefix_len_asc", "prefix_len_desc")
TARGETS = st.one_of(st.sampled_from(["0", "1", "0.5", "0.9", "0.29"]), st.decimals(0, 1, places=4).map(str))
FREE = ("bound", "sticky")
COUNTED = ("round_robin", "group_round_robin")


Case = tuple[dict[str, Any], Frame]


@st.composite
def datasets(draw: st.DrawFn, largest: int, most: int) -> Case:
    """A small configuration with any order, route, temperature, head, tail and drop.

    ``largest`` prefix in units, ``most`` requests.
    """
    count = draw(st.integers(1, most))
    block = draw(st.sampled_from([1, 4, 16]))
    unit = block * draw(st.integers(1, 2))
    frame = Frame(draw(st.one_of(st.just(0), st.integers(0, 2 * unit))), draw(st.sampled_from([0, 0, 3])))
    lengths = draw(
        st.lists(st.integers(frame.shortest, (largest + 1) * unit + frame.tail), min_size=count, max_size=count)
    )
    policy = draw(st.sampled_from((*FREE, *COUNTED)))
    orders = [name for name in oracle.WITHIN if policy in FREE or name not in MOVES]
    merges = [name for name in (*oracle.MERGES, *oracle.GLOBAL) if policy in FREE or name not in MOVES]
    cold = draw(st.booleans())
    sizes = [0] * draw(st.integers(1, 3))
    for _ in range(count):
        sizes[draw(st.integers(0, len(sizes) - 1))] += 1
    raw = {
        "block_size": block,
        "hit_unit": unit,
        "hit_drop": draw(st.sampled_from([0, 0, 1, 2])),
        "input_length": explicit(lengths),
        "target": {
            "hit_ratio": draw(TARGETS),
            "semantics": "order_aware_global" if cold else "static_prefix_ratio",
        },
        "execution": {"mode": draw(st.sampled_from(["cold", "compare"] if cold else ["warmup", "hot", "compare"]))},
        "prefix": {
            "minimum_non_shared_length": draw(st.sampled_from([0, 1, block, 3 * block])),
            "groups": [{"id": f"g{k}", "request_count": size} for k, size in enumerate(sizes)],
        },
        "request_order": {
            "within_group": draw(st.sampled_from(orders)),
            "across_group": draw(st.sampled_from(merges)),
            "preserve_group_dependency": draw(st.booleans()),
        },
        "routing": {"cache_scope": "dp_local", "dp_size": draw(st.integers(1, 3)), "policy": policy},
    }
    return raw, frame


@dataclass(frozen=True)
class Known:
    """A plan and what the definitions alone make of its lengths, groups and order. In units."""

    plan: Plan
    ceilings: list[int]
    cache: oracle.Cache

    @property
    def minimum(self) -> int:
        return self.cache.total([self.cache.head] * len(self.ceilings))

    @property
    def maximum(self) -> int:
        return self.cache.total(self.ceilings)


def known(config: PrefixCacheDatasetConfig, plan: Plan, frame: Frame) -> Known:
    lengths, groups, order = plan.shape.lengths.tolist(), plan.shape.groups.tolist(), plan.order.tolist()
    domains = oracle.route(groups, lengths, order, policy=config.policy, domains=config.routing.domains)
    assert plan.domains.tolist() == domains
    ceilings = [oracle.ceiling(length, config.unit, config.non_shared, frame.head, frame.tail) for length in lengths]
    lanes = oracle.lanes_of(groups, domains)
    cold = config.target_pass == "cold"
    cache = oracle.Cache(lanes, order, cold, domains, frame.head // config.unit, config.hit_drop)
    return Known(plan, ceilings, cache)


def by_group(values: list[int], groups: list[int], size: int) -> list[int]:
    return [sum(v for v, g in zip(values, groups, strict=True) if g == k) for k in range(size)]


def check(config: PrefixCacheDatasetConfig, frame: Frame = Frame()) -> Known:
    """What holds for every plan, by request-by-request simulation."""
    plan = plan_dataset(config, frame=frame)
    unit = config.unit
    lengths, groups, prefixes = (x.tolist() for x in (plan.shape.lengths, plan.shape.groups, plan.prefixes))
    found = known(config, plan, frame)
    cache, ceilings = found.cache, found.ceilings
    assert sorted(cache.order) == list(range(len(lengths)))
    assert plan.ceilings.tolist() == [top * unit for top in ceilings]
    head = cache.head * unit
    assert all(p % unit == 0 and head <= p <= top * unit for p, top in zip(prefixes, ceilings, strict=True))
    for name in config.passes:
        drop = config.hit_drop * unit
        if name == "cold":
            expected = oracle.simulate_cold(
                prefixes, cache.lanes, cache.order, domains=cache.domains, head=head, drop=drop
            )
        else:
            expected = oracle.simulate_warm(prefixes, cache.lanes, drop=drop)
        result = plan.of_pass(name)
        assert (result.before.tolist(), result.hit.tolist(), result.after.tolist()) == (
            expected.before,
            expected.hit,
            expected.after,
        )
    _check_totals(config, found, lengths, groups)
    return found


def _check_totals(config: PrefixCacheDatasetConfig, found: Known, lengths: list[int], groups: list[int]) -> None:
    plan, unit = found.plan, config.unit
    target = Fraction((config.target and config.target.hit_ratio) or 0)
    goal = oracle.nearest(target, sum(lengths), unit)
    hit = plan.of_pass(config.target_pass).hit.tolist()
    size = len(config.prefix.group_ids())
    assert plan.goal == goal * unit
    low, high = found.cache.each([found.cache.head] * len(lengths)), found.cache.each(found.ceilings)
    assert plan.minimum == [units * unit for units in by_group(low, groups, size)]
    assert plan.maximum == [units * unit for units in by_group(high, groups, size)]
    assert plan.reachable == (sum(low) <= goal <= sum(high))
    assert sum(hit) == max(sum(low), min(goal, sum(high))) * unit
    if plan.reachable:
        assert abs(Fraction(sum(hit), sum(lengths)) - target) <= Fraction(unit, 2 * sum(lengths))
    tokens = by_group(lengths, groups, size)
    assert plan.initial_budgets == [part * unit for part in oracle.largest_remainder(goal, tokens)]
    if config.planning.objective == "proportional":
        assert plan.budgets == by_group(hit, groups, size)
    for own, most, least in zip(by_group(hit, groups, size), plan.maximum, plan.minimum, strict=True):
        assert least <= own <= most


@given(datasets(3, 5))
@settings(max_examples=150, deadline=None)
def test_every_total_that_some_choice_reaches_is_planned(case: Case) -> None:
    raw, frame = case
    found = check(configure(**raw), frame)
    unit, tokens = found.plan.unit, sum(raw["input_length"]["values"])
    totals = {found.cache.total(choice) for choice in found.cache.choices(found.ceilings)}
    # Invariant 5: every multiple of the unit from the minimum to the maximum.
    assert totals == set(range(found.minimum, found.maximum + 1))
    for total in totals:
        ratio = f"{float(Fraction(total * unit, tokens)):.12f}"
        planned = check(configure(**{**raw, "target": {**raw["target"], "hit_ratio": ratio}}), frame).plan
        assert planned.reachable
        assert planned.goal == total * unit


@given(datasets(12, 25))
@settings(max_examples=200, deadline=None)
def test_larger_datasets_are_exact_too(case: Case) -> None:
    raw, frame = case
    check(configure(**raw), frame)


@pytest.mark.parametrize("within", oracle.WITHIN)
@pytest.mark.parametrize("across", (*oracle.MERGES, *oracle.GLOBAL))
def test_the_order_of_a_plan_is_the_order_of_its_own_prefixes(within: str, across: str) -> None:
    """Orders by prefix length refer to the planned prefixes, not to those before planning."""
    config = configure(
        request_count=40,
        hit_ratio=0.4,
        block_size=4,
        input_length={"mode": "uniform", "min": 8, "max": 90},
        prefix={"groups": [{"id": "a", "request_weight": 3}, {"id": "b", "request_weight": 1}]},
        request_order={"within_group": within, "across_group": across},
        routing={"cache_scope": "dp_local", "dp_size": 2, "policy": "sticky"},
    )
    plan = check(config).plan
    groups, lengths, prefixes = (x.tolist() for x in (plan.shape.groups, plan.shape.lengths, plan.prefixes))
    if "shuffle" in (within, across):
        return
    order = oracle.send_order(
        groups,
        lengths,
        prefixes,
        within=within,
        across=across,
        preserve=True,
        shuffled_within=range(40),
        shuffled_across=range(40),
    )
    assert plan.order.tolist() == order


@given(datasets(12, 20))
@settings(max_examples=80, deadline=None)
def test_static_without_calibration_is_the_plain_formula(case: Case) -> None:
    raw, frame = case
    raw |= {
        "target": {**raw["target"], "semantics": "static_prefix_ratio"},
        "execution": {"mode": "warmup"},
        "planning": {"block_residual_calibration": False},
    }
    config = configure(**raw)
    plan = plan_dataset(config, frame=frame)
    lengths, found = plan.shape.lengths.tolist(), known(config, plan, frame)
    ratio = Fraction(raw["target"]["hit_ratio"])
    expected = oracle.base_prefixes(ratio, lengths, found.ceilings, config.unit, found.cache.head)
    assert plan.prefixes.tolist() == [p * config.unit for p in expected]
    assert plan.adjusted_requests == 0


@pytest.mark.parametrize("ratio", ["0.333333333333333333333333333333", "0.5", "0.123456789012345678"])
def test_long_decimals_are_exact(ratio: str) -> None:
    config = configure(
        request_count=300,
        input_length={"mode": "uniform", "min": 1, "max": 9000},
        target={"hit_ratio": ratio, "semantics": "static_prefix_ratio"},
        planning={"block_residual_calibration": False},
    )
    plan = plan_dataset(config)
    lengths = plan.shape.lengths.tolist()
    ceilings = [oracle.ceiling(length, 16, 16) for length in lengths]
    assert (plan.prefixes // 16).tolist() == oracle.base_prefixes(Fraction(ratio), lengths, ceilings, 16)


def test_adjusted_requests_are_those_off_the_plain_formula() -> None:
    shape: dict[str, Any] = {"request_count": 200, "input_length": {"mode": "uniform", "min": 50, "max": 900}}
    target = {"hit_ratio": 0.6, "semantics": "static_prefix_ratio"}
    exact = plan_dataset(configure(**shape, target=target))
    plain = plan_dataset(configure(**shape, target=target, planning={"block_residual_calibration": False}))
    assert exact.adjusted_requests == int((exact.prefixes != plain.prefixes).sum()) > 0
