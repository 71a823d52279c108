"""Servers that hang, break, hide or lie, other clients beside the probe: it ends in time and makes nothing up."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.probe.findings import ProbeReport
from prefixcache.probe.line import Line
from prefixcache.probe.options import ProbeOptions
from prefixcache.probe.reading import Reading
from prefixcache.probe.run import probe_server
from prefixcache.probe.told import find_usage
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.reference.server import build_app
from tests.probe.serving import engine, served

engines = pytest.mark.engine


@contextmanager
def faulty(tmp_path: Path, plan: list[dict[str, Any]], **options: Any) -> Iterator[str]:
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(plan))
    with engine(faults=str(path), **options) as url:
        yield url


@engines
class TestTime:
    def test_a_server_that_answers_no_prompt(self, tmp_path: Path) -> None:
        with faulty(tmp_path, [{"delay_headers": "forever"}]) as url:
            began = time.perf_counter()
            report = probe_server(ProbeOptions(url, time_limit=3))
            assert time.perf_counter() - began < 10
        assert report.status == "partial"
        assert report.value("hit_unit") is None
        assert "time limit" in report.findings["hit_unit"].text("en")
        assert report.value("block_size") == 16 or report.findings["block_size"].source == "unknown"

    def test_a_server_that_stops_answering(self, tmp_path: Path) -> None:
        """What was found before stays found."""
        with faulty(tmp_path, [{"requests": "20-", "delay_headers": "forever"}]) as url:
            report = probe_server(ProbeOptions(url, time_limit=4))
        assert report.status == "partial"
        assert report.value("models") == ["reference"]
        assert any("time limit" in finding.text("en") for finding in report.findings.values())
        assert report.value("capacity_tokens") is not None  # what needs no prompt is told all the same
        assert report.seconds < 10

    def test_one_answer_may_be_given_up_alone(self, tmp_path: Path) -> None:
        with faulty(tmp_path, [{"requests": "14-", "delay_headers": "forever"}]) as url:
            report = probe_server(ProbeOptions(url, time_limit=60, request_timeout=0.5))
        assert report.status == "partial"
        assert report.seconds < 30
        assert report.value("hit_unit") == 16

    def test_misses_before_the_end_are_told(self, tmp_path: Path) -> None:
        """Three prompts at 512 tokens, as many at 2,048, then the base of 8,192 is never answered."""
        plan = [{"requests": "11-", "delay_headers": "forever"}]
        with faulty(tmp_path, plan, prefix_caching=False) as url:
            report = probe_server(ProbeOptions(url, time_limit=60, request_timeout=2))
        assert (report.status, report.value("hit_unit")) == ("partial", None)
        assert "No hit up to 2048 tokens" in report.findings["hit_unit"].text("en")

    def test_a_metrics_page_that_never_comes(self, tmp_path: Path) -> None:
        plan = [{"path": "/metrics", "delay_headers": "forever"}]
        with faulty(tmp_path, plan) as url, pytest.raises(EnvironmentFailure, match="did not say"):
            probe_server(ProbeOptions(url, time_limit=3))

    def test_a_server_that_does_not_say_who_it_is(self, tmp_path: Path) -> None:
        plan = [{"path": "/v1/models", "delay_headers": "forever"}]
        with faulty(tmp_path, plan) as url, pytest.raises(EnvironmentFailure, match="did not say"):
            probe_server(ProbeOptions(url, time_limit=2))


@engines
class TestWithoutCounters:
    def test_usage_tells_the_unit(self, tmp_path: Path) -> None:
        with faulty(tmp_path, [{"path": "/metrics", "status": 404}], block_size=64) as url:
            report = probe_server(ProbeOptions(url))
        assert report.value("hit_unit") == 64
        assert "usage" in report.findings["hit_unit"].text("en")
        assert any("no metrics page" in each.text("en") for each in report.warnings)
        assert report.value("framework") == "prefixcache-reference"

    def test_without_usage_nothing_is_made_up(self, tmp_path: Path) -> None:
        with faulty(tmp_path, [{"path": "/metrics", "status": 404}], usage_cached=False) as url:
            report = probe_server(ProbeOptions(url))
        assert report.value("hit_unit") is None
        assert "TTFT" in report.findings["hit_unit"].text("en")
        assert "nothing" in report.findings["reset"].text("en") or report.value("reset") is None

    def test_counters_without_hits(self, tmp_path: Path) -> None:
        plan = [{"requests": 1, "drop_series": ["vllm:prefix_cache_hits"]}]
        with faulty(tmp_path, plan, block_size=64) as url:
            report = probe_server(ProbeOptions(url))
        assert report.value("hit_unit") == 64
        assert report.value("usage_cached_tokens") == "present"


@engines
class TestStreams:
    """Usage of which only streams tell the cached tokens."""

    @staticmethod
    def rewrite(path: str, body: bytes) -> bytes:
        whole = path.endswith("completions") and not body.startswith(b"data:")
        return re.sub(rb'"cached_tokens":\d+', b'"cached_tokens":null', body) if whole else body

    def test_it_is_said(self) -> None:
        with engine(self.rewrite, block_size=64) as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert (report.value("hit_unit"), report.value("usage_cached_tokens")) == (64, "in_streams")
        assert "By the counters" in report.findings["hit_unit"].text("en")
        assert "In streams only" in report.findings["usage_cached_tokens"].text("en")
        assert report.contradictions == []

    def test_without_counters_streams_tell_the_unit(self) -> None:
        def rewrite(path: str, body: bytes) -> bytes:
            return b"# nothing" if path == "/metrics" else self.rewrite(path, body)

        with engine(rewrite, block_size=784) as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert (report.value("hit_unit"), report.value("usage_cached_tokens")) == (784, "in_streams")
        assert report.value("last_token_rule") == "computed"
        assert report.value("outputs_cached") is True
        assert report.value("reset") is not None


@engines
class TestLies:
    """Answers that are changed on their way: the engine behind them is an honest one."""

    def test_usage_that_is_always_0(self) -> None:
        def rewrite(path: str, body: bytes) -> bytes:
            return re.sub(rb'"cached_tokens":\d+', b'"cached_tokens":0', body) if path.endswith("completions") else body

        with engine(rewrite, block_size=32) as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert [each.code for each in report.contradictions] == ["usage_zero"]
        assert report.value("usage_cached_tokens") == "zero"
        assert report.value("hit_unit") == 32  # by the counters

    def test_usage_that_tells_too_much(self) -> None:
        def rewrite(path: str, body: bytes) -> bytes:
            return re.sub(rb'"cached_tokens":(\d)', rb'"cached_tokens":1\1', body) if "completions" in path else body

        with engine(rewrite, block_size=32) as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert [each.code for each in report.contradictions] == ["usage_differs"]
        assert report.value("hit_unit") == 32

    def test_hit_counters_that_stay_at_0(self) -> None:
        def rewrite(path: str, body: bytes) -> bytes:
            return (
                re.sub(rb"(?m)^(vllm:prefix_cache_hits_total\{.*\}) .*$", rb"\1 0.0", body)
                if path == "/metrics"
                else body
            )

        with engine(rewrite, block_size=32) as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert [each.code for each in report.contradictions] == ["counters_silent"]
        assert report.value("hit_unit") == 32
        assert "usage" in report.findings["hit_unit"].text("en")
        assert report.value("salt") == "cache_salt"

    def test_caching_that_is_said_to_be_off(self) -> None:
        def rewrite(path: str, body: bytes) -> bytes:
            return body.replace(b'enable_prefix_caching="True"', b'enable_prefix_caching="False"')

        with engine(rewrite, block_size=32) as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert [each.code for each in report.contradictions] == ["caching_off"]

    def test_two_servers_behind_one_address(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Requests go to one and the other by turns, as behind a router that knows nothing of prefixes."""
        monkeypatch.setattr("prefixcache.probe.line.SETTLE_S", 0.3)
        turns = iter(range(10**6))
        apps = [build_app(EngineOptions("embedded", block_size=32)) for _ in range(2)]

        async def router(scope: Any, receive: Any, send: Any) -> None:
            at = next(turns) % 2 if scope["path"].endswith("completions") else 0
            await apps[at](scope, receive, send)

        with served(router) as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert report.value("hit_unit") is None
        assert "inconsistent" in {each.code for each in report.contradictions}
        assert any("moved no counter" in each.text("en") for each in report.warnings)  # the page is that of one of them


