"""The one HTTP client of the product: httpx over aiohttp's transport.

httpx's own connection pool is the bottleneck of a load generator (its lock rescans every connection); the same API
over ``httpx-aiohttp`` is about five times faster.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from prefixcache.engines.endpoint import parse_endpoint
from prefixcache.errors import EnvironmentFailure, InputError

# Below the 5 s after which uvicorn closes an idle connection: a POST on a connection that the server is just closing
# would fail, and a request is never sent twice.
KEEPALIVE_S = 2.0
IDLE_S = 300.0
NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")
"""What OpenSSL calls an answer whose first bytes are no TLS record."""


@dataclass(frozen=True)
class Timeouts:
    """Seconds. ``idle``: between two bytes of an answer. ``first_byte``: from sending to the first one, as ``idle`` if
    None. ``total``: a whole request."""

    connect: float = 10.0
    idle: float = IDLE_S
    total: float = 3 * IDLE_S
    first_byte: float | None = None

    @classmethod
    def of(
        cls,
        idle: float,
        connect: float | None = None,
        first_byte: float | None = None,
        total: float | None = None,
    ) -> Timeouts:
        """The deadlines that a user chose, the others from ``idle``: a whole request may take three times as long as
        the longest of its waits.

        Raises:
            InputError: no time to wait; the message names the option.
        """
        given = {"timeout": idle, "connect_timeout": connect, "first_byte_timeout": first_byte, "total_timeout": total}
        for name, seconds in given.items():
            if seconds is not None and not 0 < seconds < float("inf"):
                raise InputError(f"{seconds:g} is no time to wait", field=name, remedy="Give seconds above 0.")
        longest = max(idle, first_byte or 0.0)
        return cls(connect or min(cls.connect, idle), idle, total or 3 * longest, first_byte)

    def httpx(self) -> httpx.Timeout:
        return httpx.Timeout(None, connect=self.connect, read=self.idle)


@dataclass(frozen=True, slots=True)
class Connection:
    """How servers are reached.

    Args:
        insecure: take any TLS certificate, whoever signed it and for whatever name.
        ca_file: PEM file of the authorities that may sign the servers' certificates, instead of the usual ones.
        proxy: http(s) URL of a forward proxy; it may hold credentials, so it is never shown.

    Raises:
        InputError: the values contradict each other or cannot be used.
    """

    insecure: bool = False
    ca_file: Path | None = None
    proxy: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.insecure and self.ca_file is not None:
            raise InputError(
                "--insecure checks no certificate, so a file of authorities is of no use beside it",
                field="insecure",
                remedy="Give --ca-file alone.",
            )
        if self.proxy is not None and not self.proxy.startswith(("http://", "https://")):
            raise InputError(
                "the proxy is no http:// or https:// URL", field="proxy", remedy="Give --proxy http://HOST:PORT."
            )
        if self.proxy is not None:
            parse_endpoint(self.proxy, field_name="proxy")
        self.verify()

    def verify(self) -> ssl.SSLContext | bool:
        """What the transport checks certificates against."""
        if self.ca_file is None:
            return not self.insecure
        try:
            return ssl.create_default_context(cafile=str(self.ca_file))
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                f"{self.ca_file.name} holds no certificate of an authority ({error.strerror or error})",
                field="ca_file",
                remedy="Give a PEM file with --ca-file.",
            ) from None


def open_client(timeouts: Timeouts | None = None, connection: Connection | None = None) -> httpx.AsyncClient:
    """A client without a limit of connections; proxies of the environment are not used, only a named one is."""
    connection = connection or Connection()
    # max_connections=0 is aiohttp's "no limit"; None would mean its default of 100.
    limits = httpx.Limits(max_connections=0, max_keepalive_connections=None, keepalive_expiry=KEEPALIVE_S)
    transport = AiohttpTransport(
        limits=limits,
        trust_env=False,
        verify=connection.verify(),
        proxy=httpx.Proxy(connection.proxy) if connection.proxy else None,
    )
    # A compressed stream would arrive in the compressor's bursts, not token by token.
    headers = {"Accept-Encoding": "identity", "User-Agent": "prefixcache"}
    timeout = (timeouts or Timeouts()).httpx()
    return httpx.AsyncClient(transport=transport, timeout=timeout, headers=headers, trust_env=False)


def failure_kind(error: BaseException) -> str:
    """``timeout``, ``connect`` or ``broken`` for an exception of the client.

    The transport maps every lost connection to httpx.ConnectTimeout, so its cause decides.
    """
    cause = _cause(error)
    if isinstance(cause, (asyncio.TimeoutError, aiohttp.ServerTimeoutError)):
        return "timeout"
    if isinstance(cause, aiohttp.ClientConnectorError):
        return "connect"
    if isinstance(cause, httpx.TimeoutException):
        return "timeout"
    return "connect" if isinstance(cause, httpx.ConnectError) else "broken"


def way_failure(error: BaseException) -> EnvironmentFailure | None:
    """The error to report where the way to the server, not the server itself, is what fails: its TLS or the proxy."""
    return tls_failure(error) or proxy_failure(error)


def tls_failure(error: BaseException) -> EnvironmentFailure | None:
    """The error to report where a server was there and no TLS connection came about; None where that is not it."""
    cause = _cause(error)
    if not isinstance(cause, aiohttp.ClientSSLError):
        return None
    what, name = f"the server {cause.host}:{cause.port} answers, but {failure_text(error)}", "url"
    if isinstance(cause.os_error, ssl.SSLCertVerificationError):
        name = "ca_file"
        remedy = (
            "Give the certificate of the authority that signed it with --ca-file FILE, "
            "or take any certificate with --insecure."
        )
    elif isinstance(cause.os_error, ssl.SSLError) and cause.os_error.reason in NO_TLS:
        what = f"the server {cause.host}:{cause.port} answers, but speaks plain HTTP, not HTTPS"
        remedy = "Write http:// in the address, or the port at which it speaks HTTPS."
    else:
        remedy = "Check that HTTPS is spoken at this port; if it is plain HTTP, write http:// in the address."
    return EnvironmentFailure(what, field=name, remedy=remedy, stage="preflight")


def proxy_failure(error: BaseException) -> EnvironmentFailure | None:
    """The error to report where the proxy, not the server, is what cannot be reached; None where it is not."""
    cause = _cause(error)
    if isinstance(cause, aiohttp.ClientProxyConnectionError) or _another_host(error, cause):
        assert isinstance(cause, aiohttp.ClientConnectorError)
        what = f"the proxy {cause.host}:{cause.port} cannot be reached ({failure_text(error)})"
    elif isinstance(cause, aiohttp.ClientHttpProxyError):
        what = f"the proxy opened no way to the server (HTTP {cause.status})"
    else:
        return None
    return EnvironmentFailure(
        what,
        field="proxy",
        remedy="Check that the proxy runs at this address, or leave --proxy out.",
        stage="preflight",
    )


def unresolved(error: BaseException) -> bool:
    """Nobody was asked: the host's name has no address here."""
    return isinstance(_cause(error), aiohttp.ClientConnectorDNSError)


