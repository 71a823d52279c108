"""Engines with a fault plan inside the test process, and a client that sees every byte of theirs."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from prefixcache.reference.faults.front import front_of
from prefixcache.reference.faults.plan import parse_plan
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.server import _bound, build_app

WAIT_S = 20.0


@contextmanager
def faulty(rules: list[dict[str, Any]], options: EngineOptions) -> Iterator[int]:
    """An engine that serves by a plan; gives its port."""
    front = front_of(build_app(options), parse_plan(rules))
    listener = _bound("127.0.0.1", 0)
    port = int(listener.getsockname()[1])
    accepting = threading.Event()
    told: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        stop = asyncio.Event()
        told.append((asyncio.get_running_loop(), stop))
        await front.serve(listener, accepting.set, stop)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert accepting.wait(WAIT_S), "the server did not start"
        yield port
    finally:
        loop, stop = told[0]
        loop.call_soon_threadsafe(stop.set)
        thread.join(WAIT_S)
        assert not thread.is_alive(), "the server did not end"


@dataclass
class Answer:
    """What came back.

    Attributes:
        head: bytes up to the empty line, without it; empty where there was none.
        body: payload as far as it came, without chunk framing.
        chunks: payload of each HTTP chunk, where there are any.
        reads: what each read of the socket gave, with its moment in seconds since the request.
        ending: ``complete`` by length or last chunk, ``closed``, ``reset``, or ``open`` after the given seconds.
        raw: all bytes of the answer.
    """

    head: bytes = b""
    body: bytes = b""
    chunks: list[bytes] = field(default_factory=list)
    reads: list[tuple[float, bytes]] = field(default_factory=list)
    ending: str = ""
    raw: bytes = b""

    @property
    def status(self) -> int:
        return int(self.head.split(b" ")[1])

    @property
    def headers(self) -> dict[str, str]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def events(self) -> list[str]:
        """Texts of the events of a plain stream (``data: `` and a blank line)."""
        blocks = self.body.decode().split("\n\n")
        return [block.removeprefix("data: ") for block in blocks if block.startswith("data: ")]

    @property
    def objects(self) -> list[Any]:
        return [json.loads(text) for text in self.events if text != "[DONE]"]

    def when(self, text: bytes) -> float:
        """When all bytes up to the end of the first ``text`` had come."""
        seen = b""
        for moment, data in self.reads:
            seen += data
            if text in seen:
                return moment
        raise AssertionError(f"{text!r} did not come")


class Raw:
    """One connection. Nothing is retried, hidden or repaired."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *exc: object) -> None:
        self.socket.close()

    def ask(
        self, path: str, body: dict[str, Any] | None = None, *, seconds: float = WAIT_S, headers: str = ""
    ) -> Answer:
        """Send a request, POST if there is a body, and read its answer, no longer than so many seconds."""
        data = b"" if body is None else json.dumps(body).encode()
        method = "GET" if body is None else "POST"
        head = f"{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{headers}"
        begun = time.perf_counter()
        self.socket.sendall(f"{head}content-length: {len(data)}\r\n\r\n".encode() + data)
        return self.read(seconds, begun)

    def read(self, seconds: float = WAIT_S, begun: float | None = None) -> Answer:
        answer = Answer()
        begun = time.perf_counter() if begun is None else begun
        while True:
            left = begun + seconds - time.perf_counter()
            if left <= 0:
                answer.ending = "open"
                break
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(1 << 16)
            except TimeoutError:
                continue
            except ConnectionResetError:
                answer.ending = "reset"
                break
            if not data:
                answer.ending = "closed"
                break
            answer.raw += data
            answer.reads.append((time.perf_counter() - begun, data))
            if _whole(answer):
                answer.ending = "complete"
                break
        _whole(answer)
        return answer


def _whole(answer: Answer) -> bool:
    """Parse what has come; True once it is a whole answer."""
    head, end, rest = answer.raw.partition(b"\r\n\r\n")
    if not end:
        return False
    answer.head = head
    if answer.headers.get("transfer-encoding") == "chunked":
        return _chunked(answer, rest)
    answer.body = rest
    length = answer.headers.get("content-length")
    return length is not None and len(rest) >= int(length)


def _chunked(answer: Answer, rest: bytes) -> bool:
    answer.chunks, answer.body = [], b""
    while True:
        line, end, rest = rest.partition(b"\r\n")
        if not end:
            return False
        try:
            size = int(line, 16)
        except ValueError:
            return False
        if size == 0:
            return rest == b"\r\n"
        answer.body += rest[:size]
        answer.chunks.append(rest[:size])
        if len(rest) < size + 2:
            return False
        rest = rest[size + 2 :]
