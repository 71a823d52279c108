"""Routes, usage, salts, ranks, resets and facts of each dialect, and the server that lies."""

from __future__ import annotations

import re
from typing import Any

import pytest

from prefixcache.errors import InputError
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.reference.conftest import MODEL, Running, Start, events, ids
from tests.reference.dialects.support import tokens, value

pytestmark = pytest.mark.engine

DIALECTS = ("vllm", "vllm-v0", "vllm-early-v1", "vllm-ascend", "sglang", "mindie", "mindie-gauge")
ROUTES = {
    "vllm": {"/version", "/server_info"},
    "vllm-v0": {"/version"},
    "vllm-early-v1": {"/version"},
    "vllm-ascend": {"/version", "/server_info"},
    "sglang": {"/server_info", "/get_server_info", "/model_info", "/get_model_info", "/health_generate"},
    "mindie": {"/info"},
    "mindie-gauge": {"/info"},
}


def reset(engine: Running, path: str = "/reset_prefix_cache") -> tuple[int, str]:
    answer = engine.client.post(path)
    return answer.status_code, answer.text


@pytest.mark.parametrize("dialect", DIALECTS)
def test_routes_that_tell_who_it_is(start: Start, dialect: str) -> None:
    engine = start(dialect=dialect)
    asked = set().union(*ROUTES.values())
    assert {path for path in asked if engine.client.get(path).status_code == 200} == ROUTES[dialect]
    assert engine.client.get("/health").status_code == 200
    assert engine.client.get("/v1/models").json()["data"][0]["id"] == MODEL
    tokenizes = engine.client.post("/tokenize", json={"prompt": "also the"}).status_code
    assert tokenizes == (404 if dialect.startswith("mindie") else 200)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_route_tells_what_a_client_has_to_find_out(start: Start, dialect: str) -> None:
    engine = start(dialect=dialect, hit_unit=784, hit_drop=1, num_blocks=10_000, usage_cached=False, salt="ignored")
    for path in ("/metrics", "/version", "/v1/models", *ROUTES[dialect]):
        text = engine.client.get(path).text
        assert not re.search(r"(?<![\d.])784(?!\d)", text), path  # other figures may hold these digits
        assert "hit_unit" not in text, path


@pytest.mark.parametrize(
    ("dialect", "block"), [("vllm", "16"), ("vllm-v0", "16"), ("vllm-early-v1", "16"), ("vllm-ascend", "128")]
)
def test_block_sizes_on_pages(start: Start, dialect: str, block: str) -> None:
    assert value(start(block_size=16, dialect=dialect), "vllm:cache_config_info", block_size=block) == 1


@pytest.mark.parametrize("dialect", ["vllm", "vllm-v0", "vllm-early-v1", "vllm-ascend", "sglang"])
def test_a_server_lies_about_its_block_size(start: Start, dialect: str) -> None:
    engine = start(dialect=dialect, block_size=32, hit_unit=64, claims_block_size=2, num_blocks=1000)
    prompt = tokens(0, 200)
    assert [engine.cached(prompt) for _ in range(2)] == [0, 192]
    if dialect == "sglang":
        assert value(engine, "sglang:page_size") == 2
        assert engine.client.get("/server_info").json()["page_size"] == 2
    else:
        assert value(engine, "vllm:cache_config_info", block_size="2") == 1
    if dialect == "vllm":
        assert engine.client.get("/server_info").json()["block_size"] == 2
    if dialect == "vllm-ascend":
        told = engine.client.get("/server_info", params={"config_format": "json"}).json()["vllm_config"]
        assert (told["cache_config"]["block_size"], told["device_config"]["device_type"]) == (2, "npu")


