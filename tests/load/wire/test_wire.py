"""The wire client against a server that sends exactly what it is told to."""

from __future__ import annotations

import asyncio
import gzip
import socket
import time
import zlib
from typing import Any

import pytest

from prefixcache.engines.http import Timeouts
from prefixcache.load.wire.client import Sent, WireClient
from prefixcache.load.wire.failure import WireError
from tests.load.scripted import Step, chunked, scripted

QUICK = Timeouts(connect=1, idle=0.3, total=1.2)


class Taker:
    """Takes an answer."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []
        self.moments: list[float] = []

    def head(self, status: int, headers: dict[str, str], now: float) -> None:
        self.status, self.headers = status, headers

    def body(self, data: bytes, now: float) -> None:
        self.pieces.append(data)
        self.moments.append(now)

    @property
    def whole(self) -> bytes:
        return b"".join(self.pieces)


def post(url: str, timeouts: Timeouts = QUICK, **more: Any) -> tuple[Taker, Sent]:
    async def go() -> tuple[Taker, Sent]:
        taker, sent = Taker(), Sent()
        async with WireClient(timeouts) as wire:
            await wire.post(url, {"X-Own": "1"}, b"{}", taker, sent, **more)
        return taker, sent

    return asyncio.run(go())


def failing(steps: list[Step], timeouts: Timeouts = QUICK) -> WireError:
    with scripted([steps]) as server, pytest.raises(WireError) as caught:
        post(f"{server.url}/x", timeouts)
    return caught.value


def test_the_request_is_what_the_standard_wants() -> None:
    with scripted([[b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"]]) as server:
        taker, sent = post(f"{server.url}/v1/x?key=1")
        head, _, body = server.seen[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /v1/x?key=1 HTTP/1.1"
    assert f"Host: {server.url.removeprefix('http://')}" in lines
    assert {"Content-Length: 2", "X-Own: 1", "Accept-Encoding: identity"} <= set(lines)
    assert (body, taker.status, taker.whole, sent.reused) == (b"{}", 200, b"hi", False)
    assert sent.written is not None and taker.moments[0] >= sent.written


@pytest.mark.parametrize(
    "answer",
    [
        chunked(b"hello", b" world"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nB;ext=1\r\nhello world\r\n0\r\nTrailer: x\r\n\r\n",
    ],
    ids=["chunks", "length", "continue", "extension_and_trailer"],
)
def test_framings_however_they_are_split(answer: bytes) -> None:
    for size in (1, 2, 7, len(answer)):
        steps: list[Step] = [answer[at : at + size] for at in range(0, len(answer), size)]
        with scripted([steps]) as server:
            taker, _ = post(server.url)
        assert (taker.status, taker.whole) == (200, b"hello world"), size


def test_a_body_that_ends_with_the_connection() -> None:
    with scripted([[b"HTTP/1.1 200 OK\r\n\r\nhello", 0.05, b" world", "close"]]) as server:
        assert post(server.url)[0].whole == b"hello world"


def test_gzip_is_undone_although_it_was_not_asked_for() -> None:
    packed = gzip.compress(b"hello world")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    with scripted([[head, packed[:5], 0.02, packed[5:]]]) as server:
        assert post(server.url)[0].whole == b"hello world"


def test_a_piece_is_stamped_when_it_comes() -> None:
    with scripted([[chunked(b"a", end=False), 0.2, b"1\r\nb\r\n0\r\n\r\n"]]) as server:
        taker, _ = post(server.url)
    assert taker.pieces == [b"a", b"b"]
    assert taker.moments[1] - taker.moments[0] > 0.15


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        (["close"], "disconnected"),
        (["reset"], "disconnected"),
        ([chunked(b"a", end=False), 0.05, "close"], "incomplete"),
        ([chunked(b"a", end=False), 0.05, "reset"], "reset"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "close"], "incomplete"),
        ([b"HTTP/1.1 200 OK\r\nContent-", "close"], "incomplete"),
        ([b"HTTP/1.1 abc OK\r\n\r\n", "close"], "malformed_http"),
        ([b"SSH-2.0-OpenSSH\r\n", 0.1], "malformed_http"),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\na", 0.1], "malformed_http"),
        ([b"HTTP/1.1 200 OK\r\nX: " + b"a" * 400_000 + b"\r\n\r\n", 0.1], "malformed_http"),
        ([b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", 0.1], "malformed_http"),
        ([2.0], "first_byte_timeout"),
        ([chunked(b"a", end=False), 2.0], "idle_timeout"),
        ([chunked(b"a", end=False), *([0.1, b"1\r\nb\r\n"] * 20)], "total_timeout"),
    ],
)
def test_failures_by_kind(steps: list[Step], kind: str) -> None:
    assert failing(steps).kind == kind


def test_the_first_byte_has_a_deadline_of_its_own() -> None:
    patient = Timeouts(connect=1, idle=0.2, total=5, first_byte=2)
    with scripted([[0.6, chunked(b"a")]]) as server:
        assert post(server.url, patient)[0].whole == b"a"
    hasty = Timeouts(connect=1, idle=5, total=9, first_byte=0.2)
    began = time.perf_counter()
    assert failing([2.0], hasty).kind == "first_byte_timeout"
    assert time.perf_counter() - began < 1.5


def test_nobody_listens_nobody_is_known_nobody_answers() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        for url, kind in ((f"http://127.0.0.1:{port}", "refused"), ("http://no-such-host.invalid", "dns")):
            with pytest.raises(WireError) as caught:
                post(url)
            assert caught.value.kind == kind


def many(url: str, count: int, pause: float = 0.0) -> list[tuple[Sent, str]]:
    async def go() -> list[tuple[Sent, str]]:
        found = []
        async with WireClient(QUICK) as wire:
            for _ in range(count):
                sent, kind = Sent(), "ok"
                try:
                    await wire.post(url, {}, b"{}", Taker(), sent)
                except WireError as error:
                    kind = error.kind
                found.append((sent, kind))
                await asyncio.sleep(pause)
        return found

    return asyncio.run(go())


def test_connections_are_kept_and_dropped_when_the_server_says_so() -> None:
    with scripted([[chunked(b"a")]]) as server:
        assert [(sent.reused, kind) for sent, kind in many(server.url, 3)] == [
            (False, "ok"),
            (True, "ok"),
            (True, "ok"),
        ]
        assert server.connections == 1
    with scripted([[chunked(b"a", head=b"Connection: close\r\n"), "close"]]) as server:
        assert [kind for _, kind in many(server.url, 3)] == ["ok"] * 3
        assert server.connections == 3
    with scripted([[chunked(b"a") + b"rubbish behind the answer"]]) as server:
        assert [kind for _, kind in many(server.url, 2)] == ["ok"] * 2
        assert server.connections == 2


def test_a_kept_connection_that_the_server_closes_is_told_apart() -> None:
    with scripted([[chunked(b"a"), "close"]]) as server:  # closed while nobody uses it: a new one is opened
        assert [kind for _, kind in many(server.url, 2, pause=0.1)] == ["ok", "ok"]
    with scripted([[chunked(b"a")], ["close"]]) as server:  # closed as the next request arrives
        assert [kind for _, kind in many(server.url, 2)] == ["ok", "keepalive_closed"]


def test_a_request_leaves_at_the_moment_it_is_told_to() -> None:
    with scripted([[chunked(b"a")]]) as server:
        at = time.perf_counter() + 0.25
        _, sent = post(server.url, at=at)
        assert sent.written is not None and 0 <= sent.written - at < 0.05


@pytest.mark.parametrize("more", [b"", b"Upgrade: websocket\r\nConnection: upgrade\r\n"])
def test_another_protocol_fails_the_request_at_once(more: bytes) -> None:
    error = failing([b"HTTP/1.1 101 Switching Protocols\r\n" + more + b"\r\nabc", 1.0], Timeouts(1, 5, 9))
    assert error.kind == "malformed_http" and "another protocol" in str(error)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"hello ") + gzip.compress(b"world")),
        ("deflate", zlib.compress(b"hello world")),
        ("deflate", zlib.compress(b"hello world")[2:-4]),  # without its header, as some servers send it
        ("identity", b"hello world"),
    ],
    ids=["gzip", "deflate", "raw deflate", "identity"],  # gzip's bytes tell the second: workers would name two tests
)
def test_compressed_answers_that_nobody_asked_for(encoding: str, body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with scripted([[head + body]]) as server:
        assert post(server.url)[0].whole == b"hello world"
    with scripted([[head + body[:7], 0.05, body[7:]]]) as server:
        assert post(server.url)[0].whole == b"hello world"


def test_a_few_bytes_that_stand_for_many_are_handed_on_in_pieces() -> None:
    body = gzip.compress(bytes(20 << 20))
    with scripted(
        [[b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + body, "close"]]
    ) as server:
        taker, _ = post(server.url, Timeouts(1, 5, 9))
    assert sum(map(len, taker.pieces)) == 20 << 20 and max(map(len, taker.pieces)) <= 1 << 20


def test_an_encoding_that_cannot_be_read_is_named() -> None:
    error = failing([b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\nabc", 0.1])
    assert error.kind == "malformed_http" and "'br'" in str(error)


def test_headers_without_an_end_are_not_read_for_ever() -> None:
    steps: list[Step] = [b"HTTP/1.1 200 OK\r\nX: " + b"a" * 2_000_000, 1.0]
    assert "no end of its headers" in str(failing(steps, Timeouts(1, 5, 9)))
