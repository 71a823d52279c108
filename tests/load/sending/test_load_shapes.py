"""Loads of every shape against the reference engine: what is sent when, what is not, and what is said of it."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.load.options import Progress, RunOptions
from prefixcache.load.preflight.dry_run import dry_run
from prefixcache.load.run import run_benchmark
from prefixcache.load.shapes.grammar import parse_load
from prefixcache.load.shapes.schedule import arrival_offsets
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.build import build_prefix_cache_report
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset
from tests.load.test_run_reference import wishes

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded")) as process:
        yield process


@pytest.fixture(scope="module")
def slow() -> Iterator[EngineProcess]:
    """An answer of 3 tokens takes about 30 ms."""
    with EngineProcess(EngineOptions("embedded", decode_tps=100)) as process:
        yield process


def options(url: str, **more: Any) -> RunOptions:
    return RunOptions(urls=(url,), send="ids", poll_interval=0.05, **more)


def read(run: Path, name: str) -> Any:
    return json.loads((run / "runtime" / name).read_text())


def rows(run: Path) -> list[dict[str, Any]]:
    lines = (run / "runtime" / "request_results.jsonl").read_text().splitlines()
    return sorted((json.loads(line) for line in lines), key=lambda row: row["order_index"])


def measured(run: Path) -> list[dict[str, Any]]:
    return [row for row in rows(run) if row["phase"] == "measured"]


def codes(summary: Any) -> set[str]:
    return {warning["code"] for warning in summary.warnings}


@pytest.mark.parametrize(
    "load",
    [
        "constant:200",
        "poisson:200",
        "gamma:200,burstiness=0.5,seed=3",
        "rates:100x0.1s,400",
        "ramp:50..400,seconds=0.3,curve=exponential",
        "ramp:50..400,seconds=0.3,burstiness=1",
        "trace",
    ],
)
def test_an_open_loop_keeps_its_schedule_and_the_design(engine: EngineProcess, tmp_path: Path, load: str) -> None:
    if load == "trace":
        trace = tmp_path / "trace.jsonl"
        trace.write_text("".join(f'{{"timestamp": {n // 4 * 20}}}\n' for n in range(50)))
        load = f"trace:{trace},scale=0.5"
    dataset = make_dataset(tmp_path / "set", wishes(), mode="warmup")
    summary = run_benchmark(dataset, tmp_path / "run", options(engine.url, load=load))
    assert (summary.status, summary.failed_requests) == ("complete", 0)
    [figures] = summary.passes
    assert figures["measured_hit_tokens"] == figures["expected_hit_tokens"] > 0
    sent = measured(tmp_path / "run")
    shape = parse_load(load)
    wanted = arrival_offsets(shape, 40)  # type: ignore[arg-type]
    scheduled = np.array([row["scheduled_s"] for row in sent])
    assert scheduled - scheduled[0] == pytest.approx(wanted - wanted[0], abs=3e-6)
    for row in sent:
        assert row["sent_s"] >= row["scheduled_s"] - 2e-6
        assert row["ready_s"] == row["scheduled_s"]
        assert row["sent_s"] == pytest.approx(row["ready_s"] + row["gate_wait_s"] + row["lag_s"], abs=5e-6)
    run = read(tmp_path / "run", "run.json")
    assert run["passes"][0]["sending"] == {
        "planned": 40,
        "sent": 40,
        "unsent": {"limit": 0, "duration": 0, "load": 0},
    }
    assert (run["options"]["load"], run["options"]["concurrency"]) == (load, None)
    [performance] = read(tmp_path / "run", "performance_metrics.json")["passes"]
    told = performance["load"]
    assert (told["shape"], told["loop"], told["max_in_flight"]) == (load, "open", None)
    assert told["asked_rate"] == pytest.approx(39 / (wanted[-1] - wanted[0]), rel=1e-4)
    span = sent[-1]["sent_s"] - sent[0]["sent_s"]
    assert told["achieved_rate"] == pytest.approx(39 / span, rel=0.05)
    report = build_prefix_cache_report(tmp_path / "run")
    assert report["verdict"]["code"] == "exact"


def test_the_first_request_of_a_cold_pass_goes_alone_and_the_clock_begins_after_it(
    engine: EngineProcess, tmp_path: Path
) -> None:
    dataset = make_dataset(tmp_path / "set", wishes())
    summary = run_benchmark(dataset, tmp_path / "run", options(engine.url, load="constant:200", duration=0.1))
    sent = measured(tmp_path / "run")
    assert sent[0]["scheduled_s"] is None
    assert sent[1]["scheduled_s"] >= sent[0]["last_token_s"]
    assert np.diff([row["scheduled_s"] for row in sent[1:]]) == pytest.approx(0.005, abs=3e-6)
    assert len(sent) <= 21  # 0 ... 0.1 s: the first, and 20 by the clock
    [figures] = summary.passes
    assert figures["measured_hit_tokens"] == figures["expected_hit_tokens"] == sum(r["expected_hit_len"] for r in sent)


def test_a_stalled_client_catches_up_and_says_so(engine: EngineProcess, tmp_path: Path) -> None:
    """Deadlines are absolute: after a stall of the loop the schedule is where it was, and the lag is on record."""
    dataset = make_dataset(tmp_path / "set", wishes(100), mode="warmup")

    def stall(event: Progress) -> None:
        if (event.phase, event.done) == ("measured", 20):
            time.sleep(0.25)

    summary = run_benchmark(dataset, tmp_path / "run", options(engine.url, load="constant:200"), stall)
    sent = measured(tmp_path / "run")
    assert np.diff([row["scheduled_s"] for row in sent]) == pytest.approx(0.005, abs=3e-6)
    assert len(sent) == 100
    assert sum(row["lag_s"] > 0.1 for row in sent) >= 10  # of the 30 due in the first 150 ms of it
    assert all(row["gate_wait_s"] < 0.25 for row in sent)
    assert "load_lag" in codes(summary)
    [performance] = read(tmp_path / "run", "performance_metrics.json")["passes"]
    assert performance["load"]["late_sends"] >= 10


def test_gates_hold_an_open_loop_back_and_it_is_said(slow: EngineProcess, tmp_path: Path) -> None:
    """Each prompt needs the one before it, whose answer takes longer than the gap."""
    chain = [Wish("a", 16 * n, 20) for n in range(1, 13)]
    dataset = make_dataset(tmp_path / "set", chain)
    summary = run_benchmark(dataset, tmp_path / "run", options(slow.url, load="constant:1000", gating="completion"))
    [figures] = summary.passes
    assert figures["measured_hit_tokens"] == figures["expected_hit_tokens"] > 0
    assert "load_gated" in codes(summary)
    sent = measured(tmp_path / "run")
    for earlier, later in itertools.pairwise(sent[1:]):
        assert later["sent_s"] >= earlier["last_token_s"]
        opened = later["scheduled_s"] + later["gate_wait_s"]
        assert later["gate_wait_s"] > 0
        assert opened >= earlier["last_token_s"] - 5e-6
        assert later["lag_s"] == pytest.approx(later["sent_s"] - opened, abs=5e-6)
    [performance] = read(tmp_path / "run", "performance_metrics.json")["passes"]
    assert performance["load"]["achieved_rate"] < 0.9 * performance["load"]["asked_rate"]
    assert performance["load"]["gate_waits"] >= 10
    report = build_prefix_cache_report(tmp_path / "run")
    assert "load_gated" in {warning["code"] for warning in report["warnings"]}
    assert all("门控" in w["text_zh"] for w in report["warnings"] if w["code"] == "load_gated")


def test_max_in_flight_holds(slow: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(30), mode="warmup")
    chosen = {"load": "constant:1000", "max_in_flight": 3, "gating": "none"}
    summary = run_benchmark(dataset, tmp_path / "run", options(slow.url, **chosen))
    [performance] = read(tmp_path / "run", "performance_metrics.json")["passes"]
    assert performance["load"]["in_flight_peak"] == 3
    assert performance["load"]["slot_waits"] > 20
    assert "load_slots" in codes(summary)
    sent = measured(tmp_path / "run")
    ends = sorted(row["last_token_s"] for row in sent)
    for index, row in enumerate(sent[3:]):  # the (n + 3)th goes when the nth has ended
        assert row["ready_s"] >= ends[index] - 2e-6
        assert row["lag_s"] == pytest.approx(row["sent_s"] - row["ready_s"], abs=5e-6)
    assert read(tmp_path / "run", "run.json")["options"]["concurrency"] == 3


@pytest.mark.parametrize("load", ["constant:100", "closed:2"])
def test_nothing_is_sent_after_the_duration(slow: EngineProcess, tmp_path: Path, load: str) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(60), mode="warmup")
    summary = run_benchmark(dataset, tmp_path / "run", options(slow.url, load=load, duration=0.2))
    assert (summary.status, summary.failed_requests) == ("complete", 0)
    sent = measured(tmp_path / "run")
    assert 2 <= len(sent) <= 21
    assert all(row["status"] == "ok" and row["last_token_s"] is not None for row in sent)  # those in flight finish
    begin = sent[0]["scheduled_s"] if load != "closed:2" else sent[0]["ready_s"]
    assert max(max(row["scheduled_s"] or 0, row["ready_s"]) for row in sent) <= begin + 0.2 + 1e-3
    run = read(tmp_path / "run", "run.json")
    unsent = {"limit": 0, "duration": 60 - len(sent), "load": 0}
    assert run["passes"][0]["sending"] == {"planned": 60, "sent": len(sent), "unsent": unsent}
    [figures] = summary.passes
    assert figures["expected_hit_tokens"] == sum(row["expected_hit_len"] for row in sent)
    assert figures["measured_hit_tokens"] == figures["expected_hit_tokens"]
    assert figures["designed_hit_ratio"] == figures["expected_hit_tokens"] / sum(row["input_len"] for row in sent)
    report = build_prefix_cache_report(tmp_path / "run")
    [told] = report["passes"]
    assert (report["verdict"]["code"], told["incomplete"], told["requests"]["not_sent"]) == ("exact", [], 0)
    assert told["sending"]["unsent"] == unsent
    assert (told["construction_deviation"], told["missing"]["construction_deviation"]) == (
        None,
        "part_of_the_dataset_sent",
    )


@pytest.mark.parametrize("mode", ["progressive_prefix_fill", "compare", "replay"])
def test_a_limit_takes_the_first_requests(engine: EngineProcess, tmp_path: Path, mode: str) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(30), mode=mode)
    summary = run_benchmark(dataset, tmp_path / "run", options(engine.url, limit=11, concurrency=4))
    assert (summary.status, summary.failed_requests) == ("complete", 0)
    for figures in summary.passes:
        assert (figures["requests"], figures["expected_hit_tokens"]) == (11, figures["measured_hit_tokens"])
    assert {row["order_index"] for row in measured(tmp_path / "run")} == set(range(11))
    for entry in read(tmp_path / "run", "run.json")["passes"]:
        assert entry["sending"] == {"planned": 30, "sent": 11, "unsent": {"limit": 19, "duration": 0, "load": 0}}
    assert build_prefix_cache_report(tmp_path / "run")["verdict"]["code"] == "exact"
    facts = dry_run(dataset, options(engine.url, limit=11))
    assert all(row["requests"] == 11 for row in facts["passes"])


def test_a_limit_beyond_the_dataset_is_none(engine: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(5))
    run_benchmark(dataset, tmp_path / "run", options(engine.url, limit=99))
    [entry] = read(tmp_path / "run", "run.json")["passes"]
    assert entry["sending"] == {"planned": 5, "sent": 5, "unsent": {"limit": 0, "duration": 0, "load": 0}}


@pytest.mark.parametrize("load", ["rates:200x0.05s", "closed:1x0.05s"])
def test_a_shape_that_ends_ends_the_pass(slow: EngineProcess, tmp_path: Path, load: str) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(40), mode="warmup")
    summary = run_benchmark(dataset, tmp_path / "run", options(slow.url, load=load))
    [entry] = read(tmp_path / "run", "run.json")["passes"]
    assert entry["sending"]["unsent"]["load"] == 40 - entry["sending"]["sent"] > 0
    assert entry["sending"]["sent"] == (10 if load.startswith("rates") else len(measured(tmp_path / "run")))
    assert summary.status == "complete"


def test_stages_of_a_closed_loop(slow: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(40), mode="warmup")
    run_benchmark(dataset, tmp_path / "run", options(slow.url, load="closed:1x0.2s,4", gating="none"))
    sent = measured(tmp_path / "run")
    assert len(sent) == 40

    def in_flight(at: float) -> int:
        return sum(row["sent_s"] <= at < row["last_token_s"] for row in sent)

    turn = sent[0]["ready_s"] + 0.2
    first = [row for row in sent if row["ready_s"] < turn - 1e-3]
    assert len(first) >= 2
    assert all(in_flight(row["sent_s"]) == 1 for row in first)
    assert max(in_flight(row["sent_s"]) for row in sent) == 4
    assert all(row["scheduled_s"] is None for row in sent)


def test_a_last_stage_that_is_never_reached_is_not_waited_for(engine: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(12))
    began = time.perf_counter()
    summary = run_benchmark(dataset, tmp_path / "run", options(engine.url, load="closed:2x1h,64"))
    assert (summary.passes[0]["requests"], summary.status) == (12, "complete")
    assert time.perf_counter() - began < 600


def test_requests_due_at_once_leave_in_order(engine: EngineProcess, tmp_path: Path) -> None:
    """All of them on connections that have to be opened first. A busy machine may keep one from that for too long."""
    dataset = make_dataset(tmp_path / "set", wishes(60), mode="warmup")
    trace = tmp_path / "burst.jsonl"
    trace.write_text('{"timestamp": 5}\n' * 60)
    orders = []
    for _ in range(5):
        chosen = options(engine.url, load=f"trace:{trace}", gating="none", overwrite=True)
        run_benchmark(dataset, tmp_path / "run", chosen)
        [entry] = read(tmp_path / "run", "run.json")["passes"]
        sent = [row["sent_s"] for row in measured(tmp_path / "run")]
        assert (entry["order"]["compared"], len(sent)) == (60, 60)
        assert entry["order"]["as_planned"] is (sent == sorted(sent))
        orders.append(entry["order"]["as_planned"])
        if orders[-1]:
            break
    assert orders[-1]


def test_failures_of_an_open_loop_are_all_on_record(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", [Wish("a", 16), *[Wish("b", 32)] * 19])
    ways = {3: "http_500", 5: "rst", 8: "http_500"}
    with FakeServer(behave=lambda n, p: ways.get(n, "ok"), kv_tokens=1 << 20) as server:
        chosen = RunOptions(urls=(server.url,), poll_interval=0.05, load="constant:200", quiesce_timeout=2.0)
        summary = run_benchmark(dataset, tmp_path / "run", chosen)
    assert (summary.status, summary.requests, summary.failed_requests) == ("failed", 20, 3)
    assert len(measured(tmp_path / "run")) == 20


def test_command_line(engine: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(20), text=False)
    base = ["run", "--dataset", str(dataset), "--url", engine.url, "--json"]
    run = [*base, "--run-dir", str(tmp_path / "run"), "--no-prefect", "--load", "poisson:400", "--max-in-flight", "9"]
    done = CliRunner().invoke(app, [*run, "--duration", "30", "--limit", "15"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["passes"][0]["sending"]["sent"] == 15
    shown = report["server"]["options"]
    assert (shown["load"], shown["max_in_flight"], shown["duration_s"], shown["limit"]) == ("poisson:400", 9, 30.0, 15)
    dry = CliRunner().invoke(app, [*base, "--dry-run", "--load", "rates:10x1s,100", "--limit", "15"])
    facts = json.loads(dry.stdout)
    assert (facts["load"], facts["scheduled_seconds"]) == ("rates:10x1s,100", pytest.approx(1.04))
    assert facts["concurrency"] is None
    wrong = CliRunner().invoke(app, [*base, "--dry-run", "--load", "poisson"])
    assert (wrong.exit_code, json.loads(wrong.stdout)["error"]["field"]) == (2, "--load")