@engines
def test_a_server_that_refuses_prompts(tmp_path: Path) -> None:
    with faulty(tmp_path, [{"status": 403, "body": {"error": "no sk-secretsecret"}}]) as url:
        report = probe_server(ProbeOptions(url, api_key="sk-secretsecret"))
    assert report.status == "partial"
    assert "403" in report.findings["hit_unit"].text("en")
    assert "sk-secretsecret" not in str(report.to_json())


@engines
@pytest.mark.parametrize("body", [b"<html>hello</html>", b"null", b'{"choices": 5}'])
def test_answers_without_a_completion(body: bytes) -> None:
    with engine(lambda path, answer: body if path.endswith(("completions", "/generate")) else answer) as url:
        report = probe_server(ProbeOptions(url, time_limit=300))
    assert report.status == "partial"
    assert "HTTP 200 without a completion" in report.findings["hit_unit"].text("en")
    assert report.findings["usage_cached_tokens"].source == "unknown"
    assert report.requests == 0


@engines
def test_token_counts_that_do_not_follow_the_prompts() -> None:
    def rewrite(path: str, body: bytes) -> bytes:
        return re.sub(rb'"prompt_tokens":\d+', b'"prompt_tokens":5', body)

    with engine(rewrite) as url:
        report = probe_server(ProbeOptions(url, time_limit=300))
    assert report.status == "partial"
    assert "token counts do not follow its prompts" in report.findings["hit_unit"].text("en")


