"""What a plan does to the engine itself: counters, restarts, series that vanish."""

from __future__ import annotations

import json
import time

import pytest

from tests.reference.faults.conftest import COMPLETIONS, Faulty, StartFaulty

pytestmark = pytest.mark.engine

QUERIES = 'vllm:prefix_cache_queries_total{engine="0",model_name="toy"}'
TTFT = 'vllm:time_to_first_token_seconds_count{engine="0",model_name="toy"}'
CACHED = {"stream": False}


def cached(engine: Faulty) -> int:
    usage = json.loads(engine.complete(stream=False).body)["usage"]
    return int(usage["prompt_tokens_details"]["cached_tokens"])


def test_counters_begin_anew_and_the_cache_stays(start_faulty: StartFaulty) -> None:
    engine = start_faulty({"requests": 3, "reset_counters": True})
    assert [cached(engine), cached(engine)] == [0, 36]
    before = engine.series()
    assert (before[QUERIES], before[TTFT]) == (80, 2)
    assert cached(engine) == 36
    after = engine.series()
    assert (after[QUERIES], after[TTFT]) == (40, 1)
    assert after["process_start_time_seconds"] == before["process_start_time_seconds"]
    assert after[QUERIES.replace("_total", "_created")] > before[QUERIES.replace("_total", "_created")]
    assert before.keys() == after.keys()


def test_a_restart(start_faulty: StartFaulty) -> None:
    engine = start_faulty({"requests": 3, "restart": True}, decode_tps=20)
    assert cached(engine) == 0
    before = engine.series()
    other = engine.connect()
    other.ask(COMPLETIONS, {"prompt": [30, 31], "max_tokens": 900, "stream": True}, seconds=0.1)
    idle = engine.connect()
    idle.ask("/health")
    begun = time.time()
    assert cached(engine) == 0  # it was cached, and is no longer
    assert other.read(5).ending == "reset"
    assert idle.read(5).ending == "reset"
    after = engine.series()
    assert after[QUERIES] == 40
    assert after["process_start_time_seconds"] == pytest.approx(begun, abs=5)
    assert after["process_start_time_seconds"] > before["process_start_time_seconds"]
    assert after['vllm:num_requests_running{engine="0",model_name="toy"}'] == 0
    assert before.keys() == after.keys()


def test_restarted_between_two_pages(start_faulty: StartFaulty) -> None:
    engine = start_faulty({"path": "/metrics", "requests": 2, "restart": True})
    engine.complete()
    assert [engine.series()[QUERIES], engine.series()[QUERIES]] == [40, 0]


@pytest.mark.parametrize("name", ["vllm:prefix_cache_hits", "vllm:prefix_cache_hits_total"])
def test_series_that_vanish(start_faulty: StartFaulty, name: str) -> None:
    engine = start_faulty({"requests": 2, "drop_series": [name, "vllm:time_to_first_token_seconds"]})
    engine.complete()
    before = engine.series()
    engine.complete()
    after = engine.series()
    gone = {name.partition("{")[0] for name in before.keys() - after.keys()}
    assert {name for name in gone if "created" not in name} == {
        "vllm:prefix_cache_hits_total",
        "vllm:time_to_first_token_seconds_bucket",
        "vllm:time_to_first_token_seconds_count",
        "vllm:time_to_first_token_seconds_sum",
    }
    assert b"prefix_cache_hits_total" not in engine.get("/metrics").body.replace(b"external_prefix_cache_hits", b"")
    assert after[QUERIES] == 80
