"""Which verdict a run gets, and which row of RFC 3.3.21 it is held to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.analysis.comparison import compare_pass
from prefixcache.analysis.rundir import load_run
from prefixcache.analysis.verdict import judge_pass, rfc_range, worst_pass
from tests.report.handmade import FOUR, Ask, counted, figure, make_run


def judged(path: Path, name: str = "cold", **more: Any) -> dict[str, Any]:
    run = load_run(make_run(path, more.pop("asks", FOUR), **more))
    return judge_pass(run, compare_pass(run, name))


def hits(tokens: int) -> dict[str, Any]:
    return {"counters": {"cold": counted(tokens, 400)}}


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({}, "exact"),
        (hits(201), "within_range"),
        (hits(180), "within_range"),  # 5 pp to the token: still within
        (hits(179), "deviates"),
        (hits(221), "deviates"),
        (hits(500), "deviates"),
        ({"asks": (*FOUR, Ask(status="timeout"))}, "incomplete"),
        ({"counters": {"cold": counted(None, None)}}, "incomplete"),
        ({"counters": {"cold": {"status": "partial"}}}, "incomplete"),
        ({"run": {"status": "partial", "finished_at": None}}, "incomplete"),
        ({"asks": (Ask(hit=0, cached=16), *FOUR[1:])}, "polluted"),
        ({"counters": {"cold": {"residue": {"detected": True, "evidence": ["seen"]}}}}, "polluted"),
        ({"validation": {"validation_status": "FAIL"}, "target": 0.9}, "deviates"),
        ({"asks": (*FOUR, Ask(hit=50, cached=66), Ask(hit=50, cached=34))}, "within_range"),
    ],
)
def test_codes(tmp_path: Path, more: dict[str, Any], code: str) -> None:
    assert judged(tmp_path, **more)["code"] == code


@pytest.mark.parametrize("queries", [100, 399, 401, 416, 800])
def test_counters_that_saw_other_tokens_than_were_sent_are_no_measure(tmp_path: Path, queries: int) -> None:
    assert judged(tmp_path, counters={"cold": counted(queries // 2, queries)})["code"] == "incomplete"


@pytest.mark.parametrize("warning", ["block_size_differs", "more_ranks", "kv_capacity", "prefix_caching_off"])
def test_a_plan_that_does_not_fit_is_not_within_range(tmp_path: Path, warning: str) -> None:
    run = {"warnings": [{"code": warning, "message": "…"}]}
    assert judged(tmp_path / "near", run=run, **hits(196))["code"] == "misfit"
    assert judged(tmp_path / "far", run=run, **hits(100))["code"] == "deviates"
    assert judged(tmp_path / "same", run=run, **hits(200))["code"] == "exact"


def test_a_hot_pass_may_hit_at_once(tmp_path: Path) -> None:
    asks = tuple(Ask(hit=0, hot_hit=50) for _ in range(4))
    assert judged(tmp_path, "hot", asks=asks, mode="compare")["code"] == "exact"


def test_the_larger_deviation_is_named(tmp_path: Path) -> None:
    assert judged(tmp_path, **hits(100))["larger_deviation"] == "runtime"
    failed = {"validation": {"validation_status": "FAIL"}, "target": 0.9}
    assert judged(tmp_path / "c", **failed)["larger_deviation"] == "construction"
    assert judged(tmp_path / "n")["larger_deviation"] is None


@pytest.mark.parametrize(
    ("asks", "order", "row", "limit", "literal"),
    [
        (FOUR, "generated", "fixed_single_prefix", 0.05, True),
        ((*FOUR, Ask("b")), "generated", "fixed_multi_prefix", 0.05, True),
        ((*FOUR, Ask(length=200)), "input_len_asc", "variable_short_to_long_cold", 0.05, True),
        ((*FOUR, Ask(length=200)), "shuffle", "variable_short_to_long_cold", 0.05, False),
        ((*FOUR, Ask("b", domain=1)), "generated", "multi_prefix_multi_instance", 0.1, True),
        ((*FOUR, Ask(domain=1)), "generated", "multi_prefix_multi_instance", 0.1, False),
    ],
)
def test_rows_of_the_rfc(
    tmp_path: Path, asks: tuple[Ask, ...], order: str, row: str, limit: float, literal: bool
) -> None:
    found = rfc_range(load_run(make_run(tmp_path, asks, order=order)), "cold")
    assert found.to_json() == {"row": row, "limit": limit, "literal": literal}


def test_what_can_move_hits_is_listed(tmp_path: Path) -> None:
    pair = {"hits": figure(100), "queries": figure(400), "preemptions": figure(3, "events")}
    entry = counted(100, 400) | {"global": {"counters": pair, "notes": []}}
    run = {"warnings": [{"code": "kv_capacity", "message": "…"}, {"code": "not_idle", "message": "…", "pass": "hot"}]}
    asks = (Ask(hit=0, route=0, went_to=1), *FOUR[1:])
    found = judged(tmp_path, asks=asks, counters={"cold": entry}, run=run)
    assert found["evidence"] == ["kv_capacity", "preemptions", "routes"]


def test_the_worst_pass_speaks_for_the_run() -> None:
    def figures(name: str, code: str) -> dict[str, Any]:
        return {"name": name, "is_target_pass": name == "hot", "verdict": {"code": code}}

    assert worst_pass([figures("cold", "exact"), figures("hot", "deviates")])["name"] == "hot"
    assert worst_pass([figures("cold", "incomplete"), figures("hot", "polluted")])["name"] == "cold"
    assert worst_pass([figures("cold", "exact"), figures("hot", "exact")])["name"] == "hot"
