"""RFC 3.4.4, the run's side: what is said (message, field, stage, remedy), how the run ends, what stays on disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.engines.http import Timeouts
from prefixcache.errors import PLACES, EnvironmentFailure
from prefixcache.load.options import Progress, RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.report.build import build_prefix_cache_report
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset

WISHES = [Wish("a", 16), Wish("b", 32), Wish("a", 32), Wish("b", 16), Wish("a", 48), Wish("b", 48)]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "set", WISHES)


def options(*urls: str, **more: Any) -> RunOptions:
    more.setdefault("timeouts", Timeouts(connect=2, idle=2, total=5))
    return RunOptions(urls=urls, send="ids", poll_interval=0.05, quiesce_timeout=1.0, **more)


def run_json(run: Path) -> Any:
    return json.loads((run / "runtime" / "run.json").read_text())


def run_id(dataset: Path) -> str:
    return str(json.loads((dataset / "manifest.json").read_text())["dataset_id"])


def rows(run: Path) -> list[dict[str, Any]]:
    return [json.loads(x) for x in (run / "runtime" / "request_results.jsonl").read_text().splitlines()]


def warned(run: Path, code: str) -> dict[str, Any]:
    """The one warning of a code, which says where it happened and what to do."""
    [warning] = [w for w in run_json(run)["warnings"] if w["code"] == code]
    assert set(PLACES) <= set(warning)
    assert warning["stage"] and warning["field"] and warning["remedy"]
    assert warning["dataset_id"] == run_json(run)["dataset_id"]
    return dict(warning)


def call(dataset: Path, run: Path, *arguments: str) -> Any:
    fixed = ["run", "--dataset", str(dataset), "--run-dir", str(run), "--no-prefect", "--json"]
    return CliRunner().invoke(app, [*fixed, *arguments])


def test_a_metrics_page_that_cannot_be_reached(dataset: Path, tmp_path: Path) -> None:
    with FakeServer() as server:
        with pytest.raises(EnvironmentFailure, match=r"metrics page of http://127\.0\.0\.1:9 cannot be read") as caught:
            run_benchmark(dataset, tmp_path / "run", options(server.url, metrics_urls=("http://127.0.0.1:9/metrics",)))
        assert (caught.value.field, caught.value.stage) == ("metrics_url", "scrape_metrics")
        assert (caught.value.dataset_id, caught.value.retry_count) == (run_id(dataset), 0)
        assert caught.value.remedy is not None and "--metrics-url" in caught.value.remedy
        assert server.completions == 0
        ended = call(dataset, tmp_path / "cli", "--url", server.url, "--metrics-url", "http://127.0.0.1:9")
    assert ended.exit_code == 3
    assert json.loads(ended.stdout)["error"]["field"] == "--metrics-url"  # as the user wrote it
    assert not (tmp_path / "run").exists() and not (tmp_path / "cli").exists()  # refused before it began


def test_counters_that_fall(dataset: Path, tmp_path: Path) -> None:
    """All requests are answered, but nobody knows how many tokens hit: partial, and never a ratio."""

    def behave(number: int, prompt: Any) -> str:
        if number == 4:
            server.queries = server.hits = 0  # less than before, and still more than at the beginning in the end
        return "slow"

    with FakeServer(behave=behave) as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server.url))
        server.completions = 0
        ended = call(dataset, tmp_path / "cli", "--url", server.url, "--send", "ids")
    assert (summary.status, summary.failed_requests, len(rows(tmp_path / "run"))) == ("partial", 0, 6)
    assert summary.passes[0]["actual_hit_rate"] is None
    assert summary.passes[0]["measured_hit_tokens"] is None
    warning = warned(tmp_path / "run", "counters_reset")
    assert "the counters of" in warning["message"] and server.url in warning["message"]
    assert (warning["stage"], warning["field"], warning["pass"]) == ("scrape_metrics", "metrics_url", "cold")
    report = build_prefix_cache_report(tmp_path / "run")
    assert (report["run_status"], report["verdict"]["code"]) == ("partial", "incomplete")
    assert "run_not_complete" not in report["passes"][0]["incomplete"]
    assert report["passes"][0]["performance"]["ok"] == 6
    assert ended.exit_code == 1
    assert json.loads(ended.stdout)["run_status"] == "partial"


@contextmanager
def served(port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "prefixcache.reference", "--port", str(port), "--end-with", str(os.getpid())]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(Path.cwd())}
    )
    try:
        assert child.stdout is not None
        yield child, child.stdout.readline().removeprefix("listening on ").strip()
    finally:
        child.kill()
        child.wait()


@pytest.mark.engine
def test_a_server_that_is_restarted_during_the_run(dataset: Path, tmp_path: Path) -> None:
    """The reference engine, killed after the third request and started again on the same port."""
    with ExitStack() as stack:
        child, url = stack.enter_context(served())

        def restart(step: Progress) -> None:
            if step.phase == "measured" and step.done == 3 and step.sample is None:
                os.kill(child.pid, signal.SIGKILL)
                child.wait()
                stack.enter_context(served(int(url.rsplit(":", 1)[1])))

        summary = run_benchmark(dataset, tmp_path / "run", options(url), restart)
    assert summary.status == ("failed" if summary.failed_requests else "partial")
    assert len(rows(tmp_path / "run")) == 6
    warning = warned(tmp_path / "run", "server_restarted")
    assert "was restarted within the interval" in warning["message"] and url in warning["message"]
    assert (warning["stage"], warning["field"]) == ("scrape_metrics", "url")
    assert summary.passes[0]["measured_hit_tokens"] is None
    [cache] = json.loads((tmp_path / "run" / "runtime" / "prefix_cache_metrics.json").read_text())["passes"]
    assert (cache["status"], cache["endpoints"][0]["restarted"]) == ("reset_detected", True)


@pytest.mark.engine
def test_a_server_that_dies_during_the_run(dataset: Path, tmp_path: Path) -> None:
    """Why there is no ratio is said as it is: the counters were there, and cannot be read any more."""
    with served() as (child, url):

        def kill(step: Progress) -> None:
            if step.phase == "measured" and step.done == 3 and step.sample is None:
                os.kill(child.pid, signal.SIGKILL)
                child.wait()

        run_benchmark(dataset, tmp_path / "run", options(url), kill)
    report = build_prefix_cache_report(tmp_path / "run", "zh")
    assert report["passes"][0]["missing"]["actual_hit_rate"] == "counters_unread_after"
    told = {w["code"]: w["message"] for w in run_json(tmp_path / "run")["warnings"]}
    assert told["not_idle"] == f"there is no connection to {url} after the pass"
    assert told["metrics"] == f"the metrics page of {url} cannot be read (connection refused)"
    assert told["metrics_missing"].startswith(f"{url} gave no metrics when it had ended, so")


def test_part_of_the_requests_failed(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(behave=lambda n, p: "http_500" if n in (1, 4) else "ok") as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server.url))
        server.completions = 0
        ended = call(dataset, tmp_path / "cli", "--url", server.url, "--send", "ids")
    assert (summary.status, summary.failed_requests) == ("failed", 2)
    warning = warned(tmp_path / "run", "requests_failed")
    assert warning["message"].startswith("2 of 6 requests failed (2 http_500); the first is r1: out of luck")
    assert (warning["stage"], warning["field"]) == ("run_benchmark", "url")
    assert (warning["request_id"], warning["group"], warning["retry_count"]) == ("r1", "b", 0)
    assert "request_results.jsonl" in warning["remedy"]
    assert [r["status"] for r in rows(tmp_path / "run")].count("http_error") == 2
    assert ended.exit_code == 1
    assert json.loads(ended.stdout)["run_status"] == "failed"


def test_metrics_missing_of_one_instance_of_two(dataset: Path, tmp_path: Path) -> None:
    """What the other counted is kept and marked as a part; it is not the run's ratio."""

    def behave(number: int, prompt: Any) -> str:
        if number == 1:
            second.metrics = "absent"
        return "ok"

    with FakeServer() as first, FakeServer(behave=behave) as second:
        summary = run_benchmark(dataset, tmp_path / "run", options(first.url, second.url))
    assert (summary.status, summary.failed_requests) == ("partial", 0)
    warning = warned(tmp_path / "run", "metrics_missing")
    assert second.url in warning["message"] and first.url not in warning["message"]
    assert (warning["stage"], warning["field"]) == ("scrape_metrics", "metrics_url")
    [cache] = json.loads((tmp_path / "run" / "runtime" / "prefix_cache_metrics.json").read_text())["passes"]
    assert cache["status"] == "partial"
    assert {e["endpoint"]: e["status"] for e in cache["endpoints"]} == {first.url: "ok", second.url: "missing"}
    assert "partial" in cache["global"]["counters"]["queries"]["flags"]
    report = build_prefix_cache_report(tmp_path / "run")
    assert report["verdict"]["code"] == "incomplete"


def test_residue_is_a_finding_with_a_remedy(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(cached=lambda n: 16 if n == 0 else 0) as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server.url, concurrency=3, allow_residue=True))
    assert summary.status == "complete"
    assert "--overwrite" in warned(tmp_path / "run", "residue")["remedy"]
    assert build_prefix_cache_report(tmp_path / "run")["verdict"]["code"] == "polluted"
