"""Whole runs against a server that misbehaves: what is refused, what is recorded, what stays on disk."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prefixcache.engines.http import Timeouts
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.load.options import Progress, RunOptions
from prefixcache.load.run import run_benchmark
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset
from tests.support.reading import said_by, warned_of

WISHES = [Wish("a", 16), Wish("b", 32), Wish("a", 32), Wish("b", 16), Wish("a", 48), Wish("b", 48)]


def options(server: FakeServer, **more: Any) -> RunOptions:
    more.setdefault("timeouts", Timeouts(connect=2, idle=0.5, total=3))
    more.setdefault("quiesce_timeout", 2.0)
    return RunOptions(urls=(server.url,), poll_interval=0.05, **more)


def read(run: Path, name: str) -> Any:
    return json.loads((run / "runtime" / name).read_text())


def rows(run: Path, name: str = "request_results.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "runtime" / name).read_text().splitlines()]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "set", WISHES)


def test_failed_requests_make_a_failed_run_that_keeps_every_count(dataset: Path, tmp_path: Path) -> None:
    ways = {1: "http_500", 2: "rst", 4: "silent"}
    steps: list[Progress] = []
    with FakeServer(behave=lambda n, p: ways.get(n, "ok"), kv_tokens=100) as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server, concurrency=2), steps.append)
    assert (summary.status, summary.requests, summary.failed_requests) == ("failed", 6, 3)
    run = read(tmp_path / "run", "run.json")
    assert (run["status"], run["requests"], run["failed_requests"]) == ("failed", 6, 3)
    assert {"requests_failed", "kv_capacity"} <= {w["code"] for w in run["warnings"]}
    statuses = sorted(r["status"] for r in rows(tmp_path / "run"))
    assert statuses == ["http_error", "ok", "ok", "ok", "stream_error", "timeout"]
    [figures] = read(tmp_path / "run", "performance_metrics.json")["passes"]
    assert figures["counts_by_status"] == {"http_error": 1, "ok": 3, "stream_error": 1, "timeout": 1}
    assert (figures["success_rate"], figures["timeout_rate"]) == (0.5, 1 / 6)
    assert figures["ttft_s"]["count"] == 3
    [cache] = read(tmp_path / "run", "prefix_cache_metrics.json")["passes"]
    assert cache["prompt_token_check"]["difference"] < 0
    assert "requests failed" in cache["prompt_token_check"]["explanation"][0]
    assert cache["kv_usage"]["max"] == 0.25
    measured = [s for s in steps if s.phase == "measured"]
    assert [s for s in measured if s.sample is None][-1] == Progress("cold", "measured", 6, 6, 3)
    last = measured[-1].sample
    assert last is not None
    assert (last.mark, last.sent, last.ended, last.failed) == ("counted", 6, 6, 3)


def test_gates_break_when_what_they_wait_for_fails(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(behave=lambda n, p: "http_500") as server:
        run_benchmark(dataset, tmp_path / "run", options(server, concurrency=6))
    broken = {r["request_id"] for r in rows(tmp_path / "run") if r["gate_broken"]}
    assert broken == {"r2", "r3", "r4", "r5"}
    assert "gate_broken" in {w["code"] for w in read(tmp_path / "run", "run.json")["warnings"]}


@pytest.mark.parametrize(("reset", "text"), [("absent", "VLLM_SERVER_DEV_MODE=1"), ("busy", "still running")])
def test_a_cache_that_cannot_be_emptied_is_refused(
    dataset: Path, tmp_path: Path, reset: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prefixcache.engines.server.BUSY_FOR_S", 0.3)
    with FakeServer(reset=reset) as server:
        with pytest.raises(InputError, match="cannot be proven empty") as caught:
            run_benchmark(dataset, tmp_path / "run", options(server))
        sent = [body for _, body in server.requests("/v1/completions")]
        assert all("cache_salt" in body for body in sent) and len(sent) == 3  # only the probe for a salt
        assert "does not keep caches apart by cache_salt" in str(caught.value)
        assert text in str(caught.value)
        assert "--allow-residue" in str(caught.value)
        assert read(tmp_path / "run", "run.json")["status"] == "failed"
        summary = run_benchmark(dataset, tmp_path / "run", options(server, allow_residue=True))
    assert summary.status == "complete"
    assert "cache_not_reset" in {w["code"] for w in summary.warnings}


def test_old_servers_that_do_not_confirm_a_reset_are_noted(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(reset="empty") as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server))
    assert "reset_unconfirmed" in {w["code"] for w in summary.warnings}


def test_residue_is_seen_in_the_first_answer(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(cached=lambda n: 16 if n == 0 else 0) as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server, concurrency=3, allow_residue=True))
    [warning] = [w for w in summary.warnings if w["code"] == "residue"]
    assert "r0" in warning["message"]
    assert summary.passes[0]["residue"]["detected"] is True


def test_residue_is_seen_in_the_counters_where_answers_do_not_tell(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(cached=lambda n: None, counted_hits=lambda n: 16 if n == 0 else 0) as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server, allow_residue=True))
    [warning] = [w for w in summary.warnings if w["code"] == "residue"]
    assert "16 hit tokens after the first request" in warning["message"]


def test_an_answer_that_does_not_tell_is_not_a_proof(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(cached=lambda n: None, metrics="no_hits") as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server, concurrency=2))
    assert summary.passes[0]["residue"]["detected"] is None
    assert summary.passes[0]["isolation"]["verified"] is None
    assert "emptiness_unknown" in {w["code"] for w in summary.warnings}
    [cache] = read(tmp_path / "run", "prefix_cache_metrics.json")["passes"]
    assert cache["client"]["cached_tokens"] is None


def test_other_token_counts_in_the_first_answers_stop_the_run(dataset: Path, tmp_path: Path) -> None:
    def behave(number: int, prompt: Any) -> str:
        server.extra_prompt_tokens = 1  # from the second request on
        return "stall" if number > 1 else "ok"

    with FakeServer(tokenize="absent", behave=behave) as server:
        with pytest.raises(InputError, match=r"counts (41|57) tokens where the dataset has (40|56)") as caught:
            run_benchmark(dataset, tmp_path / "run", options(server, concurrency=2))
        assert server.completions < len(WISHES)
    assert caught.value.field == "tokenizer.path"
    run = read(tmp_path / "run", "run.json")
    assert (run["status"], run["error"]["request_id"]) == ("failed", caught.value.request_id)
    assert not (tmp_path / "run" / "runtime" / "request_results.jsonl").exists()
    kept = rows(tmp_path / "run", "request_results.jsonl.partial")
    assert sorted(r["status"] for r in kept) == ["cancelled", "ok", "ok"]


def test_a_finished_run_is_not_overwritten_unasked(dataset: Path, tmp_path: Path) -> None:
    with FakeServer() as server:
        run_benchmark(dataset, tmp_path / "run", options(server))
        with pytest.raises(InputError, match="already holds a finished run"):
            run_benchmark(dataset, tmp_path / "run", options(server))
        run_benchmark(dataset, tmp_path / "run", options(server, overwrite=True))


def test_the_dataset_is_linked_into_the_run(dataset: Path, tmp_path: Path) -> None:
    (dataset / ".cache").mkdir()
    (dataset / ".cache" / "x").write_text("x")
    with FakeServer() as server:
        run_benchmark(dataset, tmp_path / "run", options(server))
        linked = tmp_path / "run" / "dataset"
        names = ["data.jsonl", "manifest.json", "request_metadata.jsonl", "validation_report.json"]
        assert sorted(p.name for p in linked.iterdir()) == names
        assert (linked / "data.jsonl").samefile(dataset / "data.jsonl")
        other = make_dataset(tmp_path / "other", WISHES[:2])
        (tmp_path / "mine" / "dataset").mkdir(parents=True)
        (tmp_path / "mine" / "dataset" / "precious").write_text("x")
        with pytest.raises(InputError, match=r"holds other files \(dataset\)"):
            run_benchmark(other, tmp_path / "mine", options(server))
        assert (tmp_path / "mine" / "dataset" / "precious").exists()
        with pytest.raises(InputError, match="lies inside the dataset"):
            run_benchmark(dataset, dataset / "run", options(server))
        in_place = make_dataset(tmp_path / "here" / "dataset", WISHES)
        assert run_benchmark(in_place, tmp_path / "here", options(server)).status == "complete"


def test_a_killed_run_keeps_its_records_and_can_start_again(dataset: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from prefixcache.load.run import run_benchmark; from prefixcache.load.options import RunOptions;"
        "run_benchmark(sys.argv[1], sys.argv[2], RunOptions(urls=(sys.argv[3],)))"
    )
    with FakeServer(behave=lambda n, p: "stall" if n == 3 else "ok") as server:
        command = [sys.executable, "-c", script, str(dataset), str(tmp_path / "run"), server.url]
        with subprocess.Popen(command) as child:
            partial = tmp_path / "run" / "runtime" / "request_results.jsonl.partial"
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline and not (partial.exists() and partial.read_text().count("\n") == 3):
                time.sleep(0.05)
            os.kill(child.pid, signal.SIGKILL)
        assert len(rows(tmp_path / "run", partial.name)) == 3
        assert read(tmp_path / "run", "run.json")["status"] == "partial"
        server.completions = 100
        assert run_benchmark(dataset, tmp_path / "run", options(server)).status == "complete"
    assert len(rows(tmp_path / "run", "request_results.interrupted-1.jsonl")) == 3


@pytest.fixture
def sigint() -> Iterator[None]:
    """Ctrl-C as in a terminal: a shell starts what runs in the background with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupting_leaves_a_partial_run(dataset: Path, tmp_path: Path, sigint: None) -> None:
    def interrupt(step: Progress) -> None:
        if step.phase == "measured" and step.done == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with FakeServer(behave=lambda n, p: "slow") as server, pytest.raises(KeyboardInterrupt):
        run_benchmark(dataset, tmp_path / "run", options(server), interrupt)
    assert read(tmp_path / "run", "run.json")["status"] == "partial"
    kept = rows(tmp_path / "run", "request_results.jsonl.partial")
    assert [r["status"] for r in kept][:2] == ["ok", "ok"]
    assert [r["status"] for r in kept][2:] in ([], ["cancelled"])


