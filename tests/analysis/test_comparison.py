"""The three-way comparison and its nulls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.analysis.breakdown import domain_rows, endpoint_rows, group_rows
from prefixcache.analysis.comparison import compare_pass
from prefixcache.analysis.rundir import load_run
from tests.report.handmade import FOUR, SERVER, Ask, counted, figure, make_run


def compared(path: Path, name: str = "cold", **more: Any) -> dict[str, Any]:
    return compare_pass(load_run(make_run(path, more.pop("asks", FOUR), **more)), name)


def test_the_three_ratios_and_both_deviations(tmp_path: Path) -> None:
    figures = compared(tmp_path, target=0.48, counters={"cold": counted(180, 400)})
    assert (figures["target_hit_ratio"], figures["designed_hit_ratio"], figures["actual_hit_rate"]) == (0.48, 0.5, 0.45)
    assert figures["construction_deviation"] == 0.02
    assert figures["runtime_deviation"] == -0.05
    assert (figures["expected_hit_tokens"], figures["measured_hit_tokens"]) == (200, 180)
    assert (figures["incomplete"], figures["missing"]) == ([], {})


def test_equal_tokens_deviate_by_exactly_nothing(tmp_path: Path) -> None:
    asks = tuple(Ask(length=97, hit=h) for h in (0, 31, 13))
    figures = compared(tmp_path, asks=asks, target=None)
    assert figures["runtime_deviation"] == 0


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        ({"hits": figure(None, flags=["absent"]), "queries": figure(None, flags=["absent"])}, "counters_absent"),
        ({"hits": figure(None, flags=["reset_detected"]), "queries": figure(None)}, "counters_reset"),
    ],
)
def test_unknown_counters_are_null_with_a_reason(tmp_path: Path, pair: dict[str, Any], why: str) -> None:
    entry = counted(None, None) | {"global": {"counters": pair, "notes": []}}
    figures = compared(tmp_path, counters={"cold": entry})
    assert [figures[k] for k in ("actual_hit_rate", "measured_hit_tokens", "runtime_deviation")] == [None] * 3
    assert figures["missing"]["measured_hit_tokens"] == figures["missing"]["actual_hit_rate"] == why
    assert figures["incomplete"] == ["counters_missing"]
    assert figures["client_cached_tokens"] == 200


def test_block_counters_give_a_ratio_but_no_tokens(tmp_path: Path) -> None:
    pair = {"hits": figure(12, "blocks"), "queries": figure(24, "blocks")}
    entry = counted(None, None) | {"actual_hit_rate": 0.5, "global": {"counters": pair, "notes": []}}
    figures = compared(tmp_path, counters={"cold": entry})
    assert (figures["actual_hit_rate"], figures["measured_hit_tokens"], figures["runtime_deviation"]) == (0.5, None, 0)
    assert figures["missing"]["measured_hit_tokens"] == "counters_in_blocks"
    assert figures["incomplete"] == []


def test_no_query_is_no_ratio(tmp_path: Path) -> None:
    figures = compared(tmp_path, counters={"cold": counted(0, 0)})
    assert (figures["actual_hit_rate"], figures["missing"]["actual_hit_rate"]) == (None, "no_queries")


def test_more_hits_than_queries_are_shown_as_they_are(tmp_path: Path) -> None:
    figures = compared(tmp_path, counters={"cold": counted(500, 400)})
    assert (figures["actual_hit_rate"], figures["runtime_deviation"]) == (1.25, 0.75)


def test_failures_are_counted_and_hide_nothing(tmp_path: Path) -> None:
    figures = compared(tmp_path, asks=(*FOUR, Ask(status="timeout"), Ask(status=None)))
    assert figures["incomplete"] == ["requests_failed", "requests_not_sent"]
    assert figures["actual_hit_rate"] == 0.5
    assert figures["missing"] == {"client_cached_tokens": "requests_without_answer"}
    assert figures["performance"]["failed"] == 1


def test_a_pass_that_never_ran_is_null_and_says_so(tmp_path: Path) -> None:
    make_run(tmp_path, FOUR, mode="compare", run={"status": "failed", "error": {"message": "the server went away"}})
    run = load_run(tmp_path)
    del run.counters["hot"], run.performance["hot"]
    cold, hot = compare_pass(run, "cold"), compare_pass(run, "hot")
    assert cold["incomplete"] == []
    assert hot["incomplete"] == ["run_not_complete", "counters_missing"]
    assert hot["missing"]["actual_hit_rate"] == "pass_not_measured"
    assert hot["performance"]["ok"] == 4, "figures of the answers that there are"


def test_the_other_pass_has_no_target(tmp_path: Path) -> None:
    figures = compared(tmp_path, "hot", mode="compare")
    assert figures["missing"]["target_hit_ratio"] == "target_of_other_pass"
    assert figures["first_request_hit"] is None
    replay = compared(tmp_path / "r", target=None)
    assert replay["missing"]["construction_deviation"] == "no_target"


def test_groups_have_the_client_as_their_witness(tmp_path: Path) -> None:
    asks = (Ask("a", hit=0), Ask("b", hit=40, cached=None), Ask("a", hit=50), Ask("b", status="timeout"))
    run = load_run(make_run(tmp_path, asks))
    rows = group_rows(run.measured("cold"), "cold", [*run.manifest["groups"], {"group_id": "empty"}])
    assert [r["group_id"] for r in rows] == ["a", "b", "empty"]
    a, b, empty = rows
    assert (a["designed_hit_ratio"], a["client_cached_tokens"], a["client_hit_ratio"]) == (0.25, 50, 0.25)
    assert (b["expected_hit_tokens"], b["client_cached_tokens"], b["failed"]) == (90, None, 1)
    assert (empty["designed_hit_ratio"], empty["client_cached_tokens"]) == (None, None)


def test_domains_and_engines_stand_beside_their_plan(tmp_path: Path) -> None:
    asks = (Ask(hit=0), Ask(hit=0, domain=1), Ask(hit=60), Ask(hit=40, domain=1))
    engines = [
        {"engine": str(n), "counters": {"hits": figure(h), "queries": figure(200)}} for n, h in ((0, 60), (1, 30))
    ]
    entry = {
        "endpoints": [
            {"endpoint": SERVER, "status": "ok", "counters": {"hits": figure(90)}, "hit_rate": 0.2, "engines": engines}
        ],
        "domains": [{"domain": 1, "measured_hit_tokens": 30, "measured_query_tokens": 200, "route_confirmed": True}],
    }
    run = load_run(make_run(tmp_path, asks, counters={"cold": entry}))
    rows = run.measured("cold")
    first, second = domain_rows(rows, "cold", run.counters["cold"])
    assert (first["expected_hit_tokens"], first["measured_hit_tokens"], first["route_confirmed"]) == (60, None, None)
    assert (second["actual_hit_rate"], second["runtime_deviation"]) == (0.15, -0.05)
    total, zero, one = endpoint_rows(rows, "cold", run.counters["cold"], 2)
    assert (total["engine"], total["expected_hit_tokens"], total["actual_hit_rate"]) == (None, 100, 0.2)
    assert (zero["designed_hit_ratio"], zero["actual_hit_rate"]) == (0.3, 0.3)
    assert (one["expected_hit_tokens"], one["measured_hit_tokens"], one["runtime_deviation"]) == (40, 30, -0.05)


def test_engines_of_a_shared_plan_have_no_plan_of_their_own(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path))
    engines = [{"engine": str(n), "counters": {}} for n in range(2)]
    entry = {"endpoints": [{"endpoint": SERVER, "counters": {}, "engines": engines}]}
    rows = endpoint_rows(run.measured("cold"), "cold", entry, 1)
    assert [r["expected_hit_tokens"] for r in rows] == [200, None, None]
    assert [r["measured_hit_tokens"] for r in rows] == [None] * 3
