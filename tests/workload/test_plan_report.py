"""The figures of a plan, unreachable targets, and datasets at the edges."""

from __future__ import annotations

import json
import sys
from collections import Counter
from fractions import Fraction
from types import FrameType
from typing import Any

import pytest

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.workload.plan import plan_dataset
from prefixcache.workload.plan_report import plan_report
from tests.workload.configs import configure, explicit

VARIABLE = {"mode": "uniform", "min": 20, "max": 900}


def report_of(**keys: Any) -> dict[str, Any]:
    config = configure(**keys)
    return plan_report(config, plan_dataset(config))


# Figures


@pytest.mark.parametrize("ratio", [0.5, 0.99])
def test_every_key_that_plan_prints(ratio: float) -> None:
    report = report_of(request_count=60, input_length=VARIABLE, hit_ratio=ratio, prefix={"group_count": 3})
    assert report.keys() >= {
        "request_count",
        "input_tokens",
        "target_hit_ratio",
        "expected_hit_tokens",
        "designed_hit_ratio",
        "max_reachable_hit_ratio",
        "max_reachable_hit_tokens",
        "status",
        "groups",
        "suggestions",
        "min_reachable_hit_ratio",
        "head_tokens",
        "tail_tokens",
        "shared_head_tokens",
        "hit_drop",
        "objective",
        "trajectories",
    }
    for row in report["groups"]:
        assert row.keys() >= {
            "group_id",
            "request_count",
            "input_tokens",
            "initial_target_hit_tokens",
            "target_hit_tokens",
            "expected_hit_tokens",
            "master_prefix_len",
            "cold_start_loss",
            "max_reachable_hit_ratio",
            "min_reachable_hit_tokens",
            "target_hit_ratio",
            "signed_deviation",
            "absolute_deviation",
            "status",
        }
    assert json.dumps(report)  # plain data only


def test_figures_of_groups_and_domains_add_up() -> None:
    config = configure(
        request_count=200,
        input_length=VARIABLE,
        hit_ratio=0.4,
        prefix={"groups": [{"id": name, "request_weight": w} for name, w in (("a", 5), ("b", 0), ("c", 2), ("d", 1))]},
        routing={"cache_scope": "dp_local", "dp_size": 3, "policy": "round_robin"},
    )
    plan = plan_dataset(config)
    report = plan_report(config, plan)
    rows = report["groups"]
    assert [row["group_id"] for row in rows] == ["a", "b", "c", "d"]
    for key, total in (
        ("request_count", 200),
        ("input_tokens", report["input_tokens"]),
        ("expected_hit_tokens", report["expected_hit_tokens"]),
        ("initial_target_hit_tokens", report["target_hit_tokens"]),
        ("target_hit_tokens", report["target_hit_tokens"]),
        ("max_reachable_hit_tokens", report["max_reachable_hit_tokens"]),
    ):
        assert sum(row[key] for row in rows) == total, key
    for key in ("request_count", "input_tokens", "expected_hit_tokens"):
        assert sum(row[key] for row in report["domains"]) == report[key]
    for number, row in enumerate(rows):
        mine = plan.shape.groups == number
        lanes = {int(d): int(plan.prefixes[mine & (plan.domains == d)].max()) for d in set(plan.domains[mine].tolist())}
        assert row["master_prefix_len"] == (plan.prefixes[mine].max() if mine.any() else 0)
        assert row["cold_start_loss"] == sum(lanes.values())
        assert row["expected_hit_tokens"] == plan.prefixes[mine].sum() - sum(lanes.values())
    empty = rows[1]
    assert empty["request_count"] == 0
    assert empty["designed_hit_ratio"] is None
    assert empty["max_reachable_hit_ratio"] is None


def test_compare_reports_one_figure_per_pass_and_the_targets_on_top() -> None:
    for semantics, name in (("order_aware_global", "cold"), ("static_prefix_ratio", "hot")):
        report = report_of(
            request_count=80,
            input_length=VARIABLE,
            target={"hit_ratio": 0.5, "semantics": semantics},
            execution={"mode": "compare"},
        )
        passes = {row["name"]: row for row in report["passes"]}
        assert list(passes) == ["cold", "hot"]
        assert passes[name]["designed_hit_ratio"] == report["designed_hit_ratio"] == pytest.approx(0.5, abs=1e-3)
        assert passes["cold"]["expected_hit_tokens"] < passes["hot"]["expected_hit_tokens"]


