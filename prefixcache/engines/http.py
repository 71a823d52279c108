"""The one HTTP client of the product: httpx over aiohttp's transport.

httpx's own connection pool is the bottleneck of a load generator (its lock rescans every connection); the same API
over ``httpx-aiohttp`` is about five times faster.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

# Below the 5 s after which uvicorn closes an idle connection: a POST on a connection that the server is just closing
# would fail, and a request is never sent twice.
KEEPALIVE_S = 2.0


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. ``idle``: between two bytes of an answer, the first one included. ``total``: a whole request."""

    connect: float = 10.0
    idle: float = 300.0
    total: float = 900.0

    def httpx(self) -> httpx.Timeout:
        return httpx.Timeout(None, connect=self.connect, read=self.idle)


def open_client(timeouts: Timeouts | None = None) -> httpx.AsyncClient:
    """A client without a limit of connections; proxies of the environment are not used."""
    # max_connections=0 is aiohttp's "no limit"; None would mean its default of 100.
    limits = httpx.Limits(max_connections=0, max_keepalive_connections=None, keepalive_expiry=KEEPALIVE_S)
    transport = AiohttpTransport(limits=limits, trust_env=False)
    # A compressed stream would arrive in the compressor's bursts, not token by token.
    headers = {"Accept-Encoding": "identity", "User-Agent": "prefixcache"}
    timeout = (timeouts or Timeouts()).httpx()
    return httpx.AsyncClient(transport=transport, timeout=timeout, headers=headers, trust_env=False)


def failure_kind(error: BaseException) -> str:
    """``timeout``, ``connect`` or ``broken`` for an exception of the client.

    The transport maps every lost connection to httpx.ConnectTimeout, so its cause decides.
    """
    cause = error.__cause__ or error
    if isinstance(cause, (asyncio.TimeoutError, aiohttp.ServerTimeoutError)):
        return "timeout"
    if isinstance(cause, aiohttp.ClientConnectorError):
        return "connect"
    if isinstance(cause, httpx.TimeoutException):
        return "timeout"
    return "connect" if isinstance(cause, httpx.ConnectError) else "broken"


def failure_text(error: BaseException) -> str:
    """A short description of an exception of the client."""
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__
