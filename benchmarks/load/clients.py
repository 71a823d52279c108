"""Clients of this benchmark's own making, each in a process of its own: ours, and plain httpx.

    python -m benchmarks.load.clients KIND URL REQUESTS STREAMS [PROCESSES]

Prints one JSON object: ``seconds``, and ``rows`` of ``[number, sent, first token, last token]``, moments of
``time.perf_counter``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Awaitable, Callable

import httpx

from prefixcache.engines.endpoint import Endpoint
from prefixcache.engines.http import open_client
from prefixcache.load.request.client import CompletionClient
from prefixcache.load.sending.carrier import open_carrier
from prefixcache.load.sending.prompts import Prompt
from prefixcache.load.sending.routes import Target

WORDS = "lorem ipsum dolor sit amet " * 160  # about 4 kB, a prompt of a thousand tokens
Row = tuple[int, float, float, float]
One = Callable[[int], Awaitable[Row]]


async def ours(url: str, requests: int, streams: int, processes: int) -> tuple[float, list[Row]]:
    async with open_carrier(processes) as carrier:
        client = carrier.client(CompletionClient(carrier.wire, "bench", "text"))
        target = Target(Endpoint(url))

        async def one(number: int) -> Row:
            outcome = await client.complete(Prompt(f"{number} {WORDS}", None, 32), target)
            if outcome.status != "ok" or None in (outcome.sent, outcome.first_token, outcome.last_token):
                raise SystemExit(f"request {number} failed: {outcome.error}")
            return number, outcome.sent or 0.0, outcome.first_token or 0.0, outcome.last_token or 0.0

        return await closed_loop(one, requests, streams)


async def plain_httpx(url: str, requests: int, streams: int, processes: int) -> tuple[float, list[Row]]:
    """As most harnesses have it: one client, its shared pool, lines of the stream one by one."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=None, trust_env=False) as client:
        return await _httpx(client, url, requests, streams)


async def httpx_aiohttp(url: str, requests: int, streams: int, processes: int) -> tuple[float, list[Row]]:
    """The same over aiohttp's transport."""
    async with open_client() as client:
        return await _httpx(client, url, requests, streams)


async def _httpx(client: httpx.AsyncClient, url: str, requests: int, streams: int) -> tuple[float, list[Row]]:
    async def one(number: int) -> Row:
        body = {"model": "bench", "prompt": f"{number} {WORDS}", "max_tokens": 32, "stream": True}
        sent = time.perf_counter()
        first = last = 0.0
        async with client.stream("POST", f"{url}/v1/completions", json=body) as response:
            async for line in response.aiter_lines():
                now = time.perf_counter()
                if line.startswith("data: {") and json.loads(line[6:])["choices"]:
                    first, last = first or now, now
        return number, sent, first, last

    return await closed_loop(one, requests, streams)


async def closed_loop(one: One, requests: int, streams: int) -> tuple[float, list[Row]]:
    numbers = iter(range(requests))
    rows: list[Row] = []

    async def slot() -> None:
        for number in numbers:
            rows.append(await one(number))

    began = time.perf_counter()
    await asyncio.gather(*(slot() for _ in range(streams)))
    return time.perf_counter() - began, rows


KINDS = {"prefixcache": ours, "httpx": plain_httpx, "httpx-aiohttp": httpx_aiohttp}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("url")
    parser.add_argument("requests", type=int)
    parser.add_argument("streams", type=int)
    parser.add_argument("processes", type=int, nargs="?", default=1)
    chosen = parser.parse_args()
    run = KINDS[chosen.kind](chosen.url, chosen.requests, chosen.streams, chosen.processes)
    seconds, rows = asyncio.run(run)
    print(json.dumps({"seconds": seconds, "rows": rows}))


if __name__ == "__main__":
    main()