class TestResets:
    @pytest.mark.parametrize("dialect", ["vllm", "vllm-ascend"])
    @pytest.mark.parametrize(
        ("does", "says", "hit"),
        [("real", True, 0), ("refused", False, 40), ("pretends", True, 40), ("absent", None, 40), ("", True, 0)],
    )
    def test_vllm(self, start: Start, dialect: str, does: str, says: bool | None, hit: int) -> None:
        engine = start(dialect=dialect, reset=does, hit_unit=4)
        engine.cached(ids(0, 41))
        answer = engine.client.post("/reset_prefix_cache")
        if says is None:
            assert answer.status_code == 404
        else:
            assert (answer.status_code, answer.json()) == (200, {"success": says})
        assert engine.cached(ids(0, 41)) == hit

    @pytest.mark.parametrize("dialect", ["vllm-v0", "vllm-early-v1"])
    @pytest.mark.parametrize(("does", "hit"), [("real", 0), ("refused", 40), ("pretends", 40)])
    def test_older_vllm_says_nothing(self, start: Start, dialect: str, does: str, hit: int) -> None:
        engine = start(dialect=dialect, reset=does)
        engine.cached(ids(0, 41))
        assert reset(engine) == (200, "")
        assert engine.cached(ids(0, 41)) == hit

    @pytest.mark.parametrize(
        ("does", "status", "hit"), [("real", 200, 0), ("refused", 400, 40), ("pretends", 200, 40), ("absent", 404, 40)]
    )
    def test_sglang(self, start: Start, does: str, status: int, hit: int) -> None:
        engine = start(dialect="sglang", reset=does)
        engine.cached(ids(0, 41))
        assert reset(engine, "/flush_cache")[0] == status
        assert engine.client.get("/flush_cache").status_code == status
        assert engine.cached(ids(0, 41)) == hit
        assert reset(engine)[0] == 404

    def test_sglang_refuses_while_busy_and_waits_when_asked(self, start: Start) -> None:
        engine = start(dialect="sglang", decode_tps=20)
        body = {"prompt": ids(0, 41), "max_tokens": 12, "stream": True}
        with engine.client.stream("POST", "/v1/completions", json=body) as answer:
            lines = answer.iter_lines()
            next(lines)
            assert reset(engine, "/flush_cache")[0] == 400
            assert reset(engine, "/flush_cache?timeout=0.05")[0] == 400
            assert reset(engine, "/flush_cache?timeout=20")[0] == 200
            assert reset(engine, "/flush_cache?timeout=soon")[0] == 422
        assert engine.cached(ids(0, 41)) == 0

    @pytest.mark.parametrize("dialect", ["mindie", "mindie-gauge"])
    def test_mindie_has_none(self, start: Start, dialect: str) -> None:
        engine = start(dialect=dialect)
        assert {reset(engine, path)[0] for path in ("/reset_prefix_cache", "/flush_cache")} == {404}


class TestSalts:
    @pytest.mark.parametrize("dialect", DIALECTS)
    @pytest.mark.parametrize("given", ["", "honoured", "ignored"])
    def test_whether_they_separate(self, start: Start, dialect: str, given: str) -> None:
        knows = dialect in ("vllm", "vllm-ascend", "sglang")
        if given == "honoured" and not knows:
            with pytest.raises(InputError, match="knows no salt"):
                EngineOptions("embedded", dialect=dialect, salt=given)
            return
        engine = start(dialect=dialect, salt=given, hit_unit=4)
        engine.cached(ids(0, 41), cache_salt="a")
        hit = 0 if knows and given != "ignored" else 40
        assert engine.cached(ids(0, 41), cache_salt="b") == hit

    def test_fields_that_a_server_does_not_know_are_not_looked_at(self, start: Start) -> None:
        assert start(dialect="vllm-v0").complete(ids(0, 9), cache_salt=5).status_code == 200
        assert start().complete(ids(0, 9), cache_salt=5).status_code == 400

    def test_sglang_has_a_second_field(self, start: Start) -> None:
        engine = start(dialect="sglang")
        found = [engine.cached(ids(0, 41), **extra) for extra in ({}, {"extra_key": "x"}, {"extra_key": "x"}, {})]
        assert found == [0, 0, 40, 40]


class TestRanks:
    @pytest.mark.parametrize("dialect", ["vllm", "vllm-ascend", "sglang"])
    def test_a_header_pins_and_an_unknown_rank_is_refused(self, start: Start, dialect: str) -> None:
        engine = start(dialect=dialect, dp=2, hit_unit=4)
        pin = {"X-data-parallel-rank": "1"}
        for _ in range(2):
            engine.complete(ids(0, 41), headers=pin)
        assert engine.complete(ids(0, 41), headers={"X-data-parallel-rank": "2"}).status_code == 400
        found = engine.complete(ids(0, 41), headers={"X-data-parallel-rank": "0"}).json()["usage"]
        assert found["prompt_tokens_details"] == {"cached_tokens": 0}

    @pytest.mark.parametrize("name", ["routed_dp_rank", "data_parallel_rank"])
    def test_sglang_takes_it_in_the_body(self, start: Start, name: str) -> None:
        engine = start(dialect="sglang", dp=2)
        assert [engine.cached(ids(0, 41), **{name: rank}) for rank in (1, 1, 0, 0)] == [0, 40, 0, 40]
        body = {"prompt": ids(0, 41), name: 2}
        assert engine.client.post("/v1/completions", json=body).status_code == 400
        assert start(dp=2).client.post("/v1/completions", json=body).status_code == 200

    @pytest.mark.parametrize("dialect", ["vllm-early-v1", "mindie"])
    def test_others_go_round_whatever_is_asked(self, start: Start, dialect: str) -> None:
        engine = start(dialect=dialect, dp=2)
        pinned = [engine.complete(ids(0, 41), headers={"X-data-parallel-rank": "0"}).json() for _ in range(3)]
        assert [one["usage"]["prompt_tokens_details"]["cached_tokens"] for one in pinned] == [0, 0, 40]