def test_no_secret_reaches_a_file(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = ("sk-PLANTED-KEY", "planted-user", "planted-pass", "planted-token")
    monkeypatch.setenv("PREFIXCACHE_API_KEY", planted[0])
    with FakeServer(behave=lambda n, p: "http_500" if n else "ok") as server:
        address = server.url.removeprefix("http://")
        url = f"http://planted-user:planted-pass@{address}/v1/completions?token=planted-token"
        chosen = RunOptions(urls=(url,), poll_interval=0.05, metrics_urls=(f"http://planted-user:x@{address}/metrics",))
        run_benchmark(dataset, tmp_path / "run", chosen)
        assert planted[0] not in repr(chosen) and "planted" not in repr(chosen)
        [(path, headers, _), *_] = [s for s in server.seen if s[0].startswith("/v1/completions")]
        assert (path, headers["authorization"]) == ("/v1/completions?token=planted-token", "Bearer sk-PLANTED-KEY")
    with pytest.raises(EnvironmentFailure) as caught:  # the server is gone
        run_benchmark(dataset, tmp_path / "gone", RunOptions(urls=(url,)))
    assert not (tmp_path / "gone").exists()
    written = [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file() and "runtime" in p.parts]
    assert len(written) >= 5
    for secret in planted:
        assert not any(secret.encode() in data for data in written)
        assert secret not in str(caught.value)


@pytest.mark.parametrize("query", ["onlyvalue77", "token=planted%2Ftoken", "k=q7&v=9z", ""])
def test_a_server_that_echoes_what_it_was_sent(dataset: Path, tmp_path: Path, query: str) -> None:
    ways = {1: "http_400_echo", 2: "echo_event", 3: "http_400_raw"}
    with FakeServer(behave=lambda n, p: ways.get(n, "ok")) as server:
        address = server.url.removeprefix("http://")
        url = f"http://planted-user:planted%2Fpass@{address}/v1/completions" + (f"?{query}" if query else "")
        summary = run_benchmark(dataset, tmp_path / "run", RunOptions(urls=(url,), poll_interval=0.05))
        sent = [headers for headers, _ in server.requests("/v1/completions")]
    token = base64.b64encode(b"planted-user:planted/pass").decode()
    assert sent[0]["authorization"] == f"Basic {token}"
    assert summary.failed_requests == 3
    errors = [r["error"] for r in rows(tmp_path / "run") if r["error"]]
    assert sum("asked with" in error for error in errors) >= 2  # the rest of the text is kept
    planted = (token[:12], "planted-user", "planted/pass", "planted%2F", "onlyvalue77", "planted/token", "q7", "9z")
    for path in (tmp_path / "run" / "runtime").iterdir():
        assert [secret for secret in planted if secret in said_by(path)] == [], path.name
    assert not any(secret in str(summary.to_json()) for secret in planted)


def test_warmup_failures_leave_their_lane_cold(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "warm", WISHES, mode="warmup", execution={"concurrency": 4})
    with FakeServer(behave=lambda n, p: "http_500" if n == 0 else "ok") as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server))
    assert (summary.status, summary.failed_requests) == ("failed", 1)
    assert "warmup_failed" in {w["code"] for w in summary.warnings}
    assert sum(r["phase"] == "warmup" for r in rows(tmp_path / "run")) == 2


