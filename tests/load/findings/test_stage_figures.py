"""Figures of the stages of a load: which request belongs to which, and what is told of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prefixcache.load.findings.stage_figures import stage_figures
from prefixcache.load.run import run_benchmark
from prefixcache.load.sending.pace import make_pace, steady
from prefixcache.load.shapes.grammar import parse_load
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.load.handmade import make_dataset
from tests.load.sending.test_load_shapes import measured, options, read
from tests.load.test_run_reference import wishes


def test_one_stage_is_none() -> None:
    assert stage_figures(steady(4), [], 0.0) is None
    for text in ("poisson:3", "constant:3", "rates:3", "closed:3x2s"):
        assert stage_figures(make_pace(parse_load(text), 5), [], 0.0) is None


def test_a_stage_without_requests_is_there_with_nulls() -> None:
    pause, rest = stage_figures(make_pace(parse_load("rates:0x2s,5"), 3), [], 0.0) or []
    assert (pause["from_s"], pause["until_s"], pause["rate"], pause["requests"]) == (0.0, 2.0, 0.0, 0)
    assert (rest["from_s"], rest["until_s"], rest["concurrency"]) == (2.0, None, None)
    assert pause["ttft_s"]["p50"] is None and pause["achieved_rate"] is None


@pytest.mark.engine
@pytest.mark.parametrize("mode", ["warmup", "progressive_prefix_fill"])
def test_each_request_of_an_open_loop_is_in_the_stage_it_was_due_in(tmp_path: Path, mode: str) -> None:
    """With and without the request that a cold pass sends alone: the schedule goes on from the first."""
    dataset = make_dataset(tmp_path / "set", wishes(60), mode=mode)
    with EngineProcess(EngineOptions("embedded")) as engine:
        run_benchmark(dataset, tmp_path / "run", options(engine.url, load="rates:50x0.4s,0x0.2s,200", gating="none"))
    rows = measured(tmp_path / "run")
    [performance] = read(tmp_path / "run", "performance_metrics.json")["passes"]
    first, pause, last = performance["load"]["stages"]
    alone = mode != "warmup"
    assert [stage["requests"] for stage in (first, pause, last)] == [20 - alone, 0, 40]
    assert [stage["rate"] for stage in (first, pause, last)] == [50, 0, 200]
    assert [(s["from_s"], s["until_s"]) for s in (first, pause, last)] == [(0.0, 0.4), (0.4, pytest.approx(0.6)),
                                                                         (pytest.approx(0.6), None)]  # fmt: skip
    for stage, mine in ((first, rows[alone:20]), (last, rows[20:])):
        ttfts = [row["ttft_s"] for row in mine]
        assert stage["ttft_s"]["count"] == len(mine)
        assert stage["ttft_s"]["mean"] == pytest.approx(sum(ttfts) / len(ttfts), abs=2e-6)
        span = max(row["sent_s"] for row in mine) - min(row["sent_s"] for row in mine)
        assert stage["achieved_rate"] == pytest.approx((len(mine) - 1) / span, rel=1e-3)


@pytest.mark.engine
def test_a_failed_request_counts_in_its_stage(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(json.dumps([{"requests": 7, "status": 500}]))
    dataset = make_dataset(tmp_path / "set", wishes(30))
    with EngineProcess(EngineOptions("embedded", decode_tps=100, faults=str(plan))) as engine:
        run_benchmark(dataset, tmp_path / "run", options(engine.url, load="closed:1x0.3s,6", gating="none"))
    [performance] = read(tmp_path / "run", "performance_metrics.json")["passes"]
    stages = performance["load"]["stages"]
    assert [stage["concurrency"] for stage in stages] == [1, 6]
    assert sum(stage["requests"] for stage in stages) == 29  # the first of a cold pass goes before the load
    assert [stage["failed"] for stage in stages] == [1, 0]
    assert stages[0]["ttft_s"]["count"] == stages[0]["requests"] - 1
