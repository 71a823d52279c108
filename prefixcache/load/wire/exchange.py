"""One request and its answer on one connection."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

import httptools

from prefixcache.engines.http import Timeouts
from prefixcache.load.wire.encoding import Inflater, inflater
from prefixcache.load.wire.failure import WireError, WireKind

MOST_HEADER_BYTES = 1 << 18
MOST_UNHEADED_BYTES = 1 << 20
INFORMATIONAL = range(100, 200)
SWITCHING = 101
ANOTHER_PROTOCOL = "the server switches to another protocol, which it was not asked for"


class Receiver(Protocol):
    """Takes an answer as it arrives; ``now`` is the ``time.perf_counter`` of the read that brought it."""

    def head(self, status: int, headers: dict[str, str], now: float) -> None:
        """Status and headers, names in lower case."""

    def body(self, data: bytes, now: float) -> None:
        """A piece of the body, decoded."""


class Exchange:
    """Parses the bytes of one answer and hands them on; ``done`` is set when the last byte was read or none will come.

    Args:
        receiver: takes the answer.
        fresh: whether the connection was never used before.
    """

    def __init__(self, receiver: Receiver, *, fresh: bool, loop: asyncio.AbstractEventLoop) -> None:
        self.done: asyncio.Future[None] = loop.create_future()
        self.keep_alive = False
        self.last_read: float | None = None
        self.now = 0.0
        self._receiver = receiver
        self._fresh = fresh
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._header_bytes = 0
        self._unheaded_bytes = 0
        self._headed = False
        self._framed = False
        self._complete = False
        self._inflater: Inflater | None = None

    @property
    def answered(self) -> bool:
        """Whether any byte of the answer has come."""
        return self.last_read is not None

    def received(self, data: bytes, now: float) -> None:
        """Bytes from the connection."""
        self.last_read = self.now = now
        if not self._headed:
            self._unheaded_bytes += len(data)
            if self._unheaded_bytes > MOST_UNHEADED_BYTES:  # the parser hands on whole headers only
                self.fail("malformed_http", f"no end of its headers within {MOST_UNHEADED_BYTES:,} bytes")
                return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.fail("malformed_http", ANOTHER_PROTOCOL)
        except httptools.HttpParserCallbackError as error:
            cause = error.__context__ or error
            self.fail("malformed_http", str(cause) or type(cause).__name__)
        except httptools.HttpParserError as error:
            # Bytes behind a complete answer break the connection, not the answer.
            if self._complete:
                self.keep_alive = False
            else:
                self.fail("malformed_http", f"the answer is not HTTP/1.1: {error}")

    def ended(self, error: BaseException | None) -> None:
        """The connection is gone."""
        if self.done.done():
            return
        if not self.answered:
            kind: WireKind = "disconnected" if self._fresh else "keepalive_closed"
            self.fail(kind, "the server closed the connection without an answer")
        elif error is not None:
            self.fail("reset", f"the connection broke within the answer ({_said(error)})")
        elif self._headed and not self._framed:
            self._finish()
        else:
            self.fail("incomplete", "the server closed the connection within the answer")

    def fail(self, kind: WireKind, text: str) -> None:
        self.keep_alive = False
        if not self.done.done():
            self.done.set_exception(WireError(kind, text))

    # What follows is called by the parser.

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > MOST_HEADER_BYTES:
            raise ValueError(f"its headers are longer than {MOST_HEADER_BYTES:,} bytes")
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status == SWITCHING:
            raise ValueError(ANOTHER_PROTOCOL)
        if status in INFORMATIONAL or self._headed:
            return
        self._headed = True
        self._framed = "content-length" in self._headers or "transfer-encoding" in self._headers
        self._receiver.head(status, self._headers, self.now)
        self._inflater = inflater(self._headers.get("content-encoding", ""))

    def on_body(self, data: bytes) -> None:
        if self._complete:
            return
        if self._inflater is None:
            self._receiver.body(data, self.now)
            return
        for piece in self._inflater.feed(data):
            self._receiver.body(piece, self.now)

    def on_message_complete(self) -> None:
        if not self._headed:  # an informational answer; the real one follows
            self._headers = {}
            return
        if not self._complete:
            self.keep_alive = self._framed and self._parser.should_keep_alive()
            self._finish()

    def _finish(self) -> None:
        self._complete = True
        if not self.done.done():
            self.done.set_result(None)


def _said(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return type(error).__name__


def next_deadline(exchange: Exchange, sent: float, timeouts: Timeouts) -> tuple[float, WireKind, str]:
    """Next moment at which the exchange is overdue, and what is to be said then."""
    idle, total, last = timeouts.idle, timeouts.total, exchange.last_read
    first = idle if timeouts.first_byte is None else timeouts.first_byte
    until = sent + total
    if last is None:
        if sent + first <= until:
            return sent + first, "first_byte_timeout", f"timeout: no byte of the answer within {first:g} s"
    elif last + idle <= until:
        return last + idle, "idle_timeout", f"timeout: no further byte of the answer within {idle:g} s"
    return until, "total_timeout", f"timeout: no complete answer within {total:g} s"


class Watch:
    """Ends an exchange that is overdue. One timer, set again only when it fires: a byte costs it nothing."""

    def __init__(self, exchange: Exchange, sent: float, timeouts: Timeouts) -> None:
        self._exchange, self._sent, self._timeouts = exchange, sent, timeouts
        self._loop = asyncio.get_running_loop()
        due, _, _ = next_deadline(exchange, sent, timeouts)
        self._timer = self._loop.call_later(max(0.0, due - time.perf_counter()), self._look)

    def _look(self) -> None:
        due, kind, text = next_deadline(self._exchange, self._sent, self._timeouts)
        left = due - time.perf_counter()
        if left <= 0:
            self._exchange.fail(kind, text)
        else:
            self._timer = self._loop.call_later(left, self._look)

    def cancel(self) -> None:
        self._timer.cancel()
