"""Where a request goes on the wire: the origin that connections belong to, and the target of the request line."""

from __future__ import annotations

import base64
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Scheme, host (ASCII) and port; connections are kept per origin."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """Value of the Host header."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return shown if self.port == PORTS[self.scheme] else f"{shown}:{self.port}"

    @property
    def tunnel(self) -> str:
        """Target of a CONNECT request, which always names the port."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def split_url(url: str) -> tuple[Origin, str]:
    """Origin and origin-form target of an http(s) URL that was checked by ``prefixcache.engines.endpoint``."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" not in host:
        host = host.encode("idna").decode("ascii")
    target = parts.path or "/"
    return Origin(parts.scheme, host, parts.port or PORTS[parts.scheme]), target + (
        f"?{parts.query}" if parts.query else ""
    )


def proxy_authorization(url: str) -> str | None:
    """The Proxy-Authorization of the credentials in a proxy's URL."""
    parts = urlsplit(url)
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode()