def _another_host(error: BaseException, cause: BaseException) -> bool:
    """What was not found is not the server that was asked: where a proxy's name is unknown only that tells."""
    request = getattr(error, "_request", None)  # the property raises where there is none
    if not isinstance(cause, aiohttp.ClientConnectorError) or not isinstance(request, httpx.Request):
        return False
    return cause.host not in (request.url.host, request.url.raw_host.decode("ascii", "replace"))


def _cause(error: BaseException) -> BaseException:
    """What the transport wraps; a deadline of our own is its own cause, not the cancellation that it works by."""
    return error if isinstance(error, TimeoutError) else error.__cause__ or error


def failure_text(error: BaseException) -> str:
    """A short description of an exception of the client."""
    cause = _cause(error)
    if isinstance(cause, TimeoutError) and not str(cause):
        return "no answer in time"
    if isinstance(cause, aiohttp.ClientConnectorError):  # its own text shows the client's inner state
        inner = cause.os_error
        if isinstance(inner, ssl.SSLError):  # its number is OpenSSL's, not the system's
            return _tls_text(inner)
        known = os.strerror(inner.errno) if inner.errno and inner.errno > 0 else inner.strerror
        why = (known or "no connection").lower()
        return f"the host name {cause.host} cannot be resolved: {why}" if unresolved(error) else why
    return f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__


def _tls_text(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message or error.reason or 'no reason was given'}"
    reason = (error.reason or "unknown").lower().replace("_", " ")
    return f"no TLS connection can be made: {reason}"
