"""A server's address as a user gives it, with the credentials kept apart from everything that is written down."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

from prefixcache.errors import InputError

COMPLETIONS = "/v1/completions"
CHAT_COMPLETIONS = "/v1/chat/completions"
# A user may paste the full path of any of these; what stands before it is the base.
KNOWN_PATHS = (CHAT_COMPLETIONS, COMPLETIONS, "/v1", "/metrics")
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server.

    Args:
        base: ``scheme://host:port/prefix`` without credentials, query and trailing slash: what files and logs show.
        query: the URL's query, sent with every request, never shown (it may hold a key).
        authorization: value of the Authorization header from ``user:password@``, never shown.
    """

    base: str
    query: str = field(default="", repr=False)
    authorization: str | None = field(default=None, repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must be taken out of texts that may quote this endpoint."""
        values = tuple(value for pair in self.query.split("&") if len(value := pair.partition("=")[2]) > 3)
        return (*values, self.authorization.removeprefix("Basic ")) if self.authorization else values

    def url(self, path: str) -> str:
        return f"{self.base}{path}" + (f"?{self.query}" if self.query else "")

    def headers(self, api_key: str | None = None) -> dict[str, str]:
        """Authorization for this endpoint: the API key if there is one, else the URL's own credentials."""
        if api_key:
            return {"Authorization": f"Bearer {api_key}"}
        return {"Authorization": self.authorization} if self.authorization else {}


def parse_endpoint(url: str, *, field_name: str = "url") -> Endpoint:
    """Read a base URL or the full path of an API route.

    Raises:
        InputError: not an http(s) URL. The message never repeats credentials.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(
            "the address is not an http:// or https:// URL",  # not quoted: where a key stands in it is unknown
            field=field_name,
            remedy="Give a base URL such as http://127.0.0.1:8000, or the full path /v1/completions.",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/")
    for known in KNOWN_PATHS:
        if path.endswith(known):
            path = path.removesuffix(known)
            break
    base = urlunsplit((parts.scheme, f"{host}:{port}" if port else host, path, "", ""))
    authorization = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + base64.b64encode(pair.encode()).decode()
    return Endpoint(base, parts.query, authorization)


def metrics_location(url: str) -> tuple[Endpoint, str]:
    """A metrics URL → its endpoint and path; ``/metrics`` if the URL has no path of its own."""
    path = urlsplit(url.strip()).path.rstrip("/")
    endpoint = parse_endpoint(url, field_name="metrics_url")
    if not path or path.endswith(KNOWN_PATHS):
        return endpoint, "/metrics"
    root = urlsplit(endpoint.base)
    return Endpoint(f"{root.scheme}://{root.netloc}", endpoint.query, endpoint.authorization), path


def redact(text: str, secrets: Iterable[str | None] = ()) -> str:
    """Text with known secrets and any ``user:password@`` of a URL replaced."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[redacted]")
    return _USERINFO.sub("", text)


def url_secrets(urls: Iterable[str]) -> tuple[str, ...]:
    """The parts of URLs that must never be shown: passwords, user names and query values."""
    found: list[str] = []
    for url in urls:
        try:
            parts = urlsplit(url)
            credentials = (parts.username, parts.password)
        except ValueError:
            continue
        found += [part for part in credentials if part]
        found += [unquote(part) for part in credentials if part]
        found += [pair.partition("=")[2] for pair in parts.query.split("&") if len(pair.partition("=")[2]) > 3]
    return tuple(dict.fromkeys(found))
