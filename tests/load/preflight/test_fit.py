"""Servers that do not fit the plan, several endpoints and metrics pages: what is said before and after the run."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.errors import EnvironmentFailure
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.process import EngineProcess
from prefixcache.reference.server import EngineOptions
from prefixcache.report.build import build_prefix_cache_report
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset
from tests.load.proxy import proxy
from tests.support.datasets import made

WISHES = [Wish("a", 16), Wish("b", 32), Wish("a", 32), Wish("b", 16), Wish("a", 48), Wish("b", 48)]
TOKENS = 16 + 32 + 32 + 16 + 48 + 48 + 6 * 24
SHARED = {0: 0, 1: 0, 2: 16, 3: 16, 4: 32, 5: 32}


def options(*urls: str, **more: Any) -> RunOptions:
    return RunOptions(urls=urls, poll_interval=0.05, quiesce_timeout=2.0, **more)


def plan_hits(number: int) -> int:
    return SHARED[number]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "set", WISHES)


def test_counters_of_half_of_the_endpoints_are_no_measurement(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(cached=lambda n: None) as one, FakeServer(cached=lambda n: None) as two:
        chosen = options(one.url, two.url, metrics_urls=(one.url,))
        summary = run_benchmark(dataset, tmp_path / "run", chosen)
        seen = one.queries
    assert 0 < seen < TOKENS
    codes = {w["code"]: w["message"] for w in summary.warnings}
    assert "2 endpoints, 1 metrics page" in codes["metrics_fewer"]
    assert f"{seen} of {TOKENS}" in codes["counters_cover"]
    assert summary.status == "partial"
    report = build_prefix_cache_report(tmp_path / "run")
    assert (report["run_status"], report["verdict"]["code"]) == ("partial", "incomplete")
    assert f"{seen} of {TOKENS} prompt tokens" in report["verdict"]["text_en"]


def test_one_page_that_covers_all_endpoints_is_known_by_its_tokens(dataset: Path, tmp_path: Path) -> None:
    """Two addresses of one service, which has one page."""
    with FakeServer(cached=plan_hits, counted_hits=plan_hits) as one:
        other = one.url.replace("127.0.0.1", "localhost")
        summary = run_benchmark(dataset, tmp_path / "run", options(one.url, other, metrics_urls=(one.url,)))
    assert summary.status == "complete"
    assert build_prefix_cache_report(tmp_path / "run")["verdict"]["code"] == "exact"


def test_one_router_and_a_page_for_each_instance_behind_it(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(cached=plan_hits, counted_hits=plan_hits) as one, FakeServer() as idle:
        summary = run_benchmark(dataset, tmp_path / "run", options(one.url, metrics_urls=(one.url, idle.url)))
    assert summary.passes[0]["measured_query_tokens"] == TOKENS
    assert "more_ranks" in {w["code"] for w in summary.warnings}
    assert (summary.status, build_prefix_cache_report(tmp_path / "run")["verdict"]["code"]) == ("complete", "exact")


def test_tokens_of_somebody_else_are_no_clean_verdict(dataset: Path, tmp_path: Path) -> None:
    def behave(number: int, prompt: Any) -> str:
        server.queries += 50 * (number == 3)
        return "ok"

    with FakeServer(behave=behave, cached=plan_hits, counted_hits=plan_hits) as server:
        run_benchmark(dataset, tmp_path / "run", options(server.url))
    report = build_prefix_cache_report(tmp_path / "run")
    assert report["verdict"]["code"] == "incomplete"
    assert f"{TOKENS + 50} prompt tokens where {TOKENS} were sent" in report["verdict"]["text_en"]


def test_each_page_is_compared_not_the_first_for_all(dataset: Path, tmp_path: Path) -> None:
    with FakeServer() as one, FakeServer(block_size=32) as two:
        with pytest.raises(Exception, match=f"block size 32 of {two.url}"):
            run_benchmark(dataset, tmp_path / "a", options(one.url, two.url))
        with pytest.raises(Exception, match=f"block size 32 of {two.url}"):
            run_benchmark(dataset, tmp_path / "b", options(one.url, metrics_urls=(one.url, two.url)))


def test_a_dry_run_looks_at_the_pages_that_were_named(dataset: Path) -> None:
    with FakeServer() as one, FakeServer(block_size=32) as two:
        arguments = ["run", "-d", str(dataset), "-u", one.url, "--metrics-url", two.url, "--dry-run", "--json"]
        shown = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert shown["server_check"]["error"]["field"] == "block_size"
    assert shown["estimated_time"] == {
        "seconds": None,
        "assumption": "neither the server nor the options state its rates",
    }


def test_a_smaller_block_size_is_named_before_the_range(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES)
    with FakeServer(block_size=8, cached=lambda n: None, counted_hits=lambda n: SHARED[n] - 8 * (n == 2)) as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server.url))
    assert "block_size_differs" in {w["code"] for w in summary.warnings}
    verdict = build_prefix_cache_report(tmp_path / "run")["verdict"]
    assert verdict["text_en"].startswith("The plan does not fit this server: its block size")
    assert verdict["code"] == "misfit"


def test_a_server_that_is_not_there_is_named_by_its_address(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailure, match=r":9 cannot be reached \(nothing listens") as caught:
        run_benchmark(dataset, tmp_path / "run", options("http://127.0.0.1:9"))
    assert caught.value.field == "url"


def test_a_server_that_takes_connections_and_says_nothing(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prefixcache.engines.server.ASK_TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with pytest.raises(EnvironmentFailure, match=r"did not answer /v1/models within 0\.3 s") as caught:
            run_benchmark(dataset, tmp_path / "run", options(url))
    assert "Cancelled" not in str(caught.value)


@pytest.mark.engine
def test_a_router_over_two_instances_of_which_the_plan_knows_one(tmp_path: Path) -> None:
    """The sum over both pages is the whole service's; the verdict begins with what does not fit."""
    set_ = made(tmp_path / "set", target={"hit_ratio": 0.8}).root
    with ExitStack() as stack:
        engines = [stack.enter_context(EngineProcess(EngineOptions("embedded"))).url for _ in range(2)]
        url, passed = stack.enter_context(proxy(*engines))
        summary = run_benchmark(set_, tmp_path / "run", options(url, metrics_urls=tuple(engines)))
    assert {passed.count(engine) for engine in engines} == {20}
    report = build_prefix_cache_report(tmp_path / "run")
    figures = report["passes"][0]
    assert summary.status == "complete"
    assert figures["measured_query_tokens"] == figures["input_tokens"]
    assert 0 < figures["measured_hit_tokens"] < figures["expected_hit_tokens"]
    assert report["verdict"]["code"] in ("misfit", "deviates")
    assert report["verdict"]["text_en"].startswith("The plan does not fit this server: it has more caches")


@pytest.mark.engine
@pytest.mark.parametrize(("plan", "ranks", "code"), [(1, 2, "more_ranks"), (2, 3, "idle_ranks")])
def test_more_ranks_than_planned(tmp_path: Path, plan: int, ranks: int, code: str) -> None:
    routing = {"cache_scope": "dp_local", "dp_size": plan, "policy": "bound"} if plan > 1 else {}
    groups = {"groups": [{"id": name, "request_weight": 1} for name in "abc"]}  # odd, so that ranks in turn mix them
    set_ = made(tmp_path / "set", prefix=groups, **({"routing": routing} if routing else {})).root
    with EngineProcess(EngineOptions("embedded", dp=ranks)) as engine:
        summary = run_benchmark(set_, tmp_path / "run", options(engine.url))
    assert code in {w["code"] for w in summary.warnings}
    verdict = build_prefix_cache_report(tmp_path / "run")["verdict"]
    if plan == 1:
        assert verdict["text_en"].startswith("The plan does not fit this server: it has more caches")
    else:
        assert verdict["code"] == "exact"
