"""`minimal_prefix` and `trajectory` against every possible choice of prefixes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prefixcache.errors import InputError
from prefixcache.workload.frame import Frame
from prefixcache.workload.plan import plan_dataset
from prefixcache.workload.plan_report import plan_report
from prefixcache.workload.trajectory import Route, _corridor, _Walker, trajectory_units
from tests.workload import oracle
from tests.workload.configs import configure, explicit
from tests.workload.test_plan_oracle import MOVES, Case, Known, check, datasets, known


def with_objective(case: Case, objective: str) -> Case:
    raw, frame = case
    return {**raw, "planning": {"objective": objective}}, frame


def cheapest(found: Known, goal: int) -> int:
    """Least sum of prefixes with this total, in units."""
    return min(sum(choice) for choice in found.cache.choices(found.ceilings) if found.cache.total(choice) == goal)


@given(datasets(3, 5))
@settings(max_examples=300, deadline=None)
def test_minimal_prefix_has_the_least_sum_of_all_plans_with_its_total(case: Case) -> None:
    raw, frame = with_objective(case, "minimal_prefix")
    config = configure(**raw)
    try:
        found = check(config, frame)
    except InputError as error:
        assert "minimal_prefix with a hit_drop" in str(error)
        assert config.hit_drop > frame.head // config.unit
        return
    units = (found.plan.prefixes // found.plan.unit).tolist()
    assert sum(units) == cheapest(found, found.cache.total(units))


@given(datasets(14, 30))
@settings(max_examples=150, deadline=None)
def test_minimal_prefix_is_exact_and_shares_no_more_than_proportional(case: Case) -> None:
    raw, frame = with_objective(case, "minimal_prefix")
    try:
        found = check(configure(**raw), frame)
    except InputError:
        assume(False)
    usual = plan_dataset(configure(**case[0]), frame=frame)
    assert found.plan.prefixes.sum() <= usual.prefixes.sum()


@pytest.mark.parametrize("drop", [1, 2])
@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_minimal_prefix_of_one_lane_pays_for_what_the_engine_drops(drop: int, data: st.DataObject) -> None:
    ceilings = data.draw(st.lists(st.integers(0, 6), min_size=2, max_size=5))
    cold = data.draw(st.booleans())
    cache = oracle.Cache([0] * len(ceilings), range(len(ceilings)), cold, drop=drop)
    goal = data.draw(st.integers(0, cache.total(ceilings)))
    lengths = [16 * top + 16 for top in ceilings]
    config = configure(
        input_length=explicit(lengths),
        hit_drop=drop,
        target={
            "hit_ratio": f"{goal * 16 / sum(lengths):.12f}",
            "semantics": "order_aware_global" if cold else "static_prefix_ratio",
        },
        planning={"objective": "minimal_prefix"},
        request_order="sequential",
    )
    plan = plan_dataset(config)
    found = known(config, plan, Frame())
    assert found.cache.total((plan.prefixes // 16).tolist()) == goal
    assert plan.prefixes.sum() // 16 == cheapest(found, goal)


def test_several_cold_lanes_with_a_drop_above_the_head_are_refused() -> None:
    config = configure(
        request_count=30,
        input_length=400,
        hit_ratio=0.5,
        hit_drop=2,
        prefix={"group_count": 3},
        planning={"objective": "minimal_prefix"},
    )
    with pytest.raises(InputError, match=r"planning\.objective: .*hit_drop of 2 units above the shared head of 1"):
        plan_dataset(config, frame=Frame(16))
    assert plan_dataset(config, frame=Frame(32)).reachable


@given(datasets(3, 5))
@settings(max_examples=300, deadline=None)
def test_the_best_trajectory_of_five_requests(case: Case) -> None:
    raw, frame = with_objective(case, "trajectory")
    assume(not set(raw["request_order"].values()) & set(MOVES))
    found = check(configure(**raw), frame)
    plan, unit = found.plan, found.plan.unit
    lengths, units = plan.shape.lengths.tolist(), (plan.prefixes // plan.unit).tolist()
    target = Fraction(raw["target"]["hit_ratio"])
    hit = found.cache.each(units)
    best = oracle.best_trajectory(found.cache, found.ceilings, lengths, sum(hit), target, unit)
    own = oracle.course(hit, found.cache.order, lengths, target, unit)
    assert own[0] == best[0]
    assert own[1] == pytest.approx(float(best[1]), abs=1e-6)
    ((group, course),) = plan.courses
    assert (group, course.method) == (None, "exact")
    assert course.max_overshoot == course.max_overshoot_bound == pytest.approx(float(best[0]), abs=1e-12)
    assert course.mean_absolute_error == pytest.approx(float(best[1]) / len(lengths), abs=1e-6)


def route_of(found: Known, target: Fraction, unit: int, lengths: list[int]) -> Route:
    order = np.array(found.cache.order)
    plan = found.plan
    return Route(
        lengths=np.array(lengths)[order],
        ceilings=np.array(found.ceilings)[order],
        lanes=plan.lanes.lane_of[order],
        opens=plan.lanes.opens,
        goal=sum(found.cache.each((plan.prefixes // unit).tolist())),
        target=target,
        unit=unit,
        rules=plan.rules,
    )


@given(datasets(3, 5))
@settings(max_examples=200, deadline=None)
def test_the_walk_is_exact_and_its_bounds_hold(case: Case) -> None:
    """The near-linear rule on datasets small enough to know the best plan."""
    raw, frame = case
    assume(not set(raw["request_order"].values()) & set(MOVES))
    found = check(configure(**raw), frame)
    unit, lengths = found.plan.unit, found.plan.shape.lengths.tolist()
    target = Fraction(raw["target"]["hit_ratio"])
    route = route_of(found, target, unit, lengths)
    import prefixcache.workload.trajectory as module

    small, module.is_small = module.is_small, lambda _: False
    try:
        prefixes, course = trajectory_units(route)
    finally:
        module.is_small = small
    order = found.cache.order
    units = [0] * len(lengths)
    for place, request in enumerate(order):
        units[request] = int(prefixes[place])
    assert all(found.cache.head <= p <= top for p, top in zip(units, found.ceilings, strict=True))
    hit = found.cache.each(units)
    assert sum(hit) == route.goal
    own = oracle.course(hit, order, lengths, target, unit)
    best = oracle.best_trajectory(found.cache, found.ceilings, lengths, route.goal, target, unit)
    assert course.method == "walk"
    assert course.max_overshoot == pytest.approx(float(own[0]), abs=1e-12)
    assert course.mean_absolute_error == pytest.approx(float(own[1]) / len(lengths), abs=1e-9)
    assert course.max_overshoot_bound <= float(best[0]) + 1e-12
    if own[0] == best[0]:
        assert course.mean_absolute_error_bound <= float(best[1]) / len(lengths) + 1e-9


@given(datasets(14, 40))
@settings(max_examples=250, deadline=None)
def test_every_walk_ends_on_the_goal(case: Case) -> None:
    raw, frame = with_objective(case, "trajectory")
    assume(not set(raw["request_order"].values()) & set(MOVES))
    found = check(configure(**raw), frame)
    for _, course in found.plan.courses:
        assert course.max_overshoot >= course.max_overshoot_bound - 1e-12
        assert course.mean_absolute_error >= course.mean_absolute_error_bound - 1e-9
    route = route_of(found, Fraction(raw["target"]["hit_ratio"]), found.plan.unit, found.plan.shape.lengths.tolist())
    low, high = _corridor(route)
    assert _Walker(route, low, low, high).walk(high) is not None


@pytest.mark.parametrize("ratio", ["0.3", "0.5", "0.8"])
@pytest.mark.parametrize("order", ["input_len_asc", "shuffle", "sequential"])
def test_a_usual_trajectory_never_overshoots_and_stays_within_two_units(ratio: str, order: str) -> None:
    config = configure(
        request_count=2000,
        input_length={"mode": "truncated_normal", "min": 512, "max": 8192, "mean": 3000, "std": 900},
        hit_ratio=ratio,
        request_order=order,
        planning={"objective": "trajectory"},
    )
    plan = plan_dataset(config)
    report = plan_report(config, plan)
    assert report["status"] == "PASS"
    hit, lengths = plan.of_pass("cold").hit[plan.order], plan.shape.lengths[plan.order]
    late = np.abs(np.cumsum(hit) - float(ratio) * np.cumsum(lengths))[200:]
    assert late.mean() <= 32
    usual = plan_dataset(configure(**{**config.model_dump(mode="json", exclude_none=True), "planning": {}}))
    plain = np.abs(np.cumsum(usual.of_pass("cold").hit[usual.order]) - float(ratio) * np.cumsum(lengths))[200:]
    assert late.mean() < plain.mean()
    (course,) = report["trajectories"]
    assert course["max_overshoot"] <= 16 / report["input_tokens"]
    assert course["group_id"] is None


def test_a_trajectory_per_group_follows_each_groups_own_target() -> None:
    groups = [{"id": "a", "request_weight": 1, "hit_ratio": 0.3}, {"id": "b", "request_weight": 2, "hit_ratio": 0.7}]
    config = configure(
        request_count=600,
        input_length={"mode": "uniform", "min": 300, "max": 900},
        target={"scope": "per_group"},
        prefix={"groups": groups},
        planning={"objective": "trajectory"},
    )
    report = plan_report(config, plan_dataset(config))
    assert [row["group_id"] for row in report["trajectories"]] == ["a", "b"]
    for row, ratio in zip(report["groups"], (0.3, 0.7), strict=True):
        assert abs(row["designed_hit_ratio"] - ratio) <= 8 / row["input_tokens"]


def test_trajectory_is_refused_with_an_order_that_follows_the_plan() -> None:
    keys: dict[str, Any] = {"request_count": 9, "input_length": 90, "hit_ratio": 0.2}
    for order in ({"within_group": "prefix_len_asc"}, {"across_group": "prefix_len_desc"}):
        with pytest.raises(InputError, match=r"planning\.objective: trajectory follows the send order"):
            configure(**keys, request_order=order, planning={"objective": "trajectory"})


@pytest.mark.parametrize("objective", ["trajectory", "minimal_prefix"])
def test_an_exact_objective_needs_no_calibration(objective: str) -> None:
    planning = {"objective": objective, "block_residual_calibration": False}
    with pytest.raises(InputError, match=r"planning\.block_residual_calibration: is false"):
        configure(request_count=9, input_length=90, hit_ratio=0.2, planning=planning)
