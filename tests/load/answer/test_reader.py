"""Streams in every form that servers send, cut at every byte."""

from __future__ import annotations

import orjson
import pytest

from prefixcache.load.answer.forms import Interface, form_of
from prefixcache.load.answer.reader import AnswerReader, retry_after
from prefixcache.load.request.outcome import Outcome
from tests.load.scripted import COUNTS, DONE, USAGE, event


def read(stream: bytes, cut: int = 0, interface: Interface = "completions", **more: bool) -> Outcome:
    """The outcome of a stream that comes in two pieces, at moments 1 and 2 (or all at 1)."""
    outcome = Outcome(sent=0.5)
    reader = AnswerReader(outcome, form_of(interface), **more)
    reader.head(200, {}, 0.9)
    for now, piece in ((1.0, stream[: cut or len(stream)]), (2.0, stream[cut:] if cut else b"")):
        if piece:
            reader.body(piece, now)
    reader.close(3.0, whole=True)
    return outcome


def facts(outcome: Outcome) -> tuple[object, ...]:
    usage = outcome.usage
    return outcome.status, len(outcome.tokens_at), usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens


PLAIN = event("a") + event("b", finish="length") + USAGE + DONE
FORMS: dict[str, bytes] = {
    "plain": PLAIN,
    "crlf": PLAIN.replace(b"\n", b"\r\n"),
    "cr": PLAIN.replace(b"\n", b"\r"),
    "without_blank": PLAIN.replace(b"data: ", b"data:"),
    "comments": b": ping\n\n" + PLAIN.replace(b"data", b": keep-alive\n\ndata"),
    "event_lines": PLAIN.replace(b"data", b"event: message\nid: 7\nretry: 100\ndata"),
    "bom": b"\xef\xbb\xbf" + PLAIN,
    "data_over_two_lines": PLAIN.replace(b'"choices":', b'"choices":\ndata: '),
    "no_done": PLAIN.removesuffix(DONE),
    "last_event_without_blank_line": PLAIN[:-2],
    "multi_byte": PLAIN.replace(b'"a"', '"日本🙂"'.encode()),
    "usage_in_the_last": event("a") + event("b", finish="length", more=f',"usage":{COUNTS}') + DONE,
    "usage_on_every_chunk": event("a", more=',"usage":{"prompt_tokens":9,"completion_tokens":1}')
    + event("b", finish="length", more=f',"usage":{COUNTS}')
    + DONE,
    "usage_null": event("a", more=',"usage":null') + event("b", finish="length", more=',"usage":null') + USAGE + DONE,
    "empty_choices_between": b'data: {"choices":[]}\n\n' + PLAIN,
    "no_choices_between": b'data: {"id":"x"}\n\ndata: [1]\n\n' + PLAIN,
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_split_at_every_byte(name: str) -> None:
    stream = FORMS[name]
    for cut in range(len(stream)):
        outcome = read(stream, cut)
        assert facts(outcome) == ("ok", 2, 9, 2, 5), cut
        assert outcome.first_token in (1.0, 2.0) and outcome.first_byte == 0.9
        assert outcome.failure is None


def test_moments_are_those_of_the_piece_that_ends_an_event() -> None:
    whole = len(event("a"))
    assert list(read(PLAIN, whole - 1).tokens_at) == [2.0, 2.0]
    early = read(PLAIN, whole)
    assert (list(early.tokens_at), early.first_token, early.last_token) == ([1.0, 2.0], 1.0, 2.0)


def chat(**delta: object) -> bytes:
    finish = delta.pop("finish", None)
    return b"data: " + orjson.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}) + b"\n\n"


def test_what_counts_as_a_token_of_a_chat() -> None:
    tool = [{"index": 0, "function": {"name": "f", "arguments": ""}}]
    stream = (
        chat(role="assistant", content="")
        + chat(reasoning_content="hm")
        + chat(tool_calls=tool)
        + chat(content="")  # half a character
        + chat(content="hi")
        + chat(finish="stop")
        + DONE
    )
    outcome = Outcome()
    reader = AnswerReader(outcome, form_of("chat"))
    reader.head(200, {}, 0.0)
    for number, piece in enumerate(stream.split(b"\n\n"), start=1):
        reader.body(piece + b"\n\n", float(number))
    reader.close(9.0, whole=True)
    assert (outcome.status, list(outcome.tokens_at)) == ("ok", [2.0, 3.0, 4.0, 5.0])
    assert (outcome.first_token, outcome.first_text, outcome.last_token) == (2.0, 5.0, 5.0)