@engines
def test_a_server_that_goes_away(tmp_path: Path) -> None:
    with EngineProcess(EngineOptions("embedded", prefill_tps=20_000)) as process:
        url = process.url
        import os
        import signal

        threading.Timer(1.0, lambda: os.kill(process.pid, signal.SIGKILL)).start()
        report = probe_server(ProbeOptions(url, time_limit=30, capacity=True))
    assert report.status == "lost"
    assert report.exit_code == 3
    assert report.seconds < 20


@engines
class TestOtherClients:
    @contextmanager
    def traffic(self, url: str) -> Iterator[None]:
        """Short prompts of somebody else, all the time."""
        stop = threading.Event()

        def send() -> None:
            with httpx.Client(trust_env=False) as client:
                number = 0
                while not stop.is_set():
                    number += 1
                    body = {"prompt": [number % 500 + 1] * 40, "max_tokens": 1}
                    client.post(f"{url}/v1/completions", json=body)
                    stop.wait(0.012)

        thread = threading.Thread(target=send)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def test_usage_tells_nevertheless_and_it_is_said(self) -> None:
        with engine(block_size=32) as url, self.traffic(url):
            report = probe_server(ProbeOptions(url, reset=False))
        assert report.value("hit_unit") == 32
        assert any("other clients" in each.text("en") for each in report.warnings)

    def test_without_usage_there_is_no_number(self) -> None:
        with engine(block_size=32, usage_cached=False) as url, self.traffic(url):
            report = probe_server(ProbeOptions(url, reset=False))
        assert report.value("hit_unit") in (None, 32)
        assert any("other clients" in each.text("en") for each in report.warnings)


class TestUsage:
    """What the answers say beside what the counters say."""

    def report(self, *readings: Reading) -> ProbeReport:
        report = ProbeReport("http://h:1")
        line = Line.__new__(Line)
        line.readings, line.prefer_usage, line.streamed = list(readings), False, False
        asyncio.run(find_usage(line, report))
        return report

    def test_zero_while_the_counters_tell_hits(self) -> None:
        report = self.report(Reading(64, 66, 0, 64.0), Reading(0, 66, 0, 0.0))
        assert report.value("usage_cached_tokens") == "zero"
        assert [each.code for each in report.contradictions] == ["usage_zero"]

    def test_another_number(self) -> None:
        report = self.report(Reading(64, 66, 48, 64.0), Reading(0, 66, 0, 0.0))
        assert report.value("usage_cached_tokens") == "differs"
        assert [each.code for each in report.contradictions] == ["usage_differs"]

    def test_null_is_no_contradiction_and_no_zero(self) -> None:
        report = self.report(Reading(64, 66, None, 64.0))
        assert report.value("usage_cached_tokens") == "null"
        assert report.contradictions == []

    def test_sometimes(self) -> None:
        report = self.report(Reading(64, 66, None, 64.0), Reading(64, 66, 64, 64.0))
        assert report.value("usage_cached_tokens") == "sometimes"

    def test_others_requests_are_no_disagreement(self) -> None:
        report = self.report(Reading(64, 66, 64, 640.0, foreign=True))
        assert report.contradictions == []


def test_nobody_there() -> None:
    with pytest.raises(EnvironmentFailure, match="cannot be reached"):
        probe_server(ProbeOptions("http://127.0.0.1:9", time_limit=5))


def test_no_url() -> None:
    with pytest.raises(InputError):
        probe_server(ProbeOptions("nowhere"))


def test_no_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        probe_server(ProbeOptions("http://127.0.0.1:9", tokenizer=str(tmp_path / "none")))
