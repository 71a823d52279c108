"""One request and its answer on a connection, with all that the plan has for it."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

import orjson
from starlette.types import ASGIApp

from prefixcache.reference.faults.body import BodyWriter, Piece
from prefixcache.reference.faults.link import Link, Request
from prefixcache.reference.faults.plan import Happening
from prefixcache.reference.faults.requests import as_wanted, read_json
from prefixcache.reference.faults.streams import EventStream

Headers = list[tuple[bytes, bytes]]
FRAMING = (b"content-length", b"transfer-encoding", b"connection", b"keep-alive")


class Exchange:
    """Answers a request by the application or in its place.

    Args:
        link: the connection.
        app: the engine's application.
        request: what came.
        faults: what the plan has for it; None: nothing.
        server: address the connection came to.
    """

    def __init__(
        self, link: Link, app: ASGIApp, request: Request, faults: Happening | None, server: tuple[str, int]
    ) -> None:
        self._link = link
        self._app = app
        self._asked = request
        self._planned = faults is not None
        self._faults = faults or Happening()
        self._in_place = self._faults.status is not None or self._faults.body is not None
        self._server = server
        self._request_given = False
        self._writer: BodyWriter | None = None
        self._events: EventStream | None = None
        self._collected: list[bytes] | None = None
        self._start: tuple[int, Headers] | None = None
        self.closes = not request.keeps_alive
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Answer. Afterwards the link is ended, or ready for the next request unless ``closes``."""
        faults = self._faults
        if faults.delay_headers:
            await self._link.pause(faults.delay_headers)
        if faults.reset is not None and faults.reset.before_headers:
            self._link.reset()
        elif faults.close is not None and faults.close.before_headers:
            self._link.close()
        if self._link.gone.is_set():
            return
        if self._in_place:
            await self._instead()
        else:
            self._asked = as_wanted(self._asked, faults.stream)
            await self._app(self._scope(), self._receive, self._send)
        if not self._over.is_set() and not self._link.ended:
            self._link.close()  # the application has not ended its answer, e.g. because its sequences were aborted

    async def _instead(self) -> None:
        """An answer that the engine knows nothing of."""
        faults = self._faults
        status, body = faults.status or 200, faults.body
        kind = "text/plain; charset=utf-8"
        if body is None:
            said = {"message": f"{_phrase(status)} (fault plan)", "type": _phrase(status), "param": None}
            body = {"error": {**said, "code": status}}
        if isinstance(body, dict):
            data, kind = orjson.dumps(body), "application/json"
        else:
            data = body.encode()
            if body.lstrip().startswith("<"):
                kind = "text/html; charset=utf-8"
        kind = faults.content_type or kind
        headers = [(b"content-type", kind.encode("latin-1"))]
        if not kind.startswith("text/event-stream"):
            headers.append((b"content-length", b"%d" % len(data)))
        await self._head(status, headers)
        await self._body(data, final=True)

    def _scope(self) -> MutableMapping[str, Any]:
        request = self._asked
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": request.version,
            "method": request.method,
            "scheme": "http",
            "path": request.path,
            "raw_path": request.target.partition("?")[0].encode("latin-1"),
            "query_string": request.query,
            "root_path": "",
            "headers": request.headers,
            "client": None,
            "server": self._server,
            "state": {},
        }

    async def _receive(self) -> MutableMapping[str, Any]:
        if not self._request_given:
            self._request_given = True
            return {"type": "http.request", "body": self._asked.body, "more_body": False}
        over = asyncio.ensure_future(self._over.wait())
        gone = asyncio.ensure_future(self._link.gone.wait())
        try:
            await asyncio.wait((over, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            over.cancel()
            gone.cancel()
        return {"type": "http.disconnect"}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            await self._head(message["status"], list(message.get("headers", ())))
        else:
            await self._body(message.get("body", b""), final=not message.get("more_body", False))

    async def _head(self, status: int, headers: Headers) -> None:
        self._start = (status, headers)
        faults = self._faults
        kind = next((value for name, value in headers if name == b"content-type"), b"")
        if self._planned and not self._in_place and status == 200 and kind.startswith(b"text/event-stream"):
            model = str(read_json(self._asked).get("model") or "reference")
            self._events = EventStream(faults.stream, self._asked.path, model)
        if faults.missing_bytes:
            self._collected = []  # its length is said beforehand, so it must be known
            return
        await self._write_head(None)
        if self._events is not None:
            await self._pour(self._events.opening())
        if faults.delay_first_event:
            await self._link.pause(faults.delay_first_event)

    async def _write_head(self, length: int | None) -> None:
        assert self._start is not None
        status, given = self._start
        faults = self._faults
        known = {key: value for key, value in given if key == b"content-length"}
        headers = [(key, value) for key, value in given if key not in FRAMING]
        bodyless = status in (204, 304) or self._asked.method == "HEAD"
        chunked = length is None and not known and not bodyless and self._asked.version == "1.1"
        if length is not None:
            headers.append((b"content-length", b"%d" % length))
            self.closes = True
        elif known:
            headers += known.items()
        elif chunked:
            headers.append((b"transfer-encoding", b"chunked"))
        elif not bodyless:
            self.closes = True
        if faults.keep_alive == "announce" or (self.closes and length is None):
            headers.append((b"connection", b"close"))
        self.closes = self.closes or faults.keep_alive in ("announce", "close_silently")
        headers.append((b"date", formatdate(usegmt=True).encode()))
        extra = dict(faults.headers or {})
        if faults.retry_after is not None:
            extra["retry-after"] = str(faults.retry_after)
        headers = [(k, v) for k, v in headers if k.decode("latin-1") not in extra]
        headers += [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in extra.items()]
        line = faults.status_line
        first = f"HTTP/1.1 {status} {_phrase(status)}" if line is None else line
        lines = [first.encode("latin-1", "replace"), *(k + b": " + v for k, v in headers)]
        await self._link.write(b"\r\n".join(lines) + b"\r\n\r\n", faults.write_bytes or 0, faults.pause or 0.0)
        self._writer = BodyWriter(self._link, faults, chunked, self._events is not None)
        await self._writer.begin()

    async def _body(self, data: bytes, final: bool) -> None:
        if self._over.is_set():
            return
        if self._collected is None:
            await self._pour(self._pieces(data, final), final)
            return
        self._collected.append(data)
        if final:
            opening = [] if self._events is None else self._events.opening()
            pieces = [*opening, *self._pieces(b"".join(self._collected), final)]
            await self._write_head(sum(len(piece.data) for piece in pieces) + (self._faults.missing_bytes or 0))
            await self._pour(pieces, final)

    def _pieces(self, data: bytes, final: bool) -> list[Piece]:
        if self._asked.method == "HEAD":
            return []
        return [Piece(data)] if self._events is None else self._events.events(data, final)

    async def _pour(self, pieces: list[Piece], final: bool = False) -> None:
        assert self._writer is not None, "the head comes first"
        await self._writer.write(pieces)
        if final or self._link.ended or (self._events is not None and self._events.over):
            await self._writer.end()
            self._over.set()


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
