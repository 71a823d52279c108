"""One connection: requests read from it, bytes written to it, and its ways to end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from dataclasses import dataclass
from typing import Protocol as TypingProtocol
from urllib.parse import unquote_to_bytes

HEAD_LIMIT = 1 << 20
BODY_LIMIT = 1 << 30


class BadRequest(Exception):
    """What came is no HTTP/1 request."""


@dataclass(frozen=True)
class Request:
    """A whole request. Header names are in lower case."""

    method: str
    target: str
    version: str
    headers: list[tuple[bytes, bytes]]
    body: bytes

    @property
    def path(self) -> str:
        return unquote_to_bytes(self.target.partition("?")[0]).decode("utf-8", "replace")

    @property
    def query(self) -> bytes:
        return self.target.partition("?")[2].encode("latin-1")

    def header(self, name: bytes) -> str:
        return next((value.decode("latin-1") for key, value in self.headers if key == name), "")

    @property
    def keeps_alive(self) -> bool:
        return self.version == "1.1" and self.header(b"connection").lower() != "close"


class Listener(TypingProtocol):
    """What is told of a connection once it is there."""

    async def converse(self, link: Link) -> None: ...


class LinkProtocol(asyncio.StreamReaderProtocol):
    """A stream protocol that tells when the client is gone, also while nobody reads."""

    def __init__(self, listener: Listener) -> None:
        self.gone = asyncio.Event()
        self._listener = listener
        super().__init__(asyncio.StreamReader(limit=HEAD_LIMIT), self._connected)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._listener.converse(Link(reader, writer, self.gone))

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


class Link:
    """A connection to a client.

    Args:
        reader, writer: its two directions.
        gone: set once the client has left or the connection has ended here.

    Attributes:
        ended: it has ended here.
        busy: a request is being answered.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
        self.reader = reader
        self.gone = gone
        self.ended = False
        self.busy = False
        self._writer = writer
        # Nothing waits in this process: when a write returns, the kernel has it, and a reset takes nothing back.
        # TLS holds writers up from `high` bytes on, not above it: with 0 it would do so for ever.
        writer.transport.set_write_buffer_limits(high=1 if writer.get_extra_info("ssl_object") else 0)

    async def read(self) -> Request | None:
        """The next request; None where the client has ended the connection.

        Raises:
            BadRequest: what came is none.
        """
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
            request = _parsed(head)
            if request.header(b"expect").lower() == "100-continue":
                await self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = await self._body(request)
        except asyncio.LimitOverrunError:
            raise BadRequest("the head is too long") from None
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return Request(request.method, request.target, request.version, request.headers, body)

    async def write(self, data: bytes, pieces: int = 0, pause: float = 0.0) -> None:
        """Write at once, or in so many bytes at a time; what is written to a client that has left is lost."""
        for start in range(0, len(data), pieces or len(data) or 1):
            if self.gone.is_set():
                return
            self._writer.write(data[start : start + pieces] if pieces else data)
            try:
                await self._writer.drain()
            except ConnectionError:
                self.gone.set()
            if pieces:
                await asyncio.sleep(pause)

    async def pause(self, seconds: float) -> None:
        """Wait, but no longer than the client is there."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.gone.wait(), None if seconds == float("inf") else seconds)

    def reset(self) -> None:
        """End the connection by a TCP reset."""
        connection = self._writer.get_extra_info("socket")
        if connection is not None and not self.gone.is_set():
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._end()
        self._writer.transport.abort()

    def close(self) -> None:
        """End the connection as one that has said all it had to say."""
        self._end()
        self._writer.close()

    def _end(self) -> None:
        self.ended = True
        self.gone.set()

    async def _body(self, request: Request) -> bytes:
        if "chunked" in request.header(b"transfer-encoding").lower():
            return await self._chunks()
        length = request.header(b"content-length") or "0"
        if not (length.isascii() and length.isdigit()) or int(length) > BODY_LIMIT:
            raise BadRequest(f"content-length: {length}")
        return await self.reader.readexactly(int(length))

    async def _chunks(self) -> bytes:
        found: list[bytes] = []
        while True:
            line = await self.reader.readuntil(b"\r\n")
            try:
                size = int(line.partition(b";")[0], 16)
            except ValueError:
                raise BadRequest("a chunk without size") from None
            if not 0 <= size <= BODY_LIMIT:
                raise BadRequest("a chunk too large")
            if size == 0:
                while await self.reader.readuntil(b"\r\n") != b"\r\n":  # trailers
                    pass
                return b"".join(found)
            found.append(await self.reader.readexactly(size))
            await self.reader.readexactly(2)


def _parsed(head: bytes) -> Request:
    first, *lines = head[:-4].lstrip(b"\r\n").decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0"):
        raise BadRequest(first)
    headers = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequest(line)
        headers.append((name.lower().encode("latin-1"), value.strip().encode("latin-1")))
    return Request(parts[0], parts[1], parts[2].removeprefix("HTTP/"), headers, b"")
