"""Answers in place of the engine's, and answers that break HTTP, byte by byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.reference.faults.conftest import COMPLETIONS, StartFaulty

pytestmark = pytest.mark.engine

ASKED: dict[str, Any] = {"prompt": [20, 21, 22], "max_tokens": 2}


class TestInstead:
    @pytest.mark.parametrize("status", [400, 429, 500, 503])
    def test_a_status_with_vllms_error_object(self, start_faulty: StartFaulty, status: int) -> None:
        engine = start_faulty({"requests": 1, "status": status})
        answer = engine.complete()
        assert (answer.status, answer.ending) == (status, "complete")
        assert answer.headers["content-type"] == "application/json"
        assert json.loads(answer.body)["error"]["code"] == status
        assert sum(v for k, v in engine.series().items() if k.startswith("vllm:prefix_cache_queries_total")) == 0
        assert engine.complete().status == 200

    @pytest.mark.parametrize("after", [3, "Wed, 21 Oct 2026 07:28:00 GMT"])
    def test_retry_after(self, start_faulty: StartFaulty, after: int | str) -> None:
        answer = start_faulty({"status": 429, "retry_after": after}).complete()
        assert answer.headers["retry-after"] == str(after)

    def test_headers_replace_those_there_are(self, start_faulty: StartFaulty) -> None:
        answer = start_faulty({"headers": {"X-Custom": 5, "Content-Type": "text/odd"}}).complete()
        assert (answer.status, answer.headers["x-custom"], answer.headers["content-type"]) == (200, "5", "text/odd")
        assert answer.raw.lower().count(b"content-type:") == 1

    def test_a_page_of_html_with_200(self, start_faulty: StartFaulty) -> None:
        answer = start_faulty({"body": "<html>Bad gateway</html>"}).complete()
        assert (answer.status, answer.body) == (200, b"<html>Bad gateway</html>")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"

    def test_bodies_of_json_and_of_a_given_type(self, start_faulty: StartFaulty) -> None:
        engine = start_faulty(
            {"requests": 1, "status": 500, "body": {"detail": "no"}},
            {"requests": 2, "status": 418, "body": "x", "content_type": "text/x"},
        )
        first, second = engine.complete(), engine.complete()
        assert (first.headers["content-type"], json.loads(first.body)) == ("application/json", {"detail": "no"})
        assert (second.status, second.headers["content-type"], second.body) == (418, "text/x", b"x")

    def test_a_stream_of_ones_own_is_sent_as_written(self, start_faulty: StartFaulty) -> None:
        script = "data: {}\r\n\r\ndata:x\r\r"
        answer = start_faulty({"body": script, "content_type": "text/event-stream"}).complete()
        assert (answer.body, answer.headers["transfer-encoding"]) == (script.encode(), "chunked")

    def test_the_metrics_page(self, start_faulty: StartFaulty) -> None:
        engine = start_faulty(
            {"path": "/metrics", "requests": 1, "status": 500},
            {"path": "/metrics", "requests": 2, "body": "<html>"},
        )
        assert [engine.get("/metrics").status for _ in range(3)] == [500, 200, 200]
        assert engine.get("/metrics").headers["content-type"].startswith("text/plain")


class TestBroken:
    def test_a_status_line(self, start_faulty: StartFaulty) -> None:
        answer = start_faulty({"status_line": "HTTP/1.1 abc OK"}).complete(seconds=2)
        assert answer.raw.startswith(b"HTTP/1.1 abc OK\r\ncontent-type: text/event-stream")
        assert start_faulty({"status_line": ""}).complete(seconds=2).raw.startswith(b"\r\n")

    @pytest.mark.parametrize("stream", [True, False])
    def test_less_than_the_length_says(self, start_faulty: StartFaulty, stream: bool) -> None:
        answer = start_faulty({"missing_bytes": 100}).complete(stream=stream)
        assert answer.ending == "closed"
        assert int(answer.headers["content-length"]) == len(answer.body) + 100
        assert answer.body.endswith(b"data: [DONE]\n\n" if stream else b"}")

    def test_a_chunk_without_size(self, start_faulty: StartFaulty) -> None:
        answer = start_faulty({"malformed_chunk": {"after_events": 2, "text": "xyz"}}).complete()
        assert answer.ending == "closed"
        assert len(answer.objects) == 2
        assert b"\r\nxyz\r\n" in answer.raw

    def test_bytes_of_a_write(self, start_faulty: StartFaulty) -> None:
        answer = start_faulty({"write_bytes": 7, "pause": 0.001}).complete(tokens=1)
        assert answer.ending == "complete"
        assert answer.status == 200
        assert max(len(data) for _, data in answer.reads) < 100  # reads may join a few writes
        assert len(answer.reads) > len(answer.raw) / 7 / 3


class TestKeepAlive:
    def asked_twice(self, start_faulty: StartFaulty, keep_alive: str) -> list[Any]:
        engine = start_faulty({"requests": 1, "keep_alive": keep_alive})
        link = engine.connect()
        first = link.ask(COMPLETIONS, ASKED)
        assert (first.status, first.ending) == (200, "complete")
        return [engine, link, first]

    def test_closed_without_a_word(self, start_faulty: StartFaulty) -> None:
        _, link, first = self.asked_twice(start_faulty, "close_silently")
        assert "connection" not in first.headers
        assert link.read(5).ending == "closed"

    def test_closed_when_the_next_request_comes(self, start_faulty: StartFaulty) -> None:
        engine, link, first = self.asked_twice(start_faulty, "close_on_next")
        assert "connection" not in first.headers
        assert link.read(0.1).ending == "open"
        second = link.ask(COMPLETIONS, ASKED, seconds=5)
        assert (second.raw, second.ending) == (b"", "closed")
        assert engine.complete().status == 200

    def test_announced(self, start_faulty: StartFaulty) -> None:
        _, link, first = self.asked_twice(start_faulty, "announce")
        assert first.headers["connection"] == "close"
        assert link.read(5).ending == "closed"

    def test_kept_alive_otherwise(self, start_faulty: StartFaulty) -> None:
        link = start_faulty({"requests": 9, "status": 500}).connect()
        for _ in range(3):
            assert link.ask(COMPLETIONS, {**ASKED, "stream": True}).ending == "complete"

    def test_a_client_that_wants_no_more(self, start_faulty: StartFaulty) -> None:
        link = start_faulty().connect()
        answer = link.ask(COMPLETIONS, ASKED, headers="connection: close\r\n")
        assert answer.headers["connection"] == "close"
        assert link.read(5).ending == "closed"


class TestWithoutFaults:
    def test_what_is_no_request_is_refused(self, start_faulty: StartFaulty) -> None:
        link = start_faulty().connect()
        link.socket.sendall(b"nonsense\r\n\r\n")
        assert link.read(5).status == 400

    def test_bodies_in_chunks_and_leave_asked_for(self, start_faulty: StartFaulty) -> None:
        link = start_faulty().connect()
        data = json.dumps(ASKED).encode()
        head = b"POST /v1/completions HTTP/1.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n"
        link.socket.sendall(head + b"expect: 100-continue\r\n\r\n")
        assert link.socket.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        link.socket.sendall(b"5\r\n%b\r\n%x;x=y\r\n%b\r\n0\r\n\r\n" % (data[:5], len(data) - 5, data[5:]))
        assert json.loads(link.read(5).body)["usage"]["completion_tokens"] == 2

    def test_routes_and_errors_are_the_engines(self, start_faulty: StartFaulty) -> None:
        engine = start_faulty()
        assert json.loads(engine.get("/v1/models").body)["data"][0]["id"] == "toy"
        assert engine.get("/nowhere").status == 404
        assert engine.complete(tokens=0).status == 400

    def test_a_client_that_leaves_ends_its_request(self, start_faulty: StartFaulty) -> None:
        engine = start_faulty(decode_tps=5)
        link = engine.connect()
        link.ask(COMPLETIONS, {**ASKED, "max_tokens": 900, "stream": True}, seconds=0.3)
        link.socket.close()
        running = 'vllm:num_requests_running{engine="0",model_name="toy"}'
        for _ in range(100):
            if engine.series()[running] == 0:
                return
        raise AssertionError("it still runs")
