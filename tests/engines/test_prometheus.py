"""A real Prometheus server that scrapes the reference engine, asked for what it saw."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from prefixcache.engines.detect import detect_adapter
from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.history import moment_of, prometheus_server, snapshots_between
from prefixcache.engines.http import Connection, Timeouts, open_client
from prefixcache.engines.prometheus import PrometheusServer, fresh_page, pages_at
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.snapshot import ALL_NAMES
from prefixcache.engines.told import tell
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.support.s3_server import free_port

NEEDED = "Prometheus is not installed (Debian package prometheus)"
SCRAPE_S = 1


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded", block_size=16)) as running:
        yield running


@contextmanager
def scraping(engine: str, home: Path) -> Iterator[str]:
    """The address of a Prometheus server that scrapes an engine every second."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip(NEEDED)
    home.mkdir(exist_ok=True)
    (home / "config.yml").write_text(
        json.dumps(
            {
                "global": {"scrape_interval": f"{SCRAPE_S}s"},
                "scrape_configs": [
                    {"job_name": "engines", "static_configs": [{"targets": [engine.removeprefix("http://")]}]},
                    {"job_name": "itself", "static_configs": [{"targets": ["127.0.0.1:1"]}]},
                ],
            }
        )
    )
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [
        program,
        f"--config.file={home / 'config.yml'}",
        f"--storage.tsdb.path={home / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=error",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            _ready(url)
            yield url
        finally:
            child.terminate()
            child.wait(20)


@pytest.fixture(scope="module")
def prometheus(engine: EngineProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with scraping(engine.url, tmp_path_factory.mktemp("prometheus")) as url:
        yield url


def _ready(url: str) -> None:
    """It answers, and has scraped the engine once."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            answer = httpx.get(f"{url}/api/v1/query", params={"query": 'up{job="engines"} == 1'}, timeout=2)
            if answer.status_code == 200 and answer.json()["data"]["result"]:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    pytest.fail("Prometheus did not get ready")


def ask(engine: EngineProcess, prompt: str) -> int:
    body = {"model": "reference", "prompt": prompt, "max_tokens": 1}
    answer = httpx.post(f"{engine.url}/v1/completions", json=body, timeout=30)
    tokens: int = answer.json()["usage"]["prompt_tokens"]
    return tokens


def now_in(server: PrometheusServer, engine: EngineProcess, patience: float = 30) -> Any:
    async def read() -> Any:
        async with open_client(Timeouts(), Connection()) as client:
            return await fresh_page(client, server, engine.url.removeprefix("http://"), ALL_NAMES, patience)

    return asyncio.run(read())


def test_a_fresh_page_is_of_after_the_question(prometheus: str, engine: EngineProcess) -> None:
    server = prometheus_server(prometheus, '{job="engines"}')
    before = now_in(server, engine)
    assert detect_adapter(before) is VLLM
    assert VLLM.cache_facts(before).block_size == 16
    tokens = ask(engine, "the quick brown fox " * 30)
    after = now_in(server, engine)
    grown = [VLLM.value(Quantity.QUERIES, page) or 0 for page in (before, after)]
    assert grown[1] - grown[0] == tokens
    assert VLLM.engines(after) == ("0",)


def test_two_moments_of_the_past(prometheus: str, engine: EngineProcess) -> None:
    server = prometheus_server(f"{prometheus}/api/v1/query", '{job="engines"}')
    now_in(server, engine)
    start = time.time()
    tokens = ask(engine, "some other words " * 40)
    now_in(server, engine)
    end = time.time()
    first, second = snapshots_between(prometheus, '{job="engines"}', str(start), str(end))
    found = tell(VLLM, first, second)
    assert (found["status"], found["global"]["queries"], found["global"]["hits"]) == ("complete", tokens, 0)
    assert found["domains"][0]["endpoint"] == engine.url.removeprefix("http://")


def test_a_target_that_is_not_scraped_is_said_to_be_none(prometheus: str, engine: EngineProcess) -> None:
    server = prometheus_server(prometheus, '{job="nobody"}')
    with pytest.raises(EnvironmentFailure, match="has no new sample") as raised:
        now_in(server, engine, patience=1.5)
    assert "every minute" in (raised.value.remedy or "")
    with pytest.raises(EnvironmentFailure, match="no sample of a known framework"):
        snapshots_between(prometheus, '{job="nobody"}', str(time.time() - 5), None)


def test_what_prometheus_cannot_read_is_the_selectors_fault(prometheus: str) -> None:
    async def read() -> None:
        async with open_client(Timeouts(), Connection()) as client:
            await pages_at(client, prometheus_server(prometheus, '{job=="x"}'), ALL_NAMES)

    with pytest.raises(InputError) as raised:
        asyncio.run(read())
    assert raised.value.field == "--selector"


@pytest.mark.parametrize("selector", ["job=x", "{job", "{a}{b}"])
def test_a_selector_that_is_none(selector: str) -> None:
    with pytest.raises(InputError, match="no selector"):
        prometheus_server("http://127.0.0.1:9090", selector)


def test_prometheus_that_does_not_answer() -> None:
    with pytest.raises(EnvironmentFailure, match="cannot be asked"):
        snapshots_between(f"http://127.0.0.1:{free_port()}", "", "0", "1")


def test_moments() -> None:
    assert moment_of("1700000000.5", "--from") == 1700000000.5
    assert moment_of("2023-11-14T22:13:20+00:00", "--from") == 1700000000
    for wrong in ("yesterday", "nan", "-5", "1e999", ""):
        with pytest.raises(InputError, match="no moment"):
            moment_of(wrong, "--from")
    for start, end in ((None, "5"), ("5", "5"), ("6", "5")):
        with pytest.raises(InputError):
            snapshots_between("http://127.0.0.1:1", "", start, end)
