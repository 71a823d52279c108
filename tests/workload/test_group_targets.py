"""A target of its own for every group (RFC 3.3.8), with heads, drops and any order."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prefixcache.errors import InputError
from prefixcache.workload.frame import Frame
from prefixcache.workload.plan import plan_dataset
from prefixcache.workload.plan_report import group_rows, overall_status, plan_report
from prefixcache.workload.verdict import reason_of, target_ratio
from tests.workload import oracle
from tests.workload.configs import configure, explicit
from tests.workload.test_plan_oracle import MOVES, Case, by_group, datasets, known


def per_group(raw: dict[str, Any], ratios: list[str]) -> dict[str, Any]:
    """The same dataset with these targets, listed in another order than the groups."""
    names = [group["id"] for group in raw["prefix"]["groups"]]
    groups = [{"id": name, "hit_ratio": ratio} for name, ratio in zip(names, ratios, strict=True)]
    return {
        **raw,
        "target": {"scope": "per_group", "semantics": raw["target"]["semantics"], "groups": groups[::-1]},
        "validation": {"on_failure": "warn"},
    }


@given(datasets(6, 12), st.lists(st.sampled_from(["0", "0.2", "0.45", "0.5", "0.8", "1"]), min_size=3, max_size=3))
@settings(max_examples=200, deadline=None)
def test_every_group_meets_its_own_target_or_comes_as_near_as_it_can(case: Case, ratios: list[str]) -> None:
    raw, frame = case
    assume(raw["request_order"]["across_group"] not in MOVES)
    size = len(raw["prefix"]["groups"])
    config = configure(**per_group(raw, ratios[:size]))
    plan = plan_dataset(config, frame=frame)
    rows = group_rows(config, plan)
    found = known(config, plan, frame)
    unit, groups = plan.unit, plan.shape.groups.tolist()
    tokens = by_group(plan.shape.lengths.tolist(), groups, size)
    low, high, hit = (
        by_group(found.cache.each(units), groups, size)
        for units in ([found.cache.head] * len(groups), found.ceilings, (plan.prefixes // unit).tolist())
    )
    statuses = []
    for g, row in enumerate(rows):
        goal = oracle.nearest(Fraction(ratios[g]), tokens[g], unit)
        assert hit[g] == max(low[g], min(goal, high[g]))
        assert row["reachable"] == (low[g] <= goal <= high[g])
        assert (row["min_reachable_hit_tokens"], row["max_reachable_hit_tokens"]) == (low[g] * unit, high[g] * unit)
        assert row["target_hit_ratio"] == float(ratios[g])
        if not tokens[g]:
            assert (row["status"], row["signed_deviation"]) == (None, None)
            continue
        off = Fraction(hit[g] * unit, tokens[g]) - Fraction(ratios[g])
        assert row["signed_deviation"] == float(off)
        assert row["absolute_deviation"] == float(abs(off))
        if row["reachable"]:
            assert abs(off) <= Fraction(unit, 2 * tokens[g])
            expected = "PASS" if abs(off) <= Fraction(1, 100) else "PASS_WITH_WARNING"
            expected = "FAIL" if abs(off) > Fraction(2, 100) else expected
        else:
            expected = "FAIL"
        assert row["status"] == expected
        statuses.append(expected)
    order = ["PASS", "PASS_WITH_WARNING", "FAIL"]
    worst = order[max(order.index(status) for status in statuses)]
    wanted = target_ratio(config, tokens)
    assert wanted == sum(Fraction(ratios[g]) * tokens[g] for g in range(size)) / sum(tokens)
    assert overall_status(config, plan, rows, Fraction(0)) == worst
    assert plan.reachable == all(row["reachable"] for row in rows)
    assert (reason_of(config, plan, worst, tokens) is None) == (worst == "PASS")


def test_the_whole_is_the_groups_weighted_by_input_tokens() -> None:
    config = configure(
        input_length=explicit([400] * 10 + [1200] * 10),
        target={"scope": "per_group"},
        prefix={
            "groups": [{"id": "a", "hit_ratio": 0.25}, {"id": "b", "hit_ratio": 0.75}],
            "request_groups": {"values": ["a"] * 10 + ["b"] * 10},
        },
    )
    report = plan_report(config, plan_dataset(config))
    assert report["target_hit_ratio"] == (0.25 * 4000 + 0.75 * 12000) / 16000
    assert report["expected_hit_tokens"] == 1008 + 9008  # 62.5 and 562.5 units, ties up
    assert report["signed_deviation"] == pytest.approx(16 / 16000)
    assert [row["status"] for row in report["groups"]] == ["PASS", "PASS"]
    assert report["status"] == "PASS"


def test_static_targets_per_group_without_calibration_are_a1_of_each_group() -> None:
    groups = [{"id": "a", "hit_ratio": 0.29}, {"id": "b", "hit_ratio": 0.75}]
    config = configure(
        request_count=100,
        input_length={"mode": "uniform", "min": 40, "max": 3000},
        target={"scope": "per_group", "semantics": "static_prefix_ratio"},
        prefix={"groups": groups},
        planning={"block_residual_calibration": False},
    )
    plan = plan_dataset(config)
    for length, group, prefix in zip(plan.shape.lengths, plan.shape.groups, plan.prefixes, strict=True):
        exact = int(length) * Fraction("0.75" if group else "0.29") // 16 * 16
        assert prefix == min(exact, oracle.ceiling(int(length), 16, 16) * 16)


def test_an_unreachable_group_fails_the_whole_and_says_which() -> None:
    config = configure(
        input_length=explicit([400] * 12),
        target={"scope": "per_group", "groups": [{"id": "a", "hit_ratio": 0.5}, {"id": "b", "hit_ratio": 0.6}]},
        prefix={"groups": [{"id": "a", "request_count": 10}, {"id": "b", "request_count": 2}]},
    )
    report = plan_report(config, plan_dataset(config))
    assert [row["status"] for row in report["groups"]] == ["PASS", "FAIL"]
    assert report["status"] == "FAIL"
    assert report["reason"] == "group b: 384 of 800 input tokens can hit at most, its target needs 480"
    needed = {entry["lever"]: entry["needed"] for entry in report["suggestions"]}
    assert needed["group_count"] is None
    assert needed["request_count"] == 16  # the first number of which 1/6 rounds to three requests of b
    targets = {"scope": "per_group", "groups": [{"id": "a", "hit_ratio": 0.5}, {"id": "b", "hit_ratio": 0.6}]}
    weights = {"groups": [{"id": "a", "request_weight": 10}, {"id": "b", "request_weight": 2}]}
    for count in (15, 16):
        more = configure(input_length=explicit([400] * count), target=targets, prefix=weights)
        assert plan_dataset(more).reachable == (count == 16)


def test_a_shared_head_and_an_order_that_follows_the_plan_are_refused_with_targets_per_group() -> None:
    keys: dict[str, Any] = {
        "request_count": 20,
        "input_length": 300,
        "target": {"scope": "per_group"},
        "prefix": {"groups": [{"id": "a", "hit_ratio": 0.4}, {"id": "b", "hit_ratio": 0.4}]},
    }
    config = configure(**keys, request_order={"across_group": "prefix_len_desc"})
    assert plan_dataset(config).reachable
    with pytest.raises(InputError, match=r"request_order: with a shared head the group that sends first pays"):
        plan_dataset(config, frame=Frame(16))
    within = configure(**keys, request_order={"within_group": "prefix_len_desc"})
    assert plan_dataset(within, frame=Frame(16)).reachable


# Heads


def test_below_what_the_head_alone_hits_is_its_own_reason_and_names_the_least_target() -> None:
    config = configure(request_count=50, input_length=400, hit_ratio=0.1, prefix={"group_count": 2})
    plan = plan_dataset(config, frame=Frame(70, 5))
    report = plan_report(config, plan)
    assert (report["head_tokens"], report["tail_tokens"], report["shared_head_tokens"]) == (70, 5, 64)
    assert (report["status"], report["reachable"]) == ("FAIL", False)
    assert report["min_reachable_hit_tokens"] == 49 * 64 == report["expected_hit_tokens"]
    assert report["reason"].startswith("below the minimum: all prompts begin with the same 64 tokens, so 3136 of 20000")
    (entry,) = report["suggestions"]
    assert (entry["lever"], entry["needed"]) == ("target.hit_ratio", 3136 / 20000)
    raised = configure(request_count=50, input_length=400, hit_ratio=entry["needed"], prefix={"group_count": 2})
    assert plan_dataset(raised, frame=Frame(70, 5)).reachable


def test_one_request_per_group_everywhere_gives_the_head_only() -> None:
    config = configure(request_count=7, input_length=320, hit_ratio=0.1, prefix={"group_count": 7})
    report = plan_report(config, plan_dataset(config, frame=Frame(40)))
    assert report["max_reachable_hit_tokens"] == report["min_reachable_hit_tokens"] == 6 * 32
    assert [row["max_reachable_hit_tokens"] for row in report["groups"]] == [0] + [32] * 6


def test_cold_start_loss_is_the_final_watermarks_less_the_head_met() -> None:
    config = configure(
        request_count=90,
        input_length={"mode": "uniform", "min": 100, "max": 900},
        hit_ratio=0.5,
        prefix={"group_count": 3},
        routing={"cache_scope": "dp_local", "dp_size": 2, "policy": "round_robin"},
    )
    plan = plan_dataset(config, frame=Frame(40))
    rows = plan_report(config, plan)["groups"]
    for g, row in enumerate(rows):
        mine = plan.shape.groups == g
        assert row["expected_hit_tokens"] == plan.prefixes[mine].sum() - row["cold_start_loss"]
    tops = sum(int(plan.lanes.top(plan.prefixes)[lane]) - 32 for lane in range(len(plan.lanes.group)))
    assert sum(row["cold_start_loss"] for row in rows) == tops + 2 * 32


def test_requests_that_share_the_head_only_are_listed() -> None:
    config = configure(input_length=explicit([60, 90, 400, 400, 47]), hit_ratio=0.5)
    report = plan_report(config, plan_dataset(config, frame=Frame(40, 3)))
    assert report["cannot_share"] == 2
    assert report["cannot_share_requests"] == [0, 4]
    strict = configure(input_length=explicit([60, 400, 47]), hit_ratio=0.3, validation={"on_cannot_share": "error"})
    with pytest.raises(InputError, match=r"on_cannot_share: 2 requests are too short.*beyond the head.*is request 0"):
        plan_dataset(strict, frame=Frame(40, 3))
    strict = configure(input_length=explicit([60, 400]), hit_ratio=0.1, validation={"on_cannot_share": "error"})
    assert plan_dataset(strict, frame=Frame(30)).ceilings.min() > 16


@pytest.mark.parametrize("model", ["fixed", "uniform", "truncated_normal", "lognormal", "histogram", "empirical"])
def test_no_draw_falls_below_head_tail_and_one(model: str, tmp_path: Any) -> None:
    path = tmp_path / "lengths.txt"
    path.write_text("10 20 50 90")
    models: dict[str, Any] = {
        "fixed": 44,
        "uniform": {"mode": "uniform", "min": 10, "max": 90},
        "truncated_normal": {"mode": "truncated_normal", "min": 10, "max": 90, "mean": 50, "std": 40},
        "lognormal": {"mode": "lognormal", "min": 10, "max": 90, "median": 50, "sigma": 1},
        "histogram": {"mode": "histogram", "bins": [{"range": [0, 90], "weight": 1}]},
        "empirical": {"mode": "empirical", "file": str(path)},
    }
    config = configure(request_count=200, input_length=models[model], hit_ratio=0.5)
    lengths = plan_dataset(config, frame=Frame(40, 3)).shape.lengths
    assert lengths.min() >= 44
    for short in (Frame(100), Frame(90)):
        with pytest.raises(InputError, match="input_length"):
            plan_dataset(config, frame=short)
