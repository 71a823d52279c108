"""Whole runs with the sender's options, against the reference engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prefixcache.load.options import RunOptions
from prefixcache.load.request.retries import Retries
from prefixcache.load.run import run_benchmark
from prefixcache.load.sending.options import Sending
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.build import build_prefix_cache_report
from tests.support.datasets import made
from tests.support.reading import said_by

pytestmark = pytest.mark.engine
SECRET = "Bearer sk-PLANTED-0123456789"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sent") / "ds"
    made(folder, request_count=60, output_length={"mode": "fixed", "value": 4}, execution={"mode": "compare"})
    return folder


def figures(run: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((run / "runtime" / name).read_text())["passes"]
    return found


def requests_of(run: Path) -> list[dict[str, Any]]:
    """Rows of the measured requests."""
    lines = (run / "runtime" / "request_results.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row["phase"] == "measured"]


@pytest.mark.parametrize("processes", [1, 3])
def test_any_number_of_processes_measures_the_design(dataset: Path, tmp_path: Path, processes: int) -> None:
    with EngineProcess(EngineOptions("embedded")) as engine:
        sending = Sending(processes=processes, headers={"X-Secret": SECRET}, extra_body={"top_k": 1})
        options = RunOptions(urls=(engine.url,), concurrency=16, sending=sending)
        summary = run_benchmark(dataset, tmp_path / "run", options)
    assert summary.status == "complete"
    for each in summary.passes:
        assert each["measured_hit_tokens"] == each["expected_hit_tokens"] > 0
    for each in figures(tmp_path / "run", "performance_metrics.json"):
        assert each["load"]["processes"] == processes
        assert each["load"]["sender"]["ticks"] > 0
        assert each["ttft_s"]["min"] > 0
    rows = requests_of(tmp_path / "run")
    assert len(rows) == 120
    for row in rows:
        assert row["ready_s"] <= row["sent_s"] <= row["first_byte_s"] <= row["first_token_s"] <= row["last_token_s"]
        assert (row["attempts"], row["failure"], row["output_by"], row["chunks"]) == (1, None, "usage", 4)
    shown = json.loads((tmp_path / "run/runtime/run.json").read_text())["options"]
    assert (shown["headers"], shown["extra_body"], shown["processes"]) == (["X-Secret"], ["top_k"], processes)
    for path in (tmp_path / "run/runtime").iterdir():
        assert "PLANTED" not in said_by(path), path.name


def test_warming_the_engine_warms_no_cache(dataset: Path, tmp_path: Path) -> None:
    with EngineProcess(EngineOptions("embedded")) as engine:
        options = RunOptions(urls=(engine.url,), concurrency=4, sending=Sending(engine_warmup=8))
        summary = run_benchmark(dataset, tmp_path / "run", options)
    assert summary.status == "complete"
    for each in summary.passes:
        assert each["measured_hit_tokens"] == each["expected_hit_tokens"]
    warm = json.loads((tmp_path / "run/runtime/run.json").read_text())["engine_warmup"]
    assert (warm["prompts"], warm["failed"], warm["failures"], warm["states_usage"]) == (8, 0, {}, True)
    assert len(requests_of(tmp_path / "run")) == 120  # the engine's warm-up is no request of the run


def test_a_retried_request_is_marked_and_warned_of(dataset: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(json.dumps([{"requests": [5, 9], "status": 503}, {"requests": 20, "reset": "before_headers"}]))
    with EngineProcess(EngineOptions("embedded", faults=str(plan))) as engine:
        options = RunOptions(urls=(engine.url,), concurrency=1, sending=Sending(retries=Retries(2, 0.01)))
        summary = run_benchmark(dataset, tmp_path / "run", options)
    assert summary.failed_requests == 0
    rows = requests_of(tmp_path / "run")
    again = [row["retried"] for row in rows if row["attempts"] > 1]
    assert sorted(again) == [["http_503"], ["http_503"], ["keepalive_closed"]]
    assert "retried" in {warning["code"] for warning in summary.warnings}
    shown = [warning["code"] for warning in build_prefix_cache_report(tmp_path / "run")["warnings"]]
    assert shown.count("requests_retried") == 1 and "retried" not in shown  # said once


def test_every_failure_is_counted_by_kind_and_kept_out_of_latencies(dataset: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        json.dumps(
            [
                {"requests": 3, "status": 429},
                {"requests": 7, "close": {"after_events": 2}},
                {"requests": 11, "stream": {"insert": [{"after_events": 1, "what": "error", "end": True}]}},
            ]
        )
    )
    with EngineProcess(EngineOptions("embedded", faults=str(plan))) as engine:
        summary = run_benchmark(dataset, tmp_path / "run", RunOptions(urls=(engine.url,), concurrency=1))
    assert (summary.status, summary.failed_requests) == ("failed", 3)
    rows = requests_of(tmp_path / "run")
    kinds = sorted(row["failure"] for row in rows if row["failure"])
    assert kinds == ["error_in_stream", "http_429", "incomplete"]
    cold = figures(tmp_path / "run", "performance_metrics.json")[0]
    assert (cold["ok"], cold["failed"], cold["ttft_s"]["count"]) == (57, 3, 57)


def test_output_tokens_that_no_usage_tells_are_counted_again(dataset: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    texts = [" also", " the"]  # a token each, whatever stands before
    plan.write_text(json.dumps([{"stream": {"texts": texts}}, {"requests": "10-", "stream": {"usage": "absent"}}]))
    with EngineProcess(EngineOptions("embedded", faults=str(plan))) as engine:
        summary = run_benchmark(dataset, tmp_path / "run", RunOptions(urls=(engine.url,), concurrency=1))
    assert summary.status == "complete"
    told = [(row["output_by"], row["completion_tokens"]) for row in requests_of(tmp_path / "run")]
    assert told[:9] == [("usage", 4)] * 9
    assert told[9:] == [("tokenizer", 4)] * 111
    assert not {"usage_absent", "output_tokens"} & {warning["code"] for warning in summary.warnings}
    for each in figures(tmp_path / "run", "performance_metrics.json"):
        assert each["output_tokens"] == 240
        assert each["tpot_s"]["count"] == 60


def test_an_extra_body_that_changes_the_answers_is_told(dataset: Path, tmp_path: Path) -> None:
    """What was sent is what is recorded, and nobody is told that ``ignore_eos`` was sent where it was not."""
    extra = {"max_tokens": 2, "min_tokens": None, "temperature": 0, "top_k": 5}
    with EngineProcess(EngineOptions("embedded")) as engine:
        options = RunOptions(urls=(engine.url,), concurrency=4, limit=20, sending=Sending(extra_body=extra))
        summary = run_benchmark(dataset, tmp_path / "run", options)
    sampling = {"temperature": 0, "ignore_eos": True, "min_tokens": None, "max_tokens": 2}
    assert json.loads((tmp_path / "run/runtime/run.json").read_text())["options"]["sampling"] == sampling
    said = {warning["code"]: warning["message"] for warning in summary.warnings}
    assert said["sampling_changed"].startswith("the extra body changes min_tokens, max_tokens: ")
    assert "20 of 20 answers have another number of tokens" in said["output_tokens"]
    assert "although" not in said["output_tokens"]
    assert {row["completion_tokens"] for row in requests_of(tmp_path / "run")} == {2}
    texts = [w["text_zh"] for w in build_prefix_cache_report(tmp_path / "run")["warnings"]]
    assert any("改写了 min_tokens、max_tokens" in text for text in texts)


def test_a_limited_run_is_no_contradiction_to_its_manifest(dataset: Path, tmp_path: Path) -> None:
    with EngineProcess(EngineOptions("embedded")) as engine:
        run_benchmark(dataset, tmp_path / "run", RunOptions(urls=(engine.url,), concurrency=4, limit=20))
    assert build_prefix_cache_report(tmp_path / "run")["warnings"] == []


def test_sglangs_own_route_measures_the_design(dataset: Path, tmp_path: Path) -> None:
    with EngineProcess(EngineOptions("embedded")) as engine:
        options = RunOptions(urls=(engine.url,), concurrency=4, sending=Sending(api="generate"))
        summary = run_benchmark(dataset, tmp_path / "run", options)
    assert summary.status == "complete"
    for each in summary.passes:
        assert each["measured_hit_tokens"] == each["expected_hit_tokens"]
