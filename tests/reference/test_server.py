"""Errors, concurrency, resets, eviction, ranks and metrics over real sockets."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from transformers import AutoTokenizer

from tests.reference.conftest import MODEL, Start, ids

pytestmark = pytest.mark.engine


class TestErrors:
    @pytest.mark.parametrize(
        ("fields", "status"),
        [
            ({"model": "another"}, 404),
            ({"model": 5}, 400),
            ({"prompt": ""}, 400),
            ({"prompt": []}, 400),
            ({"prompt": [[11], []]}, 400),
            ({"prompt": 5}, 400),
            ({"prompt": [11, 10_000]}, 400),
            ({"prompt": ids(0, 50), "max_tokens": 51}, 400),
            ({"prompt": ids(0, 100), "max_tokens": None}, 400),
            ({"max_tokens": 0}, 400),
            ({"max_tokens": "many"}, 400),
            ({"stream": True, "stream_options": 5}, 400),
            ({"prompt": [ids(0, 9), ids(0, 101)]}, 400),
        ],
    )
    def test_errors_are_objects_and_move_no_counter(self, start: Start, fields: dict[str, Any], status: int) -> None:
        engine = start(max_model_len=100, dp=2)
        before = engine.samples()
        answer = engine.complete(**{"prompt": ids(0, 9), **fields})
        assert answer.status_code == status
        error = answer.json()["error"]
        assert (error["code"], error["type"]) == (status, "NotFoundError" if status == 404 else "BadRequestError")
        assert engine.samples() == before

    def test_the_longest_request_is_served(self, start: Start) -> None:
        assert start(max_model_len=100).complete(ids(0, 50), max_tokens=50).status_code == 200

    def test_bodies_that_are_no_json(self, start: Start) -> None:
        engine = start()
        before = engine.samples()
        as_json = {"content-type": "application/json"}
        assert engine.client.post("/v1/completions", content=b"{", headers=as_json).status_code == 400
        assert engine.client.post("/v1/chat/completions", content=b"[]", headers=as_json).status_code == 400
        assert engine.client.post("/v1/completions", content=b"{}").status_code == 400
        assert engine.samples() == before

    def test_unknown_routes(self, start: Start) -> None:
        engine = start()
        assert engine.client.get("/nowhere").json()["error"]["code"] == 404
        assert engine.client.get("/v1/completions").json()["error"]["code"] == 405


class TestConcurrency:
    @pytest.mark.parametrize("rates", [{}, {"prefill_tps": 20_000, "decode_tps": 200}])
    def test_identical_cold_prompts_miss_once(self, start: Start, rates: dict[str, float]) -> None:
        engine = start(**rates)
        with ThreadPoolExecutor(16) as pool:
            cached = list(pool.map(lambda _: engine.cached(ids(0, 41), max_tokens=3), range(16)))
        assert sorted(cached) == [0] + [40] * 15
        assert engine.total("prefix_cache_hits_total") == 600

    def test_a_request_waits_for_blocks(self, start: Start) -> None:
        engine = start(num_blocks=6, decode_tps=10)
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(engine.cached, ids(0, 12), max_tokens=5)
            engine.until(lambda: engine.total("num_requests_running") == 1)
            second = pool.submit(engine.cached, ids(100, 12), max_tokens=1)
            engine.until(lambda: engine.total("num_requests_waiting") == 1)
            assert engine.total("prefix_cache_queries_total") == 12
            assert engine.total("kv_cache_usage_perc") > 0.5
            assert (first.result(), second.result()) == (0, 0)
        assert engine.total("prefix_cache_queries_total") == 24


class TestReset:
    def test_reset_drops_the_cache_and_keeps_the_counters(self, start: Start) -> None:
        engine = start(dp=2)
        for _ in range(4):
            engine.cached(ids(0, 9))
        before = engine.samples()
        assert engine.client.post("/reset_prefix_cache").json() == {"success": True}
        assert engine.samples() == before
        assert [engine.cached(ids(0, 9)) for _ in range(4)] == [0, 0, 8, 8]

    def test_reset_is_refused_while_a_request_runs(self, start: Start) -> None:
        engine = start(decode_tps=10)
        body = {"prompt": ids(0, 9), "max_tokens": 500, "stream": True}
        with engine.client.stream("POST", "/v1/completions", json=body) as answer:
            lines = answer.iter_lines()  # kept: a dropped iterator closes the connection
            next(lines)
            refused = engine.client.post("/reset_prefix_cache")
            assert (refused.status_code, refused.json()) == (200, {"success": False})
        engine.until(lambda: engine.total("num_requests_running") == 0)
        assert engine.cached(ids(0, 9)) == 8
        assert engine.client.post("/reset_prefix_cache").json() == {"success": True}
        assert engine.cached(ids(0, 9)) == 0


class TestEviction:
    def test_a_tiny_pool_evicts_ends_first(self, start: Start) -> None:
        engine = start(num_blocks=9)
        assert engine.cached(ids(0, 16)) == 0
        assert engine.cached(ids(100, 16)) == 0
        assert engine.cached(ids(200, 6)) == 0  # takes the last two of the first prompt's four blocks
        assert engine.cached(ids(0, 16)) == 8

    def test_a_loop_longer_than_the_pool_never_hits(self, start: Start) -> None:
        engine = start(num_blocks=9)
        assert [engine.cached(ids(start_, 16)) for start_ in (0, 80, 160) * 3] == [0] * 9
        assert engine.client.get("/v1/models").json()["data"][0]["max_model_len"] == 32


class TestRanks:
    def test_serial_requests_go_round(self, start: Start) -> None:
        engine = start(dp=2)
        assert [engine.cached(ids(0, 9)) for _ in range(5)] == [0, 0, 8, 8, 8]
        assert engine.total("prefix_cache_queries_total", engine="0") == 27
        assert engine.total("prefix_cache_queries_total", engine="1") == 18
        assert engine.total("prefix_cache_hits_total", engine="0") == 16

    def test_a_header_pins(self, start: Start) -> None:
        engine = start(dp=3)
        for rank in (2, 2, 1, 2):
            engine.complete(ids(0, 9), headers={"X-data-parallel-rank": str(rank)})
        hits = [engine.total("prefix_cache_hits_total", engine=str(rank)) for rank in range(3)]
        assert hits == [0, 0, 16]

    @pytest.mark.parametrize("rank", ["2", "-1", "x"])
    def test_unknown_ranks(self, start: Start, rank: str) -> None:
        engine = start(dp=2)
        before = engine.samples()
        assert engine.complete(ids(0, 9), headers={"X-data-parallel-rank": rank}).status_code == 400
        assert engine.samples() == before


class TestFacts:
    def test_models(self, start: Start) -> None:
        [card] = start(max_model_len=77).client.get("/v1/models").json()["data"]
        assert (card["id"], card["max_model_len"], card["object"]) == (MODEL, 77, "model")

    def test_health_and_version(self, start: Start) -> None:
        engine = start()
        assert engine.client.get("/health").status_code == 200
        assert engine.client.get("/version").json()["version"].startswith("0.32.0")

    def test_server_info_names_the_engine_and_its_tokenizer(self, start: Start, toy: str) -> None:
        info = start(dp=2, decode_tps=5).client.get("/server_info").json()
        dump = AutoTokenizer.from_pretrained(toy).backend_tokenizer.to_str()
        assert info["engine"] == "prefixcache-reference"
        assert info["tokenizer_sha256"] == hashlib.sha256(dump.encode()).hexdigest()
        assert (info["dp"], info["block_size"], info["num_blocks"], info["decode_tps"]) == (2, 4, 1000, 5)

    def test_tokenize_and_back(self, start: Start) -> None:
        engine = start()
        found = engine.client.post("/tokenize", json={"prompt": "also the", "return_token_strs": True}).json()
        assert found["count"] == len(found["tokens"]) == len(found["token_strs"])
        assert found["max_model_len"] > 0
        assert engine.client.post("/detokenize", json={"tokens": found["tokens"]}).json() == {"prompt": "also the"}
        assert engine.client.post("/tokenize", json={"prompt": 5}).status_code == 400
        assert engine.client.post("/detokenize", json={"tokens": "x"}).status_code == 400


class TestMetrics:
    def test_prompt_tokens_by_source_add_up(self, start: Start) -> None:
        engine = start()
        for _ in range(3):
            engine.complete(ids(0, 9), max_tokens=4)
        sources = {
            source: engine.total("prompt_tokens_by_source_total", source=source)
            for source in ("local_compute", "local_cache_hit", "external_kv_transfer")
        }
        assert sources == {"local_compute": 11, "local_cache_hit": 16, "external_kv_transfer": 0}
        assert engine.total("prompt_tokens_total") == 27
        assert engine.total("prompt_tokens_cached_total") == 16
        assert engine.total("generation_tokens_total") == 12
        assert engine.total("request_success_total", finished_reason="length") == 3
        assert engine.total("time_to_first_token_seconds_count") == 3
        assert engine.total("e2e_request_latency_seconds_count") == 3
        assert engine.total("external_prefix_cache_queries_total") == 0

    def test_names_labels_and_types_are_those_of_a_real_page(self, start: Start) -> None:
        page = start(dp=2).client.get("/metrics").text
        for line in (
            "# HELP vllm:prefix_cache_queries_total Prefix cache queries, in terms of number of queried tokens.",
            "# TYPE vllm:prefix_cache_queries_total counter",
            f'vllm:prefix_cache_queries_total{{engine="1",model_name="{MODEL}"}} 0.0',
            "# TYPE vllm:prefix_cache_hits_created gauge",
            f'vllm:prompt_tokens_by_source_total{{engine="0",model_name="{MODEL}",source="local_compute"}} 0.0',
            f'vllm:request_success_total{{engine="0",finished_reason="stop",model_name="{MODEL}"}} 0.0',
            f'vllm:time_to_first_token_seconds_bucket{{engine="0",le="0.001",model_name="{MODEL}"}} 0.0',
            f'vllm:kv_cache_usage_perc{{engine="0",model_name="{MODEL}"}} 0.0',
        ):
            assert line in page.splitlines()
        assert "process_start_time_seconds" in page
        [info] = [
            line for line in page.splitlines() if line.startswith("vllm:cache_config_info") and 'engine="1"' in line
        ]
        for label in (
            'block_size="4"',
            'num_gpu_blocks="1000"',
            'kv_cache_size_tokens="4000"',
            'enable_prefix_caching="True"',
        ):
            assert label in info
