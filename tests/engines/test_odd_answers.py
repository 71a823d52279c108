"""Servers that answer something else than a metrics page or Prometheus' API: one message, and no end of memory."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from prefixcache.engines import bounded, snapshot
from prefixcache.engines.history import prometheus_server, snapshots_between
from prefixcache.engines.http import Connection, Timeouts, open_client
from prefixcache.engines.snapshot import metrics_source, scrape
from prefixcache.errors import EnvironmentFailure, InputError

QUERIES = {"__name__": "vllm:prefix_cache_queries_total", "instance": "i", "engine": "0"}


@contextmanager
def answering(body: bytes | None) -> Iterator[str]:
    """A server that answers this to everything; None: bytes without an end."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            try:
                if body is not None:
                    self.wfile.write(body)
                while body is None:
                    self.wfile.write(b" " * 2**16)
            except OSError:
                pass

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def series(**changed: Any) -> list[Any]:
    return [{"metric": QUERIES, "values": [[1, "2"]]} | changed]


@pytest.mark.parametrize(
    "data",
    [
        None,
        [1],
        "text",
        {"result": "text"},
        {"result": None},
        {"result": [1, 2]},
        {"result": [[1]]},
        {"result": series(metric=[1])},
        {"result": series(metric={**QUERIES, "engine": 5})},
        {"result": series(metric={**QUERIES, "instance": 5})},
        {"result": series(values=5)},
        {"result": series(values=[])},
        {"result": series(values=[[1]])},
        {"result": series(values=[[None, None]])},
        {"result": series(values=[["x", "y"]])},
        {"result": series(values={"a": 1})},
        {"result": [{"metric": QUERIES, "value": [1, "3"]}]},
    ],
)
def test_other_kinds_than_prometheus_answers_are_one_message(data: Any) -> None:
    answer = json.dumps({"status": "success", "data": data}).encode()
    with (
        answering(answer) as url,
        pytest.raises(EnvironmentFailure, match="something else than its API") as caught,
    ):
        snapshots_between(url.replace("//", "//me:hunter22@"), "", "1", "100")
    assert caught.value.remedy
    assert "hunter22" not in str(caught.value)


def test_an_answer_without_an_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded.get_bounded, "__defaults__", (2**20,))

    async def read(url: str) -> None:
        async with open_client(Timeouts(), Connection()) as client:
            await scrape(client, metrics_source(url))

    monkeypatch.setattr(snapshot, "SCRAPE_TIMEOUT_S", 5.0)
    with answering(None) as url:
        with pytest.raises(EnvironmentFailure, match=r"more than [\d,]+ bytes"):
            asyncio.run(read(url))
        with pytest.raises(EnvironmentFailure, match=r"more than [\d,]+ bytes"):
            snapshots_between(url, "", "1", "100")


def test_braces_and_quotes_of_a_selector() -> None:
    assert prometheus_server("http://p", '{pod=~"a{2}"}').matchers() == 'pod=~"a{2}"'
    assert prometheus_server("http://p", "{pod='}\\'{', x=`}`, }").matchers() == "pod='}\\'{', x=`}`"
    for wrong in ('{a="b"} or {c="d"}', '{a="}', '{a="b"}}', "up", '{a="b"}[5m] offset 1h #}', "{{}}"):
        with pytest.raises(InputError):
            prometheus_server("http://p", wrong)