def test_warm_loses_nothing_to_a_cold_start() -> None:
    report = report_of(
        request_count=50, input_length=640, target={"hit_ratio": 0.5, "semantics": "static_prefix_ratio"}
    )
    assert report["groups"][0]["cold_start_loss"] == 0
    assert report["groups"][0]["master_prefix_len"] == 320


# Verdicts


@pytest.mark.parametrize(
    ("on_failure", "status"), [("error", "FAIL"), ("warn", "FAIL"), ("accept_with_warning", "PASS_WITH_WARNING")]
)
def test_unreachable_is_fail_even_within_tolerance(on_failure: str, status: str) -> None:
    """98 of 100 requests' tokens can hit, 98.5 % is asked for."""
    report = report_of(
        request_count=100,
        block_size=1,
        input_length=1000,
        prefix={"minimum_non_shared_length": 1},
        hit_ratio=0.9895,
        validation={"on_failure": on_failure},
    )
    assert report["max_reachable_hit_ratio"] == 0.98901 == report["designed_hit_ratio"]
    assert report["absolute_deviation"] < 0.01
    assert report["status"] == status
    assert not report["reachable"]
    assert "98901 of 100000 input tokens can hit at most, the target needs 98950" in report["reason"]
    assert "lost to cold starts in 1 lane" in report["reason"]


@pytest.mark.parametrize(
    ("tolerances", "status"), [((0.2, 0.3), "PASS"), ((0.05, 0.2), "PASS_WITH_WARNING"), ((0.01, 0.02), "FAIL")]
)
def test_granularity_names_the_smallest_dataset_that_would_pass(tolerances: tuple[float, float], status: str) -> None:
    """Two requests of 40 tokens, unit 16: totals 0, 16, 32 of 80; the target 0.3 is 24, ties up to 32, 10 pp off."""
    passes, warns = tolerances
    report = report_of(
        input_length=explicit([40, 40]),
        prefix={"minimum_non_shared_length": 1},
        hit_ratio=0.3,
        validation={"pass_tolerance": passes, "warning_tolerance": warns},
    )
    assert report["expected_hit_tokens"] == 32
    assert report["status"] == status
    if status == "PASS":
        assert report["reason"] is None
    else:
        smallest = {0.05: 160, 0.01: 800}[passes]
        assert report["reason"].startswith("granularity: ")
        assert f"{smallest} input tokens would pass" in report["reason"]


def test_granularity_with_no_tolerance_at_all() -> None:
    validation = {"pass_tolerance": 0, "warning_tolerance": 0}
    prefix = {"minimum_non_shared_length": 1}
    report = report_of(input_length=explicit([40, 40]), hit_ratio=0.3, validation=validation, prefix=prefix)
    assert report["status"] == "FAIL"
    assert "no size passes" in report["reason"]


def test_a_miss_without_calibration_says_so() -> None:
    report = report_of(
        request_count=100,
        block_size=128,
        input_length={"mode": "uniform", "min": 300, "max": 900},
        target={"hit_ratio": 0.5, "semantics": "static_prefix_ratio"},
        planning={"block_residual_calibration": False},
    )
    assert report["absolute_deviation"] > 0.02
    assert report["status"] == "FAIL"
    assert "block_residual_calibration" in report["reason"]
    assert report["suggestions"] == []


# Edges


@pytest.mark.parametrize("semantics", ["order_aware_global", "static_prefix_ratio"])
def test_no_target_shares_nothing(semantics: str) -> None:
    report = report_of(request_count=20, input_length=500, target={"hit_ratio": 0, "semantics": semantics})
    assert (report["status"], report["expected_hit_tokens"]) == ("PASS", 0)
    assert [row["master_prefix_len"] for row in report["groups"]] == [0]


@pytest.mark.parametrize("semantics", ["order_aware_global", "static_prefix_ratio"])
def test_everything_cannot_hit(semantics: str) -> None:
    config = configure(request_count=20, input_length=500, target={"hit_ratio": 1, "semantics": semantics})
    plan = plan_dataset(config)
    report = plan_report(config, plan)
    assert report["status"] == "FAIL"
    assert (plan.prefixes == plan.ceilings).all()
    assert report["expected_hit_tokens"] == report["max_reachable_hit_tokens"]
    assert all(entry["needed"] is None for entry in report["suggestions"])


