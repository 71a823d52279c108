"""Units, drops, matching anywhere: every request hits what the obvious rule says, in whatever dialect it is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.conftest import Start, ids
from tests.reference.dialects.support import LENGTHS, chained_hits, designed, independent_hits, tokens, value

pytestmark = pytest.mark.engine

HITS = {
    "vllm": "vllm:prefix_cache_hits_total",
    "vllm-ascend": "vllm:prefix_cache_hits_total",
    "sglang": "sglang:cached_tokens_total",
    "mindie": "npu_radix_match_hit_num",
}
QUERIES = {
    "vllm": "vllm:prefix_cache_queries_total",
    "vllm-ascend": "vllm:prefix_cache_queries_total",
    "sglang": "sglang:prompt_tokens_total",
    "mindie": "all_radix_match_num",
}


def options(**fields: Any) -> dict[str, Any]:
    return {"block_size": 16, "num_blocks": 10_000, **fields}


@pytest.mark.parametrize("dialect", HITS)
@pytest.mark.parametrize(("unit", "drop"), [(784, 0), (1536, 0), (784, 1), (48, 1), (7, 2)])
def test_counters_move_by_the_closed_form(start: Start, dialect: str, unit: int, drop: int) -> None:
    engine = start(**options(dialect=dialect, hit_unit=unit, hit_drop=drop))
    prompts = designed()
    assert [engine.cached(prompt) for prompt in prompts] == (expected := chained_hits(prompts, unit, drop))
    assert value(engine, HITS[dialect]) == sum(expected) > 0
    assert value(engine, QUERIES[dialect]) == sum(LENGTHS)


def test_in_blocks(start: Start) -> None:
    engine = start(**options(dialect="vllm-early-v1", hit_unit=784))
    prompts = designed()
    for prompt in prompts:
        engine.complete(prompt)
    assert value(engine, "vllm:gpu_prefix_cache_hits_total") == sum(chained_hits(prompts, 784)) / 784
    assert value(engine, "vllm:gpu_prefix_cache_queries_total") == sum((n - 1) // 784 for n in LENGTHS)


@pytest.mark.parametrize("dialect", ["vllm-v0", "mindie-gauge"])
def test_as_a_rate_since_the_start(start: Start, dialect: str) -> None:
    name = {"vllm-v0": "vllm:gpu_prefix_cache_hit_rate", "mindie-gauge": "npu_prefix_cache_hit_rate"}[dialect]
    engine = start(**options(dialect=dialect))
    prompts = designed()
    expected = chained_hits(prompts, 16)
    assert value(engine, name) == (-1 if dialect == "vllm-v0" else 0)
    for count, prompt in enumerate(prompts, 1):
        engine.complete(prompt)
        hits = sum(expected[:count])
        rate = (
            hits // 16 / sum(n // 16 for n in LENGTHS[:count]) if dialect == "vllm-v0" else hits / sum(LENGTHS[:count])
        )
        assert value(engine, name) == pytest.approx(rate, rel=1e-7)
    assert value(engine, "vllm:prompt_tokens_total" if dialect == "vllm-v0" else "prompt_tokens_total") == sum(LENGTHS)


@pytest.mark.parametrize(("lengths", "hits"), [((1024, 1025, 2047, 4096), (0, 1024, 1024, 3072))])
def test_repeated_prompts_of_a_hybrid_model(start: Start, lengths: tuple[int, ...], hits: tuple[int, ...]) -> None:
    """The figures of vllm-ascend#7965."""
    engine = start(**options(hit_unit=1024))
    for number, (length, hit) in enumerate(zip(lengths, hits, strict=True)):
        prompt = tokens(number, length)
        assert (engine.cached(prompt), engine.cached(prompt)) == (0, hit)


def test_a_prefix_under_one_unit_never_hits(start: Start) -> None:
    engine = start(**options(hit_unit=784))
    master = tokens(0, 783)
    assert [engine.cached(master + tokens(number, 400)) for number in range(1, 4)] == [0, 0, 0]


