"""The server's clock in the events of tokens: comparable with this process's, and right before the write."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import pytest

from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.reference.conftest import Start, events, ids

pytestmark = pytest.mark.engine

ROUTES: list[tuple[str, dict[str, Any]]] = [
    ("/v1/completions", {"prompt": ids(0, 9), "max_tokens": 4}),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "also"}], "max_tokens": 4}),
    ("/generate", {"input_ids": ids(0, 9), "sampling_params": {"max_new_tokens": 4}}),
]


@pytest.mark.parametrize(("path", "body"), ROUTES)
def test_every_token_carries_it(start: Start, path: str, body: dict[str, Any]) -> None:
    engine = start(stamp=True, decode_tps=100)
    begun = time.perf_counter()
    found = events(engine.client.post(path, json={**body, "stream": True}))
    ended = time.perf_counter()
    stamps = [event["stamp"] for event in found]
    assert len(stamps) in (4, 5)  # a chat's first event is its role
    assert begun < stamps[0] <= stamps[-1] < ended
    assert stamps == sorted(stamps)
    assert stamps[-1] - begun >= 0.03  # three tokens behind the first at 100 a second


@pytest.mark.parametrize(("path", "body"), ROUTES)
def test_nothing_else_changes(start: Start, path: str, body: dict[str, Any]) -> None:
    plain, stamped = start(), start(stamp=True)
    asked = {**body, "stream": True}
    without, found = (events(engine.client.post(path, json=asked)) for engine in (plain, stamped))
    assert all("stamp" not in event for event in without)
    for event in found:
        event.pop("stamp")
    varying = ("id", "created")
    assert [_without(event, varying) for event in found] == [_without(event, varying) for event in without]


def test_the_clock_of_another_process(toy: str) -> None:
    with (
        EngineProcess(EngineOptions(toy, stamp=True, decode_tps=50)) as engine,
        httpx.stream("POST", f"{engine.url}/v1/completions", json={"prompt": [11, 12], "stream": True}) as answer,
    ):
        behind = []
        for line in answer.iter_lines():
            if line.startswith("data: {"):
                behind.append(time.perf_counter() - json.loads(line.removeprefix("data: "))["stamp"])
    assert len(behind) == 16
    assert min(behind) > 0
    assert sorted(behind)[8] < 0.25


def _without(value: Any, names: tuple[str, ...]) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without(inner, names) for key, inner in value.items() if key not in names and key != "e2e_latency"}
