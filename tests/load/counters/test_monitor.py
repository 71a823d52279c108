from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import httpx

from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.snapshot import metrics_source
from prefixcache.load.counters.monitor import Monitor


def page(running: int, queries: int) -> str:
    return (
        f'vllm:num_requests_running{{engine="0"}} {running}\nvllm:prefix_cache_queries_total{{engine="0"}} {queries}\n'
    )


def monitor(client: httpx.AsyncClient, sink: list[Any]) -> Monitor:
    return Monitor(client, [metrics_source("http://server:1")], VLLM, 0.01, sink.append)


def idle(pages: Iterator[str | None], timeout: float = 5.0) -> tuple[str | None, int]:
    reads = 0

    def handler(request: httpx.Request) -> httpx.Response:
        nonlocal reads
        reads += 1
        text = next(pages)
        return httpx.Response(503) if text is None else httpx.Response(200, text=text)

    async def go() -> str | None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as client:
            return await monitor(client, []).idle(timeout)

    return asyncio.run(go()), reads


def test_idle_waits_for_running_requests_and_for_counters_to_stand_still() -> None:
    assert idle(iter([page(1, 10), page(1, 10), page(0, 20), page(0, 30), page(0, 30)])) == (None, 5)


def test_a_server_that_never_rests_is_given_up() -> None:
    reason, reads = idle((page(1, n) for n in range(1000)), timeout=0.35)
    assert reason == "the server was not idle within 0.35 s"
    assert reads >= 3


def test_a_server_without_a_page_is_not_waited_for() -> None:
    began = time.perf_counter()
    reason = "http://server:1 gave no metrics page 5 times in a row"
    assert idle(iter([None] * 100), timeout=60) == (reason, 5)
    assert time.perf_counter() - began < 10


def test_a_refused_connection_ends_the_wait_at_once() -> None:
    """The other servers are waited for as ever."""
    reads: list[str] = []
    others = iter([page(1, 10), page(0, 20), page(0, 20)])

    def handler(request: httpx.Request) -> httpx.Response:
        reads.append(request.url.host)
        if request.url.host == "gone":
            raise httpx.ConnectError("refused")
        return httpx.Response(200, text=next(others))

    async def go(*urls: str) -> str | None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as client:
            sources, rows = [metrics_source(url) for url in urls], list[Any]()
            return await Monitor(client, sources, VLLM, 0.01, rows.append).idle(60)

    assert asyncio.run(go("http://gone:1")) == "there is no connection to http://gone:1"
    assert reads == ["gone"]
    assert asyncio.run(go("http://gone:1", "http://server:1")) == "there is no connection to http://gone:1"
    assert reads.count("server") == 3


def test_polling_writes_rows_until_the_block_ends_and_reports_its_own_failure() -> None:
    texts = iter([page(1, 10), page(2, 20)])

    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text=next(texts))

    async def go() -> tuple[list[Any], str | None]:
        rows: list[Any] = []
        client = httpx.AsyncClient(transport=httpx.MockTransport(handler))
        async with client, monitor(client, rows).polling("cold", time.perf_counter()) as usage:
            await asyncio.sleep(0.2)
        return rows, usage.error

    rows, error = asyncio.run(go())
    assert [(r["engine"], r["running"], r["queries"], r["hits"]) for r in rows] == [
        ("0", 1, 10, None),
        ("0", 2, 20, None),
    ]
    assert error is not None
    assert "polling of the gauges stopped" in error