@pytest.mark.parametrize("unit", [16, 784])
@pytest.mark.parametrize("drop", [0, 1])
def test_equal_blocks_hit_wherever_they_stand(start: Start, unit: int, drop: int) -> None:
    engine = start(**options(matching="independent", hit_unit=unit, hit_drop=drop))
    first, own = tokens(0, 3136), tokens(1, 1568)
    prompts = [*designed(), first, own + first, first[784:1568] + own[784:] + first[:784], first]
    found = [engine.cached(prompt) for prompt in prompts]
    assert found == independent_hits(prompts, unit, drop)
    assert sum(found) > sum(chained_hits(prompts, unit, drop))


def test_chained_blocks_do_not(start: Start) -> None:
    engine = start(**options())
    first, own = tokens(0, 320), tokens(1, 320)
    assert [engine.cached(prompt) for prompt in (first, own + first)] == [0, 0]


def test_chunks_cut_by_content_are_found_behind_what_was_inserted(start: Start) -> None:
    """Blocks would lose all behind an odd insertion; chunks lose the one it stands in, and find their ends again."""
    engine = start(**options(matching="content-defined"))
    text = tokens(0, 4000)
    assert engine.cached(text) == 0
    again = engine.cached(text)
    moved = engine.cached([77, *text])
    changed = engine.cached([*text[:2000], 77, *text[2000:]])
    assert 4000 - 128 <= again < 4000
    assert again - 3 * 128 <= moved <= again
    assert again - 4 * 128 <= changed <= again
    assert engine.cached(tokens(5, 4000)) == 0


@pytest.mark.parametrize("matching", ["chained", "independent", "content-defined"])
def test_salts_separate_and_resets_empty(start: Start, matching: str) -> None:
    engine = start(**options(matching=matching))
    prompt = tokens(0, 1000)
    assert [engine.cached(prompt, cache_salt=salt) > 0 for salt in ("a", "a", "b", "a")] == [False, True, False, True]
    assert engine.client.post("/reset_prefix_cache").json() == {"success": True}
    assert engine.cached(prompt, cache_salt="a") == 0


@pytest.mark.parametrize("cached", [True, False])
def test_whether_outputs_can_be_hit(start: Start, cached: bool) -> None:
    engine = start(outputs_cached=cached)
    prompt = ids(0, 10)
    answer = engine.complete(prompt, max_tokens=20, return_token_ids=True).json()["choices"][0]["token_ids"]
    # Ten tokens of prompt and nineteen of the answer are written: seven blocks of four, two of the prompt alone.
    assert engine.cached(prompt + answer + ids(50, 9)) == (28 if cached else 8)


@pytest.mark.parametrize(("block_size", "hit_unit", "true"), [(16, 0, 128), (32, 0, 128), (128, 16384, 16384)])
def test_ascend_has_blocks_of_its_own(start: Start, block_size: int, hit_unit: int, true: int) -> None:
    engine = start(dialect="vllm-ascend", block_size=block_size, hit_unit=hit_unit, num_blocks=1000)
    prompt = tokens(0, true + 1)
    assert engine.cached(prompt) == 0
    assert engine.cached(prompt) == true
    assert engine.cached(prompt[:-1]) == 0
    assert value(engine, "vllm:cache_config_info", block_size="128") == 1


def test_a_pool_in_units_evicts_in_units(start: Start) -> None:
    engine = start(num_blocks=1 + 3 * 8, block_size=4, hit_unit=32)  # three units
    first, other = tokens(0, 64), tokens(1, 33)
    assert engine.cached(first) == 0
    assert engine.cached(first[:33]) == 32
    assert engine.cached(other) == 0  # takes the free unit and the second one of the first prompt
    assert engine.cached(first[:33]) == 32
    assert engine.cached(tokens(2, 95)) == 0  # takes all
    assert engine.cached(first[:33]) == 0
    assert engine.client.get("/v1/models").json()["data"][0]["max_model_len"] == 96


@pytest.mark.parametrize("dialect", HITS)
def test_without_a_prefix_cache(start: Start, dialect: str) -> None:
    engine = start(dialect=dialect, prefix_caching=False)
    assert [engine.cached(ids(0, 41)) for _ in range(3)] == [0, 0, 0]
    hits = value(engine, HITS[dialect])
    assert hits == {"sglang": None, "mindie": -1}.get(dialect, 0)
    assert value(engine, QUERIES[dialect]) == {"sglang": 123, "mindie": -1}.get(dialect, 0)
