"""Slow answers, stalls, resets and connections that close too early."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.faults.conftest import COMPLETIONS, StartFaulty

pytestmark = pytest.mark.engine

EVENTS_OF_4_TOKENS = 5  # and the end mark


class TestTime:
    def test_late_headers(self, start_faulty: StartFaulty) -> None:
        answer = start_faulty({"delay_headers": 0.6}).complete()
        assert answer.when(b"HTTP/1.1 200") >= 0.6

    def test_headers_in_time_and_a_late_first_event(self, start_faulty: StartFaulty) -> None:
        answer = start_faulty({"delay_first_event": 0.6}).complete()
        assert answer.when(b"\r\n\r\n") < 0.5
        assert answer.when(b"data:") >= 0.6
        assert answer.ending == "complete"

    def test_opening_chunks_come_before_the_delay(self, start_faulty: StartFaulty) -> None:
        answer = start_faulty({"delay_first_event": 0.6, "stream": {"opening": 1}}).chat()
        assert answer.when(b'"role"') < 0.5
        assert answer.when(b'"content":" ') >= 0.6

    @pytest.mark.parametrize("where", [{"after_events": 2}, {"after_bytes": 100}])
    def test_a_stall(self, start_faulty: StartFaulty, where: dict[str, int]) -> None:
        answer = start_faulty({"stall": {**where, "seconds": 0.6}}).complete()
        before = [data for moment, data in answer.reads if moment < 0.5]
        body = b"".join(before).partition(b"\r\n\r\n")[2]
        assert answer.ending == "complete"
        assert len(answer.events) == EVENTS_OF_4_TOKENS
        assert answer.when(b"[DONE]") >= 0.6
        if "after_events" in where:
            assert body.count(b"data:") == 2
        else:
            assert body == b"64\r\n" + answer.body[:100] + b"\r\n"

    def test_a_stall_for_ever_ends_with_the_client(self, start_faulty: StartFaulty) -> None:
        engine = start_faulty({"requests": 1, "stall": {"after_events": 1}}, decode_tps=1000)
        answer = engine.complete(seconds=0.6)
        assert (answer.ending, len(answer.objects)) == ("open", 1)
        assert engine.complete().ending == "complete"

    def test_for_ever_without_headers(self, start_faulty: StartFaulty) -> None:
        answer = start_faulty({"delay_headers": "forever"}).complete(seconds=0.6)
        assert (answer.ending, answer.raw) == ("open", b"")


class TestEnds:
    @pytest.mark.parametrize(("key", "ending"), [("reset", "reset"), ("close", "closed")])
    def test_before_headers(self, start_faulty: StartFaulty, key: str, ending: str) -> None:
        engine = start_faulty({"requests": 1, key: "before_headers"})
        answer = engine.complete()
        assert (answer.raw, answer.ending) == (b"", ending)
        assert sum(v for k, v in engine.series().items() if k.startswith("vllm:prefix_cache_queries_total")) == 0
        assert engine.complete().ending == "complete"

    @pytest.mark.parametrize(("key", "ending"), [("reset", "reset"), ("close", "closed")])
    @pytest.mark.parametrize("events", [0, 1, 3])
    @pytest.mark.parametrize("rates", [{}, {"decode_tps": 200}])
    def test_after_events(
        self, start_faulty: StartFaulty, key: str, ending: str, events: int, rates: dict[str, Any]
    ) -> None:
        answer = start_faulty({key: {"after_events": events}}, **rates).complete()
        assert (answer.status, answer.ending) == (200, ending)
        assert len(answer.objects) == events
        assert b"\r\n0\r\n" not in answer.raw

    @pytest.mark.parametrize(("key", "ending"), [("reset", "reset"), ("close", "closed")])
    @pytest.mark.parametrize("stream", [True, False])
    def test_after_bytes(self, start_faulty: StartFaulty, key: str, ending: str, stream: bool) -> None:
        answer = start_faulty({key: {"after_bytes": 123}}).complete(stream=stream)
        assert (answer.ending, len(answer.body)) == (ending, 123)

    def test_a_moment_that_never_comes(self, start_faulty: StartFaulty) -> None:
        assert start_faulty({"reset": {"after_events": 99}}).complete().ending == "complete"

    def test_the_engine_is_told_that_its_client_is_gone(self, start_faulty: StartFaulty) -> None:
        engine = start_faulty({"requests": 1, "reset": {"after_events": 1}}, decode_tps=10)
        engine.complete(tokens=500)
        aborted = 'vllm:request_success_total{engine="0",finished_reason="abort",model_name="toy"}'
        for _ in range(100):
            if engine.series()[aborted] == 1:
                return
        raise AssertionError("it was not aborted")

    def test_others_go_on(self, start_faulty: StartFaulty) -> None:
        engine = start_faulty({"requests": 2, "reset": {"after_events": 1}}, decode_tps=50)
        other = engine.connect()
        body = {"prompt": [30, 31], "max_tokens": 20, "stream": True}
        other.ask(COMPLETIONS, body, seconds=0.05, headers="connection: close\r\n")
        assert engine.complete().ending == "reset"
        rest = other.read()
        assert (rest.ending, rest.raw.endswith(b"[DONE]\n\n\r\n0\r\n\r\n")) == ("closed", True)
