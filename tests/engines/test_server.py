from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx
import pytest

from prefixcache.engines import server as server_module
from prefixcache.engines.adapter import Adapter
from prefixcache.engines.endpoint import parse_endpoint
from prefixcache.engines.frameworks.sglang import SGLANG
from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.page import parse_page
from prefixcache.engines.server import ResetOutcome, ServerFacts, read_facts, reset_cache
from prefixcache.engines.snapshot import metrics_source, scrape, take_snapshot
from prefixcache.errors import EnvironmentFailure

T = TypeVar("T")
Handler = Callable[[httpx.Request], httpx.Response]
ENDPOINT = parse_endpoint("http://me:secret@server:1")


def ask(handler: Handler, question: Callable[[httpx.AsyncClient], Awaitable[T]]) -> T:
    async def go() -> T:
        async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as client:
            return await question(client)

    return asyncio.run(go())


def reset(
    adapter: Adapter, *answers: httpx.Response, external: bool = False
) -> tuple[ResetOutcome, list[httpx.Request]]:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return answers[min(len(seen), len(answers)) - 1]

    return ask(handler, lambda c: reset_cache(c, ENDPOINT, adapter, external=external)), seen


@pytest.mark.parametrize(
    ("adapter", "response", "answer"),
    [
        (VLLM, httpx.Response(200, json={"success": True}), "done"),
        (VLLM, httpx.Response(200), "unconfirmed"),
        (VLLM, httpx.Response(200, text="ok"), "unconfirmed"),
        (VLLM, httpx.Response(404, json={"detail": "Not Found"}), "absent"),
        (VLLM, httpx.Response(500), "refused"),
        (SGLANG, httpx.Response(200, text="Cache flushed."), "done"),
        (SGLANG, httpx.Response(404), "absent"),
    ],
)
def test_what_a_reset_answered(adapter: Adapter, response: httpx.Response, answer: str) -> None:
    outcome, seen = reset(adapter, response)
    assert outcome.answer == answer
    assert seen[0].method == "POST"
    assert seen[0].headers["authorization"].startswith("Basic ")


def test_a_busy_server_is_asked_again() -> None:
    busy, done = httpx.Response(200, json={"success": False}), httpx.Response(200, json={"success": True})
    outcome, seen = reset(VLLM, busy, busy, done)
    assert (outcome.answer, len(seen)) == ("done", 3)
    outcome, _ = reset(SGLANG, httpx.Response(400), httpx.Response(200))
    assert outcome.answer == "done"


def test_a_server_that_stays_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "BUSY_FOR_S", 0.3)
    outcome, seen = reset(VLLM, httpx.Response(200, json={"success": False}))
    assert outcome.answer == "busy"
    assert len(seen) >= 2


def test_an_external_tier_is_reset_when_asked() -> None:
    _, seen = reset(VLLM, httpx.Response(200, json={"success": True}), external=True)
    assert seen[0].url.query == b"reset_external=true"


def facts(routes: dict[str, Any], adapter: Adapter = VLLM, page: str = "") -> ServerFacts:
    def handler(request: httpx.Request) -> httpx.Response:
        found = routes.get(request.url.path)
        return httpx.Response(404) if found is None else httpx.Response(200, json=found)

    return ask(handler, lambda c: read_facts(c, ENDPOINT, parse_page(page), adapter))


def test_facts_of_vllm_and_of_the_reference_engine() -> None:
    models = {"data": [{"id": "tiny", "max_model_len": 32768}]}
    real = facts(
        {"/v1/models": models, "/version": {"version": "0.32.0"}}, page='vllm:num_requests_running{engine="0"} 0'
    )
    assert (real.model, real.max_model_len, real.version, real.engines) == ("tiny", 32768, "0.32.0", ("0",))
    assert not real.is_reference
    ours = facts({"/v1/models": models, "/server_info": {"engine": "prefixcache-reference", "dp": 2, "nested": {}}})
    assert ours.is_reference
    assert ours.info == {"engine": "prefixcache-reference", "dp": 2}
    assert "secret" not in str(ours.to_json())


def test_limits_of_the_scheduler_of_a_vllm_in_dev_mode() -> None:
    """``/server_info`` answers with text, and with values if asked so."""
    config = {"scheduler_config": {"max_num_seqs": 8, "async_scheduling": False, "scheduler_cls": "x", "policy": None}}
    asked = []

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/models":
            return httpx.Response(200, json={"data": [{"id": "tiny"}]})
        if request.url.path != "/server_info":
            return httpx.Response(404)
        asked.append(dict(request.url.params))
        json = {"vllm_config": config if request.url.params.get("config_format") == "json" else "model='tiny'"}
        return httpx.Response(200, json=json | {"vllm_env": {"KEY": "x"}})

    found = ask(handler, lambda c: read_facts(c, ENDPOINT, parse_page(""), VLLM))
    assert found.scheduler == {"max_num_seqs": 8, "async_scheduling": False}
    assert found.to_json()["scheduler"] == found.scheduler
    assert asked[0] == {}
    silent = facts({"/v1/models": {"data": [{"id": "tiny"}]}})
    assert silent.to_json()["scheduler"] is None


def test_facts_of_an_older_sglang() -> None:
    found = facts(
        {"/v1/models": {"data": [{"id": "tiny"}]}, "/get_server_info": {"version": "0.5.23", "page_size": 1}},
        SGLANG,
        "sglang:page_size 32\nsglang:context_len 4096\n",
    )
    assert (found.version, found.cache.block_size, found.max_model_len) == ("0.5.23", 32, 4096)


def test_a_server_without_models_is_an_environment_failure() -> None:
    with pytest.raises(EnvironmentFailure, match="answered HTTP 404 to /v1/models"):
        facts({})


def test_scraping_says_what_is_wrong_with_the_page() -> None:
    pages = {
        "/html": httpx.Response(
            200, text="<!doctype html><title>Login</title>", headers={"content-type": "text/plain"}
        ),
        "/empty": httpx.Response(200, text="# nothing\n"),
        "/gone": httpx.Response(503),
        "/good": httpx.Response(200, text="vllm:x 1\nbad line here {\n"),
    }

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/refused":
            raise httpx.ConnectError("http://me:secret@server:1 refused")
        return pages[request.url.path]

    for path, text in (
        ("html", "is an HTML page"),
        ("empty", "holds no metric"),
        ("gone", "answered HTTP 503"),
        ("refused", "cannot be read"),
    ):
        with pytest.raises(EnvironmentFailure, match=text) as caught:
            ask(handler, lambda c, path=path: scrape(c, metrics_source(f"http://me:secret@server:1/{path}")))  # type: ignore[misc]
        assert "secret" not in str(caught.value)
    sources = [metrics_source(f"http://server:1/{path}") for path in ("good", "gone")]
    snapshot = ask(handler, lambda c: take_snapshot(c, sources))
    assert list(snapshot.pages) == ["http://server:1/good"]
    assert list(snapshot.errors) == ["http://server:1/gone"]
    assert len(snapshot.warnings) == 2
