"""Whole plans of small datasets against every possible choice of prefixes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.workload.plan import Plan, plan_dataset
from tests.workload import oracle
from tests.workload.configs import configure, explicit

MOVES = ("prefix_len_asc", "prefix_len_desc")
TARGETS = st.one_of(st.sampled_from(["0", "1", "0.5", "0.9", "0.29"]), st.decimals(0, 1, places=4).map(str))
FREE = ("bound", "sticky")
COUNTED = ("round_robin", "group_round_robin")


@st.composite
def datasets(draw: st.DrawFn, largest: int, most: int) -> dict[str, Any]:
    """A small configuration with any order, route and temperature; ``largest`` prefix in units, ``most`` requests."""
    count = draw(st.integers(1, most))
    block = draw(st.sampled_from([1, 4, 16]))
    unit = block * draw(st.integers(1, 2))
    lengths = draw(st.lists(st.integers(1, (largest + 1) * unit), min_size=count, max_size=count))
    policy = draw(st.sampled_from((*FREE, *COUNTED)))
    orders = [name for name in oracle.WITHIN if policy in FREE or name not in MOVES]
    merges = [name for name in (*oracle.MERGES, *oracle.GLOBAL) if policy in FREE or name not in MOVES]
    cold = draw(st.booleans())
    sizes = [0] * draw(st.integers(1, 3))
    for _ in range(count):
        sizes[draw(st.integers(0, len(sizes) - 1))] += 1
    return {
        "block_size": block,
        "hit_unit": unit,
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


def units_of(config: PrefixCacheDatasetConfig, plan: Plan) -> tuple[list[int], list[int], list[int]]:
    """(ceilings in units, lanes, order) by the definitions alone, from the plan's lengths, groups and order."""
    lengths, groups = plan.shape.lengths.tolist(), plan.shape.groups.tolist()
    order = plan.order.tolist()
    domains = oracle.route(groups, lengths, order, policy=config.policy, domains=config.routing.domains)
    assert plan.domains.tolist() == domains
    ceilings = [oracle.ceiling(length, config.unit, config.non_shared) for length in lengths]
    return ceilings, oracle.lanes_of(groups, domains), order


def check(config: PrefixCacheDatasetConfig) -> tuple[Plan, list[int], list[int], list[int]]:
    """What holds for every plan, by request-by-request simulation; returns the plan and its parts."""
    plan = plan_dataset(config)
    cold, unit = config.target_pass == "cold", config.unit
    lengths, groups, prefixes = (x.tolist() for x in (plan.shape.lengths, plan.shape.groups, plan.prefixes))
    ceilings, lanes, order = units_of(config, plan)
    assert sorted(order) == list(range(len(lengths)))
    assert plan.ceilings.tolist() == [top * unit for top in ceilings]
    assert all(p % unit == 0 and 0 <= p <= top * unit for p, top in zip(prefixes, ceilings, strict=True))
    for name in config.passes:
        is_cold = name == "cold"
        expected = oracle.simulate_cold(prefixes, lanes, order) if is_cold else oracle.simulate_warm(prefixes, lanes)
        found = plan.of_pass(name)
        assert (found.before.tolist(), found.hit.tolist(), found.after.tolist()) == (
            expected.before,
            expected.hit,
            expected.after,
        )
    most = oracle.hits(ceilings, lanes, order, cold=cold)
    target = Fraction(config.target.hit_ratio or 0)
    goal = oracle.nearest(target, sum(lengths), unit)
    hit = plan.of_pass(config.target_pass).hit.tolist()
    assert plan.goal == goal * unit
    assert sum(plan.group_maximum) == most * unit
    assert plan.reachable == (goal <= most)
    assert sum(hit) == min(goal, most) * unit
    if plan.reachable:
        assert abs(Fraction(sum(hit), sum(lengths)) - target) <= Fraction(unit, 2 * sum(lengths))
    tokens = [sum(n for n, g in zip(lengths, groups, strict=True) if g == k) for k in range(len(plan.budgets))]
    assert plan.initial_budgets == [part * unit for part in oracle.largest_remainder(goal, tokens)]
    for k, budget in enumerate(plan.budgets):
        assert sum(h for h, g in zip(hit, groups, strict=True) if g == k) == budget <= plan.group_maximum[k]
    return plan, ceilings, lanes, order


@given(datasets(3, 5))
@settings(max_examples=150, deadline=None)
def test_every_total_that_some_choice_reaches_is_planned(raw: dict[str, Any]) -> None:
    config = configure(**raw)
    _, ceilings, lanes, order = check(config)
    cold = config.target_pass == "cold"
    totals = oracle.reachable_totals(ceilings, lanes, order, cold=cold)
    # Invariant 5: every multiple of the unit from 0 to the maximum.
    assert totals == set(range(oracle.hits(ceilings, lanes, order, cold=cold) + 1))
    tokens = sum(raw["input_length"]["values"])
    for total in totals:
        wanted = Fraction(total * config.unit, tokens)
        ratio = f"{float(wanted):.12f}"
        plan, *_ = check(configure(**{**raw, "target": {**raw["target"], "hit_ratio": ratio}}))
        assert plan.reachable
        assert plan.goal == total * config.unit


@given(datasets(12, 25))
@settings(max_examples=200, deadline=None)
def test_larger_datasets_are_exact_too(raw: dict[str, Any]) -> None:
    check(configure(**raw))


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
    plan, *_ = check(config)
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
def test_static_without_calibration_is_the_plain_formula(raw: dict[str, Any]) -> None:
    raw |= {
        "target": {**raw["target"], "semantics": "static_prefix_ratio"},
        "execution": {"mode": "warmup"},
        "planning": {"block_residual_calibration": False},
    }
    config = configure(**raw)
    plan = plan_dataset(config)
    ratio = Fraction(config.target.hit_ratio or 0)
    lengths = plan.shape.lengths.tolist()
    ceilings = [oracle.ceiling(length, config.unit, config.non_shared) for length in lengths]
    expected = oracle.base_prefixes(ratio, lengths, ceilings, config.unit)
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