def test_sglangs_generate_tells_the_whole_answer_every_time() -> None:
    def said(text: str, tokens: int, finish: object = None) -> bytes:
        meta = {"prompt_tokens": 9, "completion_tokens": tokens, "cached_tokens": 5, "finish_reason": finish}
        return b"data: " + orjson.dumps({"text": text, "meta_info": meta}) + b"\n\n"

    stream = said("a", 1) + said("a", 1) + said("ab", 2) + said("ab", 2, {"type": "length", "length": 2}) + DONE
    outcome = read(stream, interface="generate", keep_text=True)
    assert facts(outcome) == ("ok", 2, 9, 2, 5)
    assert "".join(outcome.text) == "ab"


@pytest.mark.parametrize(
    ("stream", "failure", "text"),
    [
        (
            event("a") + b'data: {"error":{"message":"out of memory","code":500}}\n\n',
            "error_in_stream",
            "out of memory",
        ),
        (event("a") + b'event: error\ndata: {"message":"gone"}\n\n' + DONE, "error_in_stream", "gone"),
        (event("a") + b'data: {"object":"error","message":"gone"}\n\n', "error_in_stream", "gone"),
        (event("a") + b"data: {oops\n\n" + event("b", finish="stop"), "malformed_event", "not JSON"),
        (event("a") + b'data: {"choices":"no"}\n\n', "malformed_event", "no list of objects"),
        (event("a") + event("", finish="abort") + USAGE + DONE, "error_in_stream", "gave the answer up (abort)"),
        (event("a"), "unfinished", "before the answer was finished"),
        (b"", "unfinished", "before the answer was finished"),
        (DONE, "unfinished", "before the answer was finished"),
        (b'{"choices":[{"text":"a"}]}', "no_stream", ""),
        (b"<html><body>busy</body></html>", "no_stream", "busy"),
    ],
)
def test_what_is_no_good_answer(stream: bytes, failure: str, text: str) -> None:
    outcome = read(stream)
    assert outcome.failure == failure
    assert text in (outcome.error or "")
    assert outcome.status != "ok"


@pytest.mark.parametrize("interface", ["chat", "generate"])
def test_an_answer_that_the_server_gave_up_is_no_good_one(interface: Interface) -> None:
    meta = {"completion_tokens": 1, "finish_reason": None}
    end = {"completion_tokens": 1, "finish_reason": {"type": "abort", "message": "too long", "status_code": 400}}
    if interface == "chat":
        stream = chat(content="a") + chat(content="", finish="abort") + DONE
    else:
        stream = b"".join(b"data: " + orjson.dumps({"text": "a", "meta_info": m}) + b"\n\n" for m in (meta, end)) + DONE
    outcome = read(stream, interface=interface)
    assert (outcome.failure, len(outcome.tokens_at)) == ("error_in_stream", 1)
    assert (outcome.error or "").startswith("the server gave the answer up (abort")
    assert interface == "chat" or "too long" in (outcome.error or "")


def test_an_error_answer_keeps_its_message_and_what_to_wait() -> None:
    outcome = Outcome()
    reader = AnswerReader(outcome, form_of("completions"))
    reader.head(429, {"retry-after": "3"}, 1.0)
    reader.body(b'{"error":{"message":"slow down"}}', 1.0)
    reader.close(1.0, whole=True)
    assert (outcome.failure, outcome.error, outcome.retry_after) == ("http_429", "slow down", 3.0)


def test_retry_after() -> None:
    assert [retry_after(text) for text in ("", "2", " 1.5 ", "-4", "soon", "nan", "inf")] == [
        *(None, 2.0, 1.5, 0.0, None, None, None)
    ]
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    later = retry_after("Fri, 31 Dec 2100 23:59:59 GMT")
    assert later is not None and later > 1e6
