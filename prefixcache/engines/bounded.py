"""An answer read as far as it can be one: no server fills the memory of whoever asks it."""

from __future__ import annotations

from collections.abc import Mapping

import httpx

from prefixcache.engines.page import MOST_BYTES


async def get_bounded(
    client: httpx.AsyncClient, url: str | httpx.URL, headers: Mapping[str, str], most: int = MOST_BYTES
) -> tuple[httpx.Response, bytes | None]:
    """The answer's head and its body, unpacked; None for a body of more than ``most`` bytes, of which no more is read.

    Raises:
        httpx.HTTPError, OSError: as ``client.get``.
    """
    body = bytearray()
    async with client.stream("GET", url, headers=dict(headers)) as response:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > most:
                return response, None
    return response, bytes(body)
