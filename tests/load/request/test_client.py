"""The client against a socket server that misbehaves."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import pytest

from prefixcache.engines.endpoint import Endpoint
from prefixcache.engines.http import Timeouts
from prefixcache.load.request.client import CompletionClient
from prefixcache.load.request.outcome import Outcome
from prefixcache.load.sending.prompts import Prompt
from prefixcache.load.sending.routes import Target
from prefixcache.load.wire.client import WireClient
from tests.load.fake_server import FakeServer
from tests.load.scripted import GOOD, scripted

PROMPT = Prompt("11 12 13 14 15 16 17 18 19", [11, 12, 13, 14, 15, 16, 17, 18, 19], 4)
QUICK = Timeouts(connect=1, idle=0.3, total=1)


def complete(
    url: str, *, timeouts: Timeouts = QUICK, send: str = "text", first: Callable[[], None] | None = None
) -> Outcome:
    async def go() -> Outcome:
        async with WireClient(timeouts) as wire:
            client = CompletionClient(wire, "fake", send, "sk-secret", ("sk-secret",))  # type: ignore[arg-type]
            return await client.complete(PROMPT, Target(Endpoint(url), {"X-data-parallel-rank": "1"}), first)

    return asyncio.run(go())


def test_a_good_stream_is_timed_and_counted() -> None:
    calls: list[int] = []
    with FakeServer(behave=lambda n, p: "slow", cached=lambda n: 5) as server:
        outcome = complete(server.url, first=lambda: calls.append(1))
        [(headers, body)] = server.requests("/v1/completions")
    assert (outcome.status, outcome.error, outcome.http_status) == ("ok", None, 200)
    assert (outcome.usage.prompt_tokens, outcome.usage.completion_tokens, outcome.usage.cached_tokens) == (9, 4, 5)
    assert outcome.sent and outcome.first_byte and outcome.first_token and outcome.last_token
    assert outcome.sent < outcome.first_byte <= outcome.first_token
    assert outcome.last_token - outcome.first_token > 0.12  # three pauses of 50 ms
    assert calls == [1]
    assert headers["x-data-parallel-rank"] == "1"
    assert headers["authorization"] == "Bearer sk-secret"
    assert body == {
        "model": "fake",
        "prompt": PROMPT.text,
        "max_tokens": 4,
        "min_tokens": 4,
        "ignore_eos": True,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_ids_are_sent_as_ids() -> None:
    with FakeServer() as server:
        assert complete(server.url, send="ids").status == "ok"
        assert server.requests("/v1/completions")[0][1]["prompt"] == PROMPT.ids


def test_usage_without_cached_tokens_is_none_not_zero() -> None:
    with FakeServer(cached=lambda n: None) as server:
        assert complete(server.url).usage.cached_tokens is None
    with FakeServer(cached=lambda n: 0) as server:
        assert complete(server.url).usage.cached_tokens == 0


@pytest.mark.parametrize(
    ("behaviour", "status", "http_status", "text"),
    [
        ("http_500", "http_error", 500, "out of luck with [prompt]"),
        ("close", "connect_error", None, "closed the connection without an answer"),
        ("silent", "timeout", None, "imeout"),
        ("stall", "timeout", 200, "imeout"),
        ("rst", "stream_error", 200, "broke within the answer"),
        ("cut", "stream_error", 200, "before the answer was finished"),
        ("error_event", "stream_error", 200, "the engine died"),
        ("error_named", "stream_error", 200, "the engine died"),
        ("choices_text", "stream_error", 200, "the answer is not as the API says: `choices` is no list"),
    ],
)
def test_failures_are_outcomes(behaviour: str, status: str, http_status: int | None, text: str) -> None:
    with FakeServer(behave=lambda n, p: behaviour) as server:
        outcome = complete(server.url)
    assert (outcome.status, outcome.http_status) == (status, http_status)
    assert outcome.error is not None
    assert text in outcome.error
    assert "11 12 13" not in outcome.error


def test_the_total_deadline_ends_a_stream_that_never_stalls() -> None:
    with FakeServer(behave=lambda n, p: "slow") as server:
        outcome = complete(server.url, timeouts=Timeouts(connect=1, idle=5, total=0.12))
    assert outcome.status == "timeout"
    assert outcome.first_token is not None


def test_nobody_listening_is_a_connect_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        outcome = complete(f"http://127.0.0.1:{free.getsockname()[1]}")
    assert (outcome.status, outcome.http_status, outcome.first_byte) == ("connect_error", None, None)


def test_a_servers_words_cannot_act_on_a_terminal() -> None:
    body = b'{"error":{"message":"\\u001b[31mred\\u0007\\nnext \\u6f22"}}'
    answer = b"HTTP/1.1 400 Bad\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    with scripted([[answer]]) as server:
        assert complete(server.url).error == " [31mred  next 漢"


def test_a_header_of_the_user_replaces_the_clients_own_however_it_is_written() -> None:
    async def go(url: str) -> None:
        async with WireClient(QUICK) as wire:
            own = {"authorization": "Basic x", "CONTENT-TYPE": "application/json; charset=utf-8"}
            client = CompletionClient(wire, "m", "text", "sk-secret", extra_headers=own)
            await client.complete(PROMPT, Target(Endpoint(url)))

    with scripted([[GOOD]]) as server:
        asyncio.run(go(server.url))
        lines = server.seen[0].partition(b"\r\n\r\n")[0].decode().lower().split("\r\n")
    assert [line for line in lines if line.startswith(("authorization", "content-type"))] == [
        "content-type: application/json; charset=utf-8",
        "authorization: basic x",
    ]
