"""Conversations: the chat route, its streams, and the designed hits through a real chat template."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from prefixcache.engines.endpoint import Endpoint
from prefixcache.engines.http import Timeouts
from prefixcache.load.options import RunOptions
from prefixcache.load.request.client import CompletionClient
from prefixcache.load.request.outcome import Outcome
from prefixcache.load.run import run_benchmark
from prefixcache.load.sending.prompts import Prompt
from prefixcache.load.sending.routes import Target
from prefixcache.load.wire.client import WireClient
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.load.fake_server import FakeServer
from tests.support.datasets import made
from tests.support.reading import warned_of

MESSAGES = [{"role": "system", "content": "11 12 13"}, {"role": "user", "content": "14 15 16 17 18 19 20 21"}]
PROMPT = Prompt("14 15 16 17 18 19 20 21", None, 3, MESSAGES)


def talk(url: str, first: list[int]) -> Outcome:
    async def go() -> Outcome:
        timeouts = Timeouts(connect=1, idle=2, total=5)
        async with WireClient(timeouts) as wire:
            client = CompletionClient(wire, "fake", "chat")
            return await client.complete(PROMPT, Target(Endpoint(url)), lambda: first.append(1))

    return asyncio.run(go())


def test_the_opening_chunk_is_not_the_first_token() -> None:
    calls: list[int] = []
    with FakeServer(role_pause=0.3, cached=lambda n: 5) as server:
        outcome = talk(server.url, calls)
        [(_, body)] = server.requests("/v1/chat/completions")
    assert (
        outcome.status,
        outcome.usage.prompt_tokens,
        outcome.usage.completion_tokens,
        outcome.usage.cached_tokens,
    ) == ("ok", 11, 3, 5)
    assert outcome.first_byte is not None and outcome.first_token is not None
    assert outcome.first_token - outcome.first_byte > 0.25
    assert calls == [1]
    assert body["messages"] == MESSAGES and "prompt" not in body


def test_an_echoed_message_does_not_reach_the_error() -> None:
    with FakeServer(behave=lambda n, p: "http_500") as server:
        outcome = talk(server.url, [])
    assert outcome.status == "http_error"
    assert outcome.error is not None and "14 15" not in outcome.error and "11 12" not in outcome.error


@pytest.mark.engine
@pytest.mark.parametrize("mode", ["progressive_prefix_fill", "compare"])
def test_chats_measure_what_they_design(qwen: Path, tmp_path: Path, mode: str) -> None:
    """Head and tail of the template are in every prompt, the head is shared by all groups."""
    made(
        tmp_path / "set",
        request_count=24,
        prompt={"format": "chat", "system": "You are a careful assistant who answers every question in one sentence."},
        tokenizer={"path": str(qwen)},
        prefix={"group_count": 2},
        execution={"mode": mode},
    )
    with EngineProcess(EngineOptions(str(qwen))) as engine:
        summary = run_benchmark(
            tmp_path / "set", tmp_path / "run", RunOptions(urls=(engine.url,), poll_interval=0.05, concurrency=4)
        )
    assert (summary.status, warned_of(summary.warnings)) == ("complete", [])
    for found in summary.passes:
        assert found["measured_hit_tokens"] == found["expected_hit_tokens"] > 0
        assert found["measured_query_tokens"] == sum(json.loads(x)["input_len"] for x in _lines(tmp_path / "set"))
    rows = [json.loads(x) for x in (tmp_path / "run" / "runtime" / "request_results.jsonl").read_text().splitlines()]
    measured = [r for r in rows if r["phase"] == "measured"]
    assert all(r["cached_tokens"] == r["expected_hit_len"] for r in measured)
    assert json.loads((tmp_path / "run" / "runtime" / "run.json").read_text())["options"]["send"] == "chat"


def _lines(dataset: Path) -> list[str]:
    return (dataset / "request_metadata.jsonl").read_text().splitlines()
