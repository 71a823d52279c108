"""Loads carried by several sender processes: the same moments, bounds and gates as with one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from prefixcache.load.run import run_benchmark
from prefixcache.load.sending.options import Sending
from prefixcache.load.shapes.grammar import parse_load
from prefixcache.load.shapes.schedule import arrival_offsets
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset
from tests.load.sending.test_load_shapes import measured, options, read
from tests.load.test_run_reference import wishes

pytestmark = pytest.mark.engine
THREE = Sending(processes=3)


@pytest.fixture(scope="module")
def slow() -> Iterator[EngineProcess]:
    """An answer of 3 tokens takes about 30 ms."""
    with EngineProcess(EngineOptions("embedded", decode_tps=100)) as process:
        yield process


@pytest.mark.parametrize("load", ["constant:200", "gamma:200,burstiness=0.5", "ramp:50..400,seconds=0.3", "trace"])
def test_moments_and_design_are_those_of_one_process(slow: EngineProcess, tmp_path: Path, load: str) -> None:
    if load == "trace":
        trace = tmp_path / "trace.jsonl"
        trace.write_text("".join(f'{{"timestamp": {n // 4 * 20}}}\n' for n in range(50)))
        load = f"trace:{trace}"
    dataset = make_dataset(tmp_path / "set", wishes(), mode="warmup")
    summary = run_benchmark(dataset, tmp_path / "run", options(slow.url, load=load, sending=THREE))
    assert (summary.status, summary.failed_requests) == ("complete", 0)
    [figures] = summary.passes
    assert figures["measured_hit_tokens"] == figures["expected_hit_tokens"] > 0
    sent = measured(tmp_path / "run")
    wanted = arrival_offsets(parse_load(load), 40)  # type: ignore[arg-type]
    scheduled = np.array([row["scheduled_s"] for row in sent])
    assert scheduled - scheduled[0] == pytest.approx(wanted - wanted[0], abs=3e-6)
    for row in sent:
        assert row["sent_s"] >= row["scheduled_s"] - 2e-6  # the workers' clock is this one
        assert row["sent_s"] == pytest.approx(row["ready_s"] + row["gate_wait_s"] + row["lag_s"], abs=5e-6)
        assert row["sent_s"] < row["first_token_s"] <= row["last_token_s"]
    [performance] = read(tmp_path / "run", "performance_metrics.json")["passes"]
    assert (performance["load"]["processes"], performance["load"]["loop"]) == (3, "open")


def test_max_in_flight_is_that_of_all_processes(slow: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(30), mode="warmup")
    chosen = options(slow.url, load="constant:1000", max_in_flight=4, gating="none", sending=THREE)
    run_benchmark(dataset, tmp_path / "run", chosen)
    [performance] = read(tmp_path / "run", "performance_metrics.json")["passes"]
    assert performance["load"]["in_flight_peak"] == 4
    assert performance["load"]["slot_waits"] > 15
    sent = measured(tmp_path / "run")
    ends = sorted(row["last_token_s"] for row in sent)
    assert all(row["ready_s"] >= ends[index] - 2e-6 for index, row in enumerate(sent[4:]))


@pytest.mark.parametrize("load", ["constant:100", "closed:3"])
def test_the_duration_ends_all_processes_alike(slow: EngineProcess, tmp_path: Path, load: str) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(60), mode="warmup")
    chosen = options(slow.url, load=load, duration=0.2, sending=THREE)
    summary = run_benchmark(dataset, tmp_path / "run", chosen)
    assert summary.status == "complete"
    sent = measured(tmp_path / "run")
    assert 3 <= len(sent) < 60
    begin = sent[0]["scheduled_s"] or min(row["ready_s"] for row in sent)
    assert max(max(row["scheduled_s"] or 0, row["ready_s"]) for row in sent) <= begin + 0.2 + 1e-3
    [entry] = read(tmp_path / "run", "run.json")["passes"]
    assert entry["sending"]["unsent"] == {"limit": 0, "duration": 60 - len(sent), "load": 0}


def test_stages_of_slots_across_processes(slow: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(40), mode="warmup")
    chosen = options(slow.url, load="closed:1x0.2s,4", gating="none", sending=THREE)
    run_benchmark(dataset, tmp_path / "run", chosen)
    sent = measured(tmp_path / "run")

    def in_flight(at: float) -> int:
        return sum(row["sent_s"] <= at < row["last_token_s"] for row in sent)

    turn = sent[0]["ready_s"] + 0.2
    assert all(in_flight(row["sent_s"]) == 1 for row in sent if row["sent_s"] < turn - 1e-3)
    assert max(in_flight(row["sent_s"]) for row in sent) == 4
    [performance] = read(tmp_path / "run", "performance_metrics.json")["passes"]
    one, four = performance["load"]["stages"]
    assert (one["concurrency"], four["concurrency"], one["requests"] + four["requests"]) == (1, 4, 40)


def test_gates_stand_between_processes(slow: EngineProcess, tmp_path: Path) -> None:
    """Each prompt needs the one before it, which another process may carry."""
    dataset = make_dataset(tmp_path / "set", [Wish("a", 16 * n, 20) for n in range(1, 13)])
    chosen = options(slow.url, load="constant:1000", gating="completion", sending=THREE)
    [figures] = run_benchmark(dataset, tmp_path / "run", chosen).passes
    assert figures["measured_hit_tokens"] == figures["expected_hit_tokens"] > 0
    sent = measured(tmp_path / "run")
    for earlier, later in itertools.pairwise(sent[1:]):
        assert later["sent_s"] >= earlier["last_token_s"]


def test_failures_in_any_process_are_on_record(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", [Wish("a", 16), *[Wish("b", 32)] * 19])
    ways = {3: "http_500", 5: "rst", 8: "http_500"}
    with FakeServer(behave=lambda n, p: ways.get(n, "ok"), kv_tokens=1 << 20) as server:
        chosen = options(server.url, load="constant:200", quiesce_timeout=2.0, sending=THREE)
        summary = run_benchmark(dataset, tmp_path / "run", chosen)
    assert (summary.status, summary.requests, summary.failed_requests) == ("failed", 20, 3)
    assert sorted(row["failure"] for row in measured(tmp_path / "run") if row["failure"]).count("http_500") == 2