class TestUsage:
    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_cached_tokens_can_be_kept_back(self, start: Start, dialect: str) -> None:
        engine = start(dialect=dialect, usage_cached=False)
        for _ in range(2):
            usage = engine.complete(ids(0, 41)).json()["usage"]
            assert usage["prompt_tokens_details"] is None
        last = events(engine.complete(ids(0, 41), stream=True, stream_options={"include_usage": True}))[-1]
        assert last["usage"]["prompt_tokens_details"] is None

    @pytest.mark.parametrize(("dialect", "cached"), [("vllm", 0), ("sglang", 8 + 12)])
    def test_of_batches(self, start: Start, dialect: str, cached: int) -> None:
        engine = start(dialect=dialect)
        prompts = [ids(0, 9), ids(100, 13)]
        engine.complete(prompts)
        assert engine.complete(prompts).json()["usage"]["prompt_tokens_details"] == {"cached_tokens": cached}

    def test_the_native_route_of_sglang_tells_them_always(self, start: Start) -> None:
        engine = start(dialect="sglang", usage_cached=False)
        body = {"input_ids": ids(0, 41), "sampling_params": {"max_new_tokens": 1}}
        found = [engine.client.post("/generate", json=body).json()["meta_info"]["cached_tokens"] for _ in range(2)]
        assert found == [0, 40]
        assert value(engine, "sglang:cached_tokens_total") == 40


def test_errors_of_sglang_are_flat(start: Start) -> None:
    answer = start(dialect="sglang").complete([])
    assert answer.status_code == 400
    assert answer.json()["object"] == "error"
    assert answer.json()["code"] == 400


def test_facts_of_sglang(start: Start) -> None:
    info = start(dialect="sglang", dp=2, block_size=32, num_blocks=101).client.get("/server_info").json()
    wanted = {"page_size": 32, "max_total_num_tokens": 3200, "dp_size": 2, "radix_eviction_policy": "lru"}
    assert wanted.items() <= info.items()
    assert info["version"].startswith("0.5.")
    assert {"chunked_prefill_size", "load_balance_method"} <= info.keys()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"dialect": "tgi"}, "dialect"),
        ({"matching": "fuzzy"}, "matching"),
        ({"reset": "perhaps"}, "reset"),
        ({"salt": "pepper"}, "salt"),
        ({"hit_unit": -1}, "hit_unit"),
        ({"hit_drop": -1}, "hit_drop"),
        ({"claims_block_size": -1}, "claims_block_size"),
        ({"dialect": "vllm-v0", "dp": 2}, "dp"),
        ({"dialect": "mindie", "reset": "pretends"}, "reset"),
        ({"dialect": "mindie", "claims_block_size": 16}, "claims_block_size"),
        ({"matching": "independent", "kv_events": "tcp://*:1"}, "kv_events"),
    ],
)
def test_what_cannot_be_is_refused_with_the_option(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        EngineOptions("embedded", **fields)
    assert caught.value.field == field


def test_a_process_of_its_own_takes_every_option(toy: str) -> None:
    options = EngineOptions(
        toy,
        dialect="sglang",
        block_size=4,
        hit_unit=8,
        hit_drop=1,
        claims_block_size=2,
        outputs_cached=False,
        usage_cached=False,
        reset="refused",
        salt="ignored",
    )
    with EngineProcess(options) as process:
        import httpx

        with httpx.Client(base_url=process.url) as client:
            body = {"input_ids": ids(0, 41), "sampling_params": {"max_new_tokens": 1}}
            meta = [client.post("/generate", json={**body, "cache_salt": salt}).json()["meta_info"] for salt in "ab"]
            assert [one["cached_tokens"] for one in meta] == [0, 32]
            assert client.post("/flush_cache").status_code == 400
            assert client.get("/server_info").json()["page_size"] == 2
            usage = client.post("/v1/completions", json={"prompt": ids(0, 41)}).json()["usage"]
            assert usage["prompt_tokens_details"] is None
