"""Retries never hide: every attempt is counted, and what is retried is what another attempt may mend."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import orjson
import pytest

from prefixcache.engines.endpoint import Endpoint
from prefixcache.engines.http import Timeouts
from prefixcache.errors import InputError
from prefixcache.load.request.client import CompletionClient
from prefixcache.load.request.outcome import Outcome
from prefixcache.load.request.retries import Retries
from prefixcache.load.sending.prompts import Prompt
from prefixcache.load.sending.routes import Target
from prefixcache.load.wire.client import WireClient
from tests.load.scripted import DONE, GOOD, chunked, event, scripted

PROMPT = Prompt("11 12 13", [11, 12, 13], 2)


def completed(url: str, times: int = 1, **more: Any) -> list[Outcome]:
    async def go() -> list[Outcome]:
        async with WireClient(Timeouts(connect=1, idle=0.4, total=2)) as wire:
            client = CompletionClient(wire, "m", "text", **more)
            return [await client.complete(PROMPT, Target(Endpoint(url))) for _ in range(times)]

    return asyncio.run(go())


def refusal(status: int, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} No", *headers, "Content-Length: 0", "", ""]
    return "\r\n".join(lines).encode()


def test_nothing_is_retried_unless_asked_for() -> None:
    with scripted([[refusal(503)], [GOOD]]) as server:
        [outcome] = completed(server.url)
    assert (outcome.status, outcome.failure, outcome.attempts, outcome.retried) == ("http_error", "http_503", 1, ())


def test_a_temporary_failure_is_tried_again_and_marked() -> None:
    with scripted([[refusal(503)], [refusal(429)], [GOOD]]) as server:
        [outcome] = completed(server.url, retries=Retries(3, 0.01))
    assert (outcome.status, outcome.attempts, outcome.retried) == ("ok", 3, ("http_503", "http_429"))
    assert outcome.failure is None and outcome.error is None


def test_the_last_failure_is_told_when_attempts_are_used_up() -> None:
    with scripted([[refusal(503)], [refusal(429)]]) as server:
        [outcome] = completed(server.url, retries=Retries(1, 0.01))
        assert len(server.seen) == 2
    assert (outcome.failure, outcome.attempts, outcome.retried) == ("http_429", 2, ("http_503",))


def test_what_no_attempt_mends_is_not_tried_again() -> None:
    broken = chunked(event("a"), end=False)
    for steps in ([refusal(400)], [chunked(b"data: {oops\n\n")], [broken, "close"]):
        with scripted([steps, [GOOD]]) as server:
            [outcome] = completed(server.url, retries=Retries(3, 0.01))
            assert (len(server.seen), outcome.attempts, outcome.status != "ok") == (1, 1, True)


def test_retry_after_is_waited_for() -> None:
    with scripted([[refusal(429, "Retry-After: 0.4")], [GOOD]]) as server:
        began = time.perf_counter()
        [outcome] = completed(server.url, retries=Retries(1, 0.01))
    assert time.perf_counter() - began >= 0.4
    assert outcome.status == "ok" and outcome.sent is not None and outcome.sent - began >= 0.4


def test_a_kept_connection_being_closed_costs_one_marked_attempt() -> None:
    with scripted([[GOOD], ["close"], [GOOD]]) as server:
        first, second = completed(server.url, 2)
    assert (first.attempts, first.connection) == (1, "new")
    assert (second.status, second.attempts, second.retried) == ("ok", 2, ("keepalive_closed",))
    assert second.connection == "new"


def test_a_new_connection_being_closed_is_a_failure() -> None:
    with scripted([["close"]]) as server:
        [outcome] = completed(server.url)
        assert len(server.seen) == 1
    assert (outcome.status, outcome.failure, outcome.attempts) == ("connect_error", "disconnected", 1)


def test_waits_double_and_end() -> None:
    retries = Retries(9, 1.0)
    outcome = Outcome(failure="http_503")
    waits = []
    for _ in range(10):
        waits.append(retries.wait(outcome))
        outcome.retried = (*outcome.retried, "http_503")
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0, None]
    with pytest.raises(InputError):
        Retries(-1)


def test_fields_and_headers_of_ones_own() -> None:
    with scripted([[GOOD]]) as server:
        completed(
            server.url,
            extra_body={"top_k": 1, "ignore_eos": None},
            extra_headers={"X-Team": "perf"},
            salt={"cache_salt": "s"},
        )
        head, _, body = server.seen[0].partition(b"\r\n\r\n")
    sent = orjson.loads(body)
    assert b"X-Team: perf" in head
    assert (sent["top_k"], sent["cache_salt"], "ignore_eos" in sent, sent["min_tokens"]) == (1, "s", False, 2)


def test_sglangs_own_route() -> None:
    answer = (
        b'data: {"text":"ab","meta_info":{"prompt_tokens":3,"completion_tokens":2,"finish_reason":{"type":"length"}}}'
    )
    with scripted([[chunked(answer + b"\n\n", DONE)]]) as server:
        [outcome] = completed(server.url, interface="generate")
        head, _, body = server.seen[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /generate ")
    assert orjson.loads(body) == {
        "text": PROMPT.text,
        "stream": True,
        "sampling_params": {"max_new_tokens": 2, "min_new_tokens": 2, "ignore_eos": True, "temperature": 0},
    }
    assert (outcome.status, outcome.usage.completion_tokens, outcome.output_by) == ("ok", 2, "usage")


class Words:
    async def count(self, text: str) -> int | None:
        return len(text.split())


def test_output_without_usage_is_counted_and_said_so() -> None:
    stream = chunked(event("one "), event("two three", finish="length"), DONE)
    with scripted([[stream]]) as server:
        [plain] = completed(server.url)
        [counted] = completed(server.url, counter=Words(), keeps_text=True)
    assert (plain.usage.completion_tokens, plain.output_by) == (None, None)
    assert (counted.usage.completion_tokens, counted.output_by, counted.text) == (3, "tokenizer", [])
