from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixcache.load.request.sse import SSEParser

STREAM = (
    ": keep-alive\n\n"
    'data: {"text":"né 漢"}\n\n'
    "event: message\nid: 7\ndata:no blank\n\n"
    "data:  two blanks\n\n"
    "data: first\ndata: second\n\n"
    "retry: 10\n\n"
    "data\n\n"
    "data: [DONE]\n\n"
).encode()
EVENTS = ['{"text":"né 漢"}'.encode(), b"no blank", b" two blanks", b"first\nsecond", b"", b"[DONE]"]


def parse(chunks: list[bytes]) -> list[bytes]:
    parser = SSEParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.close()


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_split_at_every_byte(ending: bytes) -> None:
    stream = STREAM.replace(b"\n", ending)
    assert parse([stream]) == EVENTS
    for at in range(len(stream) + 1):
        assert parse([stream[:at], stream[at:]]) == EVENTS
    assert parse([stream[i : i + 1] for i in range(len(stream))]) == EVENTS


@given(st.lists(st.integers(0, len(STREAM) * 2), max_size=8), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_any_cuts_give_the_same_events(cuts: list[int], ending: bytes) -> None:
    stream = STREAM.replace(b"\n", ending)
    marks = [0, *sorted(min(c, len(stream)) for c in cuts), len(stream)]
    assert parse([stream[a:b] for a, b in itertools.pairwise(marks)]) == EVENTS


def test_last_event_without_blank_line_is_handed_out_at_the_end() -> None:
    parser = SSEParser()
    assert parser.feed(b"data: one\n\ndata: tw") == [b"one"]
    assert parser.feed(b"o") == []
    assert parser.close() == [b"two"]
    assert parser.close() == []


def test_byte_order_mark_is_dropped_even_when_split() -> None:
    assert parse([b"\xef", b"\xbb", b"\xbfdata: x\n\n"]) == [b"x"]


def test_a_line_that_many_reads_bring_is_put_together_once() -> None:
    parser = SSEParser()
    assert parser.feed(b"data: ") == []
    began = time.process_time()
    for _ in range(20_000):
        assert parser.feed(b"y" * 1000) == []
    assert time.process_time() - began < 1.0  # copying what came before each time takes a minute
    assert parser.feed(b"\n\n") == [b"y" * 20_000_000]


def test_a_stream_without_line_ends_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefixcache.load.request.sse.MOST_EVENT_BYTES", 1000)
    parser = SSEParser()
    for _ in range(50):  # long streams of short events are none
        assert len(parser.feed(b"data: " + b"y" * 90 + b"\n\n")) == 1
    with pytest.raises(ValueError, match="longer than"):
        for _ in range(12):
            parser.feed(b"data: " + b"y" * 90 + b"\n")  # lines of one event that does not end
