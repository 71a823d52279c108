"""A server's address as a user gives it, with the credentials kept apart from everything that is written down."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import quote, unquote, unquote_plus, urlsplit, urlunsplit

from prefixcache.errors import InputError

COMPLETIONS = "/v1/completions"
CHAT_COMPLETIONS = "/v1/chat/completions"
# A user may paste the full path of any of these; what stands before it is the base.
KNOWN_PATHS = (CHAT_COMPLETIONS, COMPLETIONS, "/v1", "/metrics")
_USERINFO = re.compile(r"(?<=://)[^/\s]+@")
# Control characters and the halves of characters, which are no text.
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_NO_HOST = re.compile(r"[\s<>\"\\^`{|}]")
# A longer address is a mistake of whoever pasted it; a longer name no resolver takes.
MOST_CHARS, MOST_OF_HOST = 4096, 253
# So short a secret is a part of ordinary words too, so it is taken out only where it stands alone.
SHORT = 3


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
        """What must be taken out of texts that may quote this endpoint: the user, the password and the token made of
        them; the query as a whole, its pairs and its values (a query without "=" is a value)."""
        token = (self.authorization or "").removeprefix("Basic ")
        pairs = self.query.split("&")
        values = [value or name for name, _, value in (pair.partition("=") for pair in pairs)]
        found = (token, *base64.b64decode(token).decode().split(":", 1), self.query, *pairs, *values)
        return tuple(dict.fromkeys(secret for secret in found if secret))

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
        flaw = _flaw(parts.hostname or "", url.strip())
    except ValueError:
        parts, port, flaw = urlsplit(""), None, None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        flaw = "the address is not an http:// or https:// URL"
    if flaw is not None:  # not quoted: where a key stands in it is unknown
        raise InputError(
            flaw,
            field=field_name,
            remedy="Give --proxy http://HOST:PORT."
            if field_name == "proxy"
            else "Give a base URL such as http://127.0.0.1:8000, or the full path /v1/completions.",
        )
    name = parts.hostname or ""
    host = f"[{name}]" if ":" in name else name
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


def _flaw(host: str, url: str) -> str | None:
    """What keeps an address from being asked, however well it is formed."""
    if len(url) > MOST_CHARS:
        return f"the address has {len(url):,} characters, {MOST_CHARS:,} at most"
    if _CONTROL.search(url):
        return "the address holds characters that no URL can carry"
    try:
        if ":" not in host:
            host.encode("idna")
    except UnicodeError:
        return "the host of the address is no host name: each of its parts has 1 to 63 characters"
    return "the host of the address is no host name" if _NO_HOST.search(host) or len(host) > MOST_OF_HOST else None


def metrics_location(url: str) -> tuple[Endpoint, str]:
    """A metrics URL → its endpoint and path; ``/metrics`` if the URL has no path of its own."""
    endpoint = parse_endpoint(url, field_name="metrics_url")
    path = urlsplit(url.strip()).path.rstrip("/")
    if not path or path.endswith(KNOWN_PATHS):
        return endpoint, "/metrics"
    root = urlsplit(endpoint.base)
    return Endpoint(f"{root.scheme}://{root.netloc}", endpoint.query, endpoint.authorization), path


def redact(text: str, secrets: Iterable[str | None] = ()) -> str:
    """Text with known secrets, in the forms that a server may echo them in, and any ``user:password@`` of a URL
    replaced."""
    forms = {form for secret in secrets if secret for form in _forms(secret)}
    for form in sorted(forms, key=len, reverse=True):  # the longer first: the shorter may be a part of it
        if len(form) > SHORT:
            text = text.replace(form, "[redacted]")
        else:
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", "[redacted]", text)
    return _USERINFO.sub("", text)


@cache
def _forms(secret: str) -> frozenset[str]:
    """A secret as it is, as in a URL, out of a URL, and as in a JSON text."""
    plain = {secret, unquote(secret), unquote_plus(secret)}
    coded = {quote(text, safe=safe) for text in plain for safe in ("", "/", "/=&:+,;@!$*'()")}
    everything = plain | coded | {text.replace("%20", "+") for text in coded}
    written = {json.dumps(text, ensure_ascii=ascii)[1:-1] for text in everything for ascii in (True, False)}
    everything |= written | {text.replace("/", "\\/") for text in written}
    return frozenset(text for text in everything if text)


def url_secrets(urls: Iterable[str]) -> tuple[str, ...]:
    """The parts of URLs that must never be shown; of a malformed one nothing is known."""
    found: list[str] = []
    for url in urls:
        try:
            found += parse_endpoint(url).secrets
        except InputError:
            continue
    return tuple(dict.fromkeys(found))
