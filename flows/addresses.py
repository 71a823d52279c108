"""Addresses in flow parameters: Prefect stores parameters, so credentials must not stand in them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prefixcache.engines.endpoint import redact

_REAL: dict[str, str] = {}


def shown(urls: Sequence[str]) -> list[str]:
    """The addresses without user names, passwords and queries; this process remembers the real ones."""
    result = []
    for url in urls:
        bare = public = re.split(r"[?#]", redact(url), maxsplit=1)[0]
        number = 1
        while _REAL.get(public, url) != url:  # two addresses that differ in what is not shown stay two
            number += 1
            public = f"{bare}#{number}"
        _REAL[public] = url
        result.append(public)
    return result


def real(urls: Sequence[str]) -> tuple[str, ...]:
    """What :func:`shown` was given, or the address itself where it came from elsewhere (a deployment)."""
    return tuple(_REAL.get(url, url) for url in urls)