def test_a_server_that_dies_half_way_leaves_a_failed_run_with_unknown_counters(dataset: Path, tmp_path: Path) -> None:
    def behave(number: int, prompt: Any) -> str:
        if number >= 3:
            server.metrics = "absent"
            return "close"
        return "ok"

    with FakeServer(behave=behave) as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server))
    assert (summary.status, summary.failed_requests) == ("failed", 3)
    assert {"not_idle", "counters_incomplete", "metrics"} <= {w["code"] for w in summary.warnings}
    [cache] = read(tmp_path / "run", "prefix_cache_metrics.json")["passes"]
    assert cache["status"] == "partial"
    assert cache["measured_hit_tokens"] is None
    assert cache["actual_hit_rate"] is None


def test_a_file_that_cannot_be_written_is_told_with_its_remedy(dataset: Path, tmp_path: Path) -> None:
    """As a full disk: what the system says of a file of figures, and what to do, stand in run.json."""

    def behave(number: int, prompt: Any) -> str:
        (tmp_path / "run" / "runtime" / "performance_metrics.json").mkdir(exist_ok=True)
        return "ok"

    with FakeServer(behave=behave) as server, pytest.raises(OSError):
        run_benchmark(dataset, tmp_path / "run", options(server))
    run = read(tmp_path / "run", "run.json")
    assert run["status"] == "failed" and run["finished_at"]
    assert "performance_metrics.json" in run["error"]["message"] and "Error" not in run["error"]["message"]
    assert (run["error"]["stage"], run["error"]["dataset_id"]) == ("run_benchmark", run["dataset_id"])
    assert "free space" in run["error"]["remedy"]


@pytest.mark.parametrize("hits", [0, 16])
def test_a_second_framework_is_run_by_its_adapter(dataset: Path, tmp_path: Path, hits: int) -> None:
    counted = lambda n: hits if n else 0  # noqa: E731
    with FakeServer(metrics="sglang", counted_hits=counted, reset="absent", tokenize="absent") as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server, concurrency=2))
        assert len(server.requests("/flush_cache")) == 1
    # No hit at all: the count is 0 because this version would show it from the first one on, and that is told.
    assert (summary.status, warned_of(summary.warnings)) == ("complete", [] if hits else ["counters"])
    [found] = summary.passes
    assert (found["measured_query_tokens"], found["measured_hit_tokens"]) == (6 * 24 + 192, 5 * hits)


def test_a_key_that_no_header_can_carry(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFIXCACHE_API_KEY", "sk-one\nsk-two")
    with pytest.raises(InputError, match="no HTTP header can carry") as caught:
        run_benchmark(dataset, tmp_path / "run", RunOptions(urls=("http://127.0.0.1:9",)))
    assert "sk-one" not in str(caught.value)
