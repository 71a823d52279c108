"""Sending requests over kept connections."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType

from prefixcache.engines.http import KEEPALIVE_S, Timeouts
from prefixcache.load.wire.address import Origin, proxy_authorization, split_url
from prefixcache.load.wire.connection import Connection, Route
from prefixcache.load.wire.exchange import Exchange, Receiver, Watch

COMMON = {"User-Agent": "prefixcache", "Accept": "*/*", "Accept-Encoding": "identity"}


@dataclass(slots=True)
class Sent:
    """Facts of a request on its way, filled as they happen; moments are of ``time.perf_counter``."""

    written: float | None = None
    """When its first byte was handed to the socket."""
    reused: bool | None = None
    """Whether the connection was used before; None: there was none."""


@dataclass(slots=True)
class WireClient:
    """Any number of connections at once; use it as a context manager so that they are closed.

    Args:
        timeouts: of connecting, between two bytes, of a whole request.
        route: TLS and proxy.
        keepalive: seconds after which an idle connection is not used again: shorter than the server's, since a request
            that meets a connection being closed has to be sent twice.
    """

    timeouts: Timeouts = field(default_factory=Timeouts)
    route: Route = field(default_factory=Route)
    keepalive: float = KEEPALIVE_S
    _idle: dict[Origin, list[Connection]] = field(default_factory=lambda: defaultdict(list))
    _open: set[Connection] = field(default_factory=set)
    _context: ssl.SSLContext | None = None

    async def __aenter__(self) -> WireClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._open:
            connection.close()
        self._open.clear()
        self._idle.clear()

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        receiver: Receiver,
        sent: Sent,
        at: float | None = None,
        fresh: bool = False,
    ) -> None:
        """Send a request and return when its answer is complete.

        Args:
            url: http(s) URL.
            headers, body: of the request; Content-Length, Host and the client's own headers are added.
            receiver: takes the answer.
            sent: is filled as things happen, whatever becomes of the request.
            at: moment of ``time.perf_counter`` to write at; the connection is opened before.
            fresh: open a new connection.

        Raises:
            WireError: there is no complete answer.
        """
        origin, target = split_url(url)
        data = self._head(origin, target, headers, len(body)) + body
        connection = await self._connection(origin, fresh)
        if at is not None:
            while (left := at - time.perf_counter()) > 0:
                await asyncio.sleep(left)
            if not connection.usable:
                self._drop(connection)
                connection = await self._connection(origin, fresh=False)
        exchange = Exchange(receiver, fresh=connection.used == 0, loop=asyncio.get_running_loop())
        connection.exchange = exchange
        connection.used += 1
        sent.reused = connection.used > 1
        sent.written = time.perf_counter()
        watch = Watch(exchange, sent.written, self.timeouts)
        try:
            connection.write(data)
            await exchange.done
        finally:
            watch.cancel()
            connection.exchange = None
            self._give_back(origin, connection, exchange)

    async def _connection(self, origin: Origin, fresh: bool) -> Connection:
        idle = self._idle[origin]
        oldest = time.perf_counter() - self.keepalive
        while idle and not fresh:
            connection = idle.pop()  # the one used last: the others age and go
            if not connection.usable or connection.idle_since < oldest:
                self._drop(connection)
            else:
                return connection
        connection = await self.route.open(origin, self._tls(origin), self.timeouts.connect)
        self._open.add(connection)
        return connection

    def _give_back(self, origin: Origin, connection: Connection, exchange: Exchange) -> None:
        if exchange.keep_alive and exchange.done.done() and not connection.closed:
            connection.idle_since = time.perf_counter()
            self._idle[origin].append(connection)
        else:
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        connection.close()
        self._open.discard(connection)

    def _tls(self, origin: Origin) -> ssl.SSLContext | None:
        if origin.scheme != "https":
            return None
        if self._context is None:
            self._context = self.route.context()
        return self._context

    def _head(self, origin: Origin, target: str, headers: Mapping[str, str], length: int) -> bytes:
        proxy = self.route.proxy
        if proxy is not None and origin.scheme == "http":
            target = f"http://{origin.authority}{target}"
            if token := proxy_authorization(proxy):
                headers = {"Proxy-Authorization": token, **headers}
        lines = [f"POST {target} HTTP/1.1", f"Host: {origin.authority}"]
        lines += [f"{name}: {value}" for name, value in {**COMMON, **headers}.items()]
        lines += [f"Content-Length: {length}", "", ""]
        return "\r\n".join(lines).encode("latin-1", "replace")
