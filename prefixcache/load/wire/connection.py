"""One TCP or TLS connection and how it is opened, through a proxy where one is named."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from dataclasses import dataclass, field

from prefixcache.engines.http import Connection as ConnectionOptions
from prefixcache.load.wire.address import Origin, proxy_authorization, split_url
from prefixcache.load.wire.exchange import Exchange
from prefixcache.load.wire.failure import WireError


class Connection(asyncio.Protocol):
    """Carries one exchange at a time.

    Bytes are stamped as they come and read in the loop's next turn: where many streams have something in the same
    instant, all of it is stamped before any of it is read, and reading one makes no other late.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._unread: list[tuple[bytes, float]] = []
        self.transport: asyncio.Transport | None = None
        self.exchange: Exchange | None = None
        self.used = 0
        self.idle_since = 0.0
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._unread.append((data, time.perf_counter()))
        if len(self._unread) == 1:
            self._loop.call_soon(self._read)

    @property
    def usable(self) -> bool:
        """Whether a request may be sent: it is open, and nothing came that nobody asked for."""
        return not (self.closed or self._unread)

    def _read(self) -> None:
        unread, self._unread = self._unread, []
        for data, now in unread:
            if self.exchange is None:  # bytes nobody asked for: an answer to a request that is over
                self.close()
                return
            self.exchange.received(data, now)

    def connection_lost(self, error: Exception | None) -> None:
        self._read()
        self.closed = True
        if self.exchange is not None:
            self.exchange.ended(error)

    def write(self, data: bytes) -> None:
        assert self.transport is not None
        self.transport.write(data)

    def close(self) -> None:
        """Drop it at once: what is left of an answer is of no use."""
        self.closed = True
        if self.transport is not None:
            self.transport.abort()


@dataclass(frozen=True, slots=True)
class Route:
    """How connections to servers are opened.

    Args:
        verify: as ``ssl`` of httpx: False takes any certificate, True the usual authorities, or a context.
        proxy: URL of a forward proxy, or None.
    """

    verify: ssl.SSLContext | bool = True
    proxy: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, connection: ConnectionOptions) -> Route:
        """As the user's options say."""
        return cls(connection.verify(), connection.proxy)

    def context(self) -> ssl.SSLContext:
        if isinstance(self.verify, ssl.SSLContext):
            return self.verify
        context = ssl.create_default_context()
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    async def open(self, origin: Origin, context: ssl.SSLContext | None, timeout: float) -> Connection:
        """A new connection.

        Raises:
            WireError: ``dns``, ``refused``, ``connect_timeout``, ``connect``, ``tls`` or ``proxy``.
        """
        try:
            async with asyncio.timeout(timeout):
                if self.proxy is None:
                    return await _connect(origin, context, origin.host)
                return await self._through_proxy(origin, context)
        except TimeoutError:
            raise WireError("connect_timeout", f"timeout: no connection within {timeout:g} s") from None
        except ssl.SSLError as error:
            raise WireError("tls", f"TLS: {_reason(error)}") from error
        except socket.gaierror as error:
            raise WireError("dns", (error.strerror or "name or service not known").lower()) from error
        except ConnectionRefusedError as error:
            raise WireError("refused", "connection refused") from error
        except OSError as error:
            raise WireError("connect", (error.strerror or str(error) or "no connection").lower()) from error

    async def _through_proxy(self, origin: Origin, context: ssl.SSLContext | None) -> Connection:
        assert self.proxy is not None
        proxy, _ = split_url(self.proxy)
        try:
            connection = await _connect(proxy, self.context() if proxy.scheme == "https" else None, proxy.host)
        except OSError as error:
            why = (error.strerror or str(error) or "no connection").lower()
            raise WireError("proxy", f"the proxy {proxy.host}:{proxy.port} cannot be reached ({why})") from error
        if origin.scheme == "http":
            return connection
        await self._tunnel(connection, origin)
        assert context is not None and connection.transport is not None
        loop = asyncio.get_running_loop()
        inner = await loop.start_tls(connection.transport, connection, context, server_hostname=origin.host)
        assert isinstance(inner, asyncio.Transport)
        connection.transport = inner
        return connection

    async def _tunnel(self, connection: Connection, origin: Origin) -> None:
        """Ask the proxy for a way to the server."""
        answer = _Connected()
        exchange = connection.exchange = Exchange(answer, fresh=True, loop=asyncio.get_running_loop())
        lines = [f"CONNECT {origin.tunnel} HTTP/1.1", f"Host: {origin.tunnel}"]
        if token := proxy_authorization(self.proxy or ""):
            lines.append(f"Proxy-Authorization: {token}")
        connection.write("\r\n".join((*lines, "", "")).encode())
        try:
            # A 200 to CONNECT has no body whatever its headers say, so its head is the whole answer.
            await asyncio.wait((exchange.done, answer.seen), return_when=asyncio.FIRST_COMPLETED)
        finally:
            connection.exchange = None
        if exchange.done.done() and not exchange.done.cancelled():
            exchange.done.exception()  # taken note of
        if answer.status is None or not 200 <= answer.status < 300:
            connection.close()
            what = "an unreadable answer" if answer.status is None else f"HTTP {answer.status}"
            raise WireError("proxy", f"the proxy opened no way to the server ({what})")


class _Connected:
    """The head of a proxy's answer."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.seen: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def head(self, status: int, headers: dict[str, str], now: float) -> None:
        self.status = status
        self.seen.set_result(None)

    def body(self, data: bytes, now: float) -> None:
        """Of no interest."""


async def _connect(origin: Origin, context: ssl.SSLContext | None, name: str) -> Connection:
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(
        Connection, origin.host, origin.port, ssl=context, server_hostname=name if context is not None else None
    )
    return connection


def _reason(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not trusted ({error.verify_message})"
    return (error.reason or str(error)).replace("_", " ").lower()