def test_one_request_cannot_hit_when_cold_but_can_when_warm() -> None:
    cold = report_of(request_count=1, input_length=320, hit_ratio=0.5)
    assert (cold["max_reachable_hit_tokens"], cold["expected_hit_tokens"], cold["status"]) == (0, 0, "FAIL")
    warm = report_of(request_count=1, input_length=320, target={"hit_ratio": 0.5, "semantics": "static_prefix_ratio"})
    assert (warm["expected_hit_tokens"], warm["status"]) == (160, "PASS")


def test_one_request_per_group_hits_nothing() -> None:
    report = report_of(request_count=7, input_length=320, hit_ratio=0.1, prefix={"group_count": 7})
    assert report["max_reachable_hit_ratio"] == 0
    assert all(row["max_reachable_hit_ratio"] == 0 for row in report["groups"])


def test_requests_shorter_than_a_block_are_counted_and_share_nothing() -> None:
    config = configure(input_length=explicit([3, 15, 16, 400, 400, 31, 32]), hit_ratio=0.4)
    plan = plan_dataset(config)
    report = plan_report(config, plan)
    assert plan.ceilings.tolist() == [0, 0, 0, 384, 384, 0, 16]
    assert plan.prefixes[[0, 1, 2, 5]].sum() == 0
    assert report["cannot_share"] == 4
    assert report["status"] == "PASS"


def test_a_block_larger_than_every_request() -> None:
    report = report_of(request_count=30, block_size=512, input_length=500, hit_ratio=0.5)
    assert report["cannot_share"] == 30
    assert report["status"] == "FAIL"
    assert "no request is long enough to share one unit of 512 tokens" in report["reason"]


@pytest.mark.parametrize(("non_shared", "ceiling"), [(0, 144), (1, 144), (16, 144), (17, 128), (None, 144)])
def test_the_last_token_is_never_shared(non_shared: int | None, ceiling: int) -> None:
    prefix = {} if non_shared is None else {"minimum_non_shared_length": non_shared}
    plan = plan_dataset(configure(request_count=3, input_length=160, hit_ratio=0, prefix=prefix))
    assert set(plan.ceilings.tolist()) == {ceiling}


def test_more_groups_than_requests_leaves_some_empty() -> None:
    report = report_of(request_count=2, input_length=160, hit_ratio=0, prefix={"group_count": 5})
    assert [row["request_count"] for row in report["groups"]] == [1, 1, 0, 0, 0]
    assert [row["designed_hit_ratio"] for row in report["groups"]] == [0, 0, None, None, None]


# Work done


def work_of(config: PrefixCacheDatasetConfig) -> Counter[str]:
    """Lines of this package that planning runs, by module; a loop over requests runs one per request at least."""
    counted: Counter[str] = Counter()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        name = str(frame.f_globals.get("__name__"))
        if not name.startswith("prefixcache"):
            return None
        counted[name] += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        plan_dataset(config)
    finally:
        sys.settrace(before)
    return counted


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"target": {"hit_ratio": "0.5000000000000000000001", "semantics": "static_prefix_ratio"}},
        {"request_order": {"within_group": "prefix_len_asc", "across_group": "shuffle"}},
        {"routing": {"cache_scope": "dp_local", "dp_size": 8, "policy": "group_round_robin"}},
        {"input_length": {"mode": "lognormal", "min": 16, "max": 9000, "median": 700, "sigma": 1}},
        {"input_length": {"mode": "histogram", "bins": [{"range": [64, 900], "weight": 1}]}},
    ],
)
def test_work_does_not_grow_with_the_requests(keys: dict[str, Any]) -> None:
    """100k requests in 100 groups run about as many lines as 2k do, though each has 50 times the requests."""
    raw: dict[str, Any] = {
        "input_length": {"mode": "truncated_normal", "min": 64, "max": 8192, "mean": 3000, "std": 1500},
        "prefix": {"group_count": 100},
        "hit_ratio": 0.5,
        **keys,
    }
    if "target" in keys:
        del raw["hit_ratio"]
    few, many = (work_of(configure(request_count=count, **raw)) for count in (2_000, 100_000))
    assert sum(few.values()) > 100  # the count itself works
    assert sum(many.values()) < 1.5 * sum(few.values())
    config = configure(request_count=100_000, **raw)
    plan = plan_dataset(config)
    target = Fraction(config.target.hit_ratio or 0)
    total = int(plan.shape.lengths.sum())
    designed = Fraction(int(plan.of_pass(config.target_pass).hit.sum()), total)
    assert abs(designed - target) <= Fraction(config.unit, 2 * total)
