"""A reset that was answered and not done: the run stops at its first request, before hours of load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prefixcache.errors import EnvironmentFailure
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.process import EngineProcess
from prefixcache.reference.server import EngineOptions
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset
from tests.load.proxy import proxy
from tests.support.datasets import made

WISHES = [Wish("a", 16, domain=0), Wish("a", 32, domain=1), Wish("a", 32, domain=0), Wish("a", 48, domain=1)]


@pytest.mark.engine
def test_a_reset_that_was_answered_but_not_done(tmp_path: Path) -> None:
    made(tmp_path / "set")
    with EngineProcess(EngineOptions("embedded")) as engine, proxy(engine.url, resets=False) as (url, passed):
        run_benchmark(tmp_path / "set", tmp_path / "first", RunOptions(urls=(url,), poll_interval=0.05))
        assert len(passed) == 40
        with pytest.raises(EnvironmentFailure, match="was not empty when the pass cold began") as caught:
            run_benchmark(tmp_path / "set", tmp_path / "again", RunOptions(urls=(url,), poll_interval=0.05))
        assert len(passed) == 41  # one request, not the whole run
        assert caught.value.remedy is not None and "--allow-residue" in caught.value.remedy
        run = json.loads((tmp_path / "again" / "runtime" / "run.json").read_text())
        assert (run["status"], run["error"]["field"], run["requests"]) == ("failed", "isolation", 1)
        chosen = RunOptions(urls=(url,), poll_interval=0.05, allow_residue=True)
        summary = run_benchmark(tmp_path / "set", tmp_path / "anyway", chosen)
        assert (summary.status, len(passed)) == ("complete", 81)
        assert summary.passes[0]["residue"]["detected"] is True


@pytest.mark.parametrize("told", ["usage", "counters"])
def test_either_witness_stops_the_run(tmp_path: Path, told: str) -> None:
    dataset = make_dataset(tmp_path / "set", [Wish("a", 16)] * 4)
    server = FakeServer(
        cached=lambda n: (16 if n == 0 else 0) if told == "usage" else None,
        counted_hits=lambda n: 16 if n == 0 and told == "counters" else 0,
    )
    with server, pytest.raises(EnvironmentFailure, match="was not empty"):
        run_benchmark(dataset, tmp_path / "run", RunOptions(urls=(server.url,), poll_interval=0.05))
    assert server.completions == 1


def test_the_first_request_of_another_domain_stops_the_run_too(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES, routed=True, routing={"dp_size": 2})
    with FakeServer() as clean, FakeServer(cached=lambda n: 16) as used:
        with pytest.raises(EnvironmentFailure, match="cache domain 1"):
            run_benchmark(dataset, tmp_path / "run", RunOptions(urls=(clean.url, used.url), poll_interval=0.05))
        assert (clean.completions, used.completions) == (1, 1)
