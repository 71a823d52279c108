"""The client against every fault of the reference engine: failures by kind, odd streams read as what they are."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from prefixcache.engines.endpoint import Endpoint
from prefixcache.engines.http import Timeouts
from prefixcache.load.request.client import CompletionClient
from prefixcache.load.request.outcome import Outcome
from prefixcache.load.sending.prompts import Prompt
from prefixcache.load.sending.routes import Target
from prefixcache.load.wire.client import WireClient
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess

QUICK = Timeouts(connect=2, idle=0.6, total=3)
TEXT = "also the quiet history book near the river with Alice and Michael"
OUTPUT = 6

FAILURES: list[tuple[dict[str, Any], str, str]] = [
    ({"status": 400}, "http_error", "http_400"),
    ({"status": 429, "retry_after": 1}, "http_error", "http_429"),
    ({"status": 500}, "http_error", "http_500"),
    ({"status": 503, "body": "<html>busy</html>"}, "http_error", "http_503"),
    ({"status": 200, "body": "<html>a login page</html>"}, "stream_error", "no_stream"),
    ({"stream": {"whole": True}}, "stream_error", "no_stream"),
    ({"delay_headers": "forever"}, "timeout", "first_byte_timeout"),
    ({"delay_first_event": "forever"}, "timeout", "idle_timeout"),
    ({"stall": {"after_events": 3, "seconds": "forever"}}, "timeout", "idle_timeout"),
    ({"write_bytes": 40, "pause": 0.2}, "timeout", "total_timeout"),
    ({"reset": "before_headers"}, "connect_error", "disconnected"),
    ({"close": "before_headers"}, "connect_error", "disconnected"),
    ({"reset": {"after_events": 3}}, "stream_error", "reset"),
    ({"close": {"after_events": 3}}, "stream_error", "incomplete"),
    ({"missing_bytes": 100}, "stream_error", "incomplete"),
    ({"status_line": "HTTP/1.1 abc OK"}, "stream_error", "malformed_http"),
    ({"malformed_chunk": {"after_events": 2, "text": "zz"}}, "stream_error", "malformed_http"),
    ({"stream": {"insert": [{"after_events": 2, "what": "error", "end": True}]}}, "stream_error", "error_in_stream"),
    ({"stream": {"insert": [{"after_events": 2, "what": "error_event"}]}}, "stream_error", "error_in_stream"),
    ({"stream": {"insert": [{"after_events": 2, "what": "not_json"}]}}, "stream_error", "malformed_event"),
    ({"stream": {"insert": [{"after_events": 2, "data": {"id": "x"}, "end": True}]}}, "stream_error", "unfinished"),
]
FORMS: list[dict[str, Any]] = [
    {},
    {"line_end": "crlf"},
    {"line_end": "cr"},
    {"space": False},
    {"comment": "ping"},
    {"event": "message", "id": True, "retry": 3000},
    {"multi_line": True},
    {"bom": True},
    {"chunk_bytes": 1},
    {"write_bytes": 1},
    {"line_end": "crlf", "write_bytes": 1},
    {"events_per_write": 4},
    {"events_per_write": 0},
    {"texts": ["日本", "", "🙂"], "write_bytes": 1},
    {"done": False},
    {"last": "line"},
    {"last": "none"},
    {"usage": "last"},
    {"usage": "every"},
    {"usage": "absent"},
    {"opening": 2},
    {"insert": [{"after_events": 2, "what": "empty_choices"}, {"after_events": 3, "what": "no_choices"}]},
]


def rule_of(form: dict[str, Any]) -> dict[str, Any]:
    """Bytes per write are a matter of the connection, the rest of the stream."""
    rule = {name: form[name] for name in ("write_bytes",) if name in form}
    return {**rule, "stream": {name: value for name, value in form.items() if name not in rule}}


def numbered(rules: list[dict[str, Any]]) -> str:
    return orjson.dumps([{**rule, "requests": number} for number, rule in enumerate(rules, start=1)]).decode()


def played(tmp_path: Path, rules: list[dict[str, Any]], send: str = "text") -> list[Outcome]:
    """One request for each rule, in order; every one on a connection of its own."""
    plan = tmp_path / "plan.yaml"
    plan.write_text(numbered(rules))

    async def go(url: str) -> list[Outcome]:
        found = []
        for _ in rules:
            async with WireClient(QUICK) as wire:
                client = CompletionClient(wire, "prefixcache-reference", send)  # type: ignore[arg-type]
                prompt = Prompt(TEXT, None, OUTPUT, [{"role": "user", "content": TEXT}])
                found.append(await client.complete(prompt, Target(Endpoint(url))))
        return found

    with EngineProcess(EngineOptions("embedded", faults=str(plan), model="prefixcache-reference")) as engine:
        return asyncio.run(go(engine.url))


def test_failures_by_kind(tmp_path: Path) -> None:
    outcomes = played(tmp_path, [rule for rule, _, _ in FAILURES])
    for outcome, (rule, status, failure) in zip(outcomes, FAILURES, strict=True):
        assert (outcome.status, outcome.failure) == (status, failure), (rule, outcome.error)
        assert outcome.error and outcome.attempts == 1
        assert TEXT not in outcome.error
    assert outcomes[1].retry_after == 1.0


@pytest.mark.parametrize("send", ["text", "chat"])
def test_odd_streams_are_good_answers(tmp_path: Path, send: str) -> None:
    outcomes = played(tmp_path, [rule_of(form) for form in FORMS], send)
    for outcome, form in zip(outcomes, FORMS, strict=True):
        assert (outcome.status, outcome.error) == ("ok", None), form
        tokens = len(outcome.tokens_at)
        # An empty text may be half a character, so it counts; a chat's opening says by its role that it is none.
        assert tokens == OUTPUT + (form.get("opening", 0) if send == "text" else 0), form
        assert outcome.first_byte is not None and outcome.first_token is not None and outcome.last_token is not None
        assert outcome.first_byte <= outcome.first_token <= outcome.last_token
        counted = (None, None) if form.get("usage") == "absent" else (OUTPUT, "usage")
        assert (outcome.usage.completion_tokens, outcome.output_by) == counted, form
        assert outcome.usage.prompt_tokens is None or outcome.usage.prompt_tokens > 5


def test_thoughts_and_tools_are_tokens_but_no_visible_text(tmp_path: Path) -> None:
    [outcome] = played(tmp_path, [{"stream": {"reasoning": 2, "tool_calls": 1}, "delay_first_event": 0.1}], "chat")
    assert (outcome.status, len(outcome.tokens_at)) == ("ok", OUTPUT)
    assert outcome.first_text is not None and outcome.first_text >= outcome.tokens_at[3]
    assert outcome.first_token == outcome.tokens_at[0]


def test_a_delay_is_seen_where_it_is(tmp_path: Path) -> None:
    rules = [{"delay_headers": 0.3}, {"delay_first_event": 0.3}, {"stall": {"after_events": 3, "seconds": 0.3}}]
    late_head, late_token, stalled = played(tmp_path, rules)
    for outcome in (late_head, late_token, stalled):
        assert outcome.sent and outcome.first_byte and outcome.first_token and outcome.longest_gap is not None
    assert late_head.first_byte - late_head.sent > 0.25  # type: ignore[operator]
    assert late_token.first_byte - late_token.sent < 0.25 < late_token.first_token - late_token.first_byte  # type: ignore[operator]
    assert stalled.longest_gap is not None and stalled.longest_gap > 0.25


def test_kept_connections_that_are_closed(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(orjson.dumps([{"requests": n, "keep_alive": how} for n, how in (
        (1, "close_silently"), (2, "close_on_next"), (4, "announce"),
    )]).decode())  # fmt: skip

    async def go(url: str) -> list[Outcome]:
        found = []
        async with WireClient(QUICK) as wire:
            client = CompletionClient(wire, "prefixcache-reference", "text")
            for _ in range(5):
                found.append(await client.complete(Prompt(TEXT, None, OUTPUT), Target(Endpoint(url))))
                await asyncio.sleep(0.1)
        return found

    with EngineProcess(EngineOptions("embedded", faults=str(plan), model="prefixcache-reference")) as engine:
        outcomes = asyncio.run(go(engine.url))
    assert [outcome.status for outcome in outcomes] == ["ok"] * 5
    assert [outcome.retried for outcome in outcomes] == [(), (), ("keepalive_closed",), (), ()]
    assert [outcome.connection for outcome in outcomes] == ["new", "new", "new", "reused", "new"]
