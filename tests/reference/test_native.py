"""SGLang's route `/generate`: whole answers, streams with the text so far, batches, pins and mistakes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.reference.conftest import Running, Start, events, ids

pytestmark = pytest.mark.engine


def generate(engine: Running, prompt: Any, tokens: int = 3, **fields: Any) -> Any:
    key = "text" if isinstance(prompt, str) else "input_ids"
    params = {"max_new_tokens": tokens, **fields.pop("params", {})}
    return engine.client.post("/generate", json={key: prompt, "sampling_params": params, **fields})


def test_a_whole_answer(start: Start) -> None:
    engine = start()
    first, second = (generate(engine, ids(0, 41)).json() for _ in range(2))
    assert first["text"] == second["text"]
    assert len(first["output_ids"]) == 3
    meta = first["meta_info"]
    assert (meta["prompt_tokens"], meta["completion_tokens"], meta["cached_tokens"]) == (41, 3, 0)
    assert meta["finish_reason"] == {"type": "length", "length": 3}
    assert meta["e2e_latency"] >= 0
    assert second["meta_info"]["cached_tokens"] == 40
    assert second["meta_info"]["id"] != meta["id"]


def test_it_shares_cache_and_answers_with_completions(start: Start) -> None:
    engine = start()
    text = engine.complete(ids(0, 41), max_tokens=3).json()["choices"][0]["text"]
    found = generate(engine, ids(0, 41)).json()
    assert (found["text"], found["meta_info"]["cached_tokens"]) == (text, 40)


@pytest.mark.parametrize("rates", [{}, {"decode_tps": 300}])
def test_a_stream_tells_the_text_so_far(start: Start, rates: dict[str, float]) -> None:
    engine = start(**rates)
    whole = generate(engine, ids(0, 9), 4).json()
    found = events(generate(engine, ids(0, 9), 4, stream=True))
    assert [event["meta_info"]["completion_tokens"] for event in found] == [1, 2, 3, 4]
    assert [event["output_ids"] for event in found] == [whole["output_ids"][:n] for n in (1, 2, 3, 4)]
    assert all(later["text"].startswith(event["text"]) for event, later in pairwise(found))
    assert found[-1]["text"] == whole["text"]
    assert [event["meta_info"]["finish_reason"] for event in found[:-1]] == [None] * 3
    assert found[-1]["meta_info"]["finish_reason"] == {"type": "length", "length": 4}
    assert {event["meta_info"]["cached_tokens"] for event in found} == {8}


def test_texts_and_lists_of_prompts(start: Start) -> None:
    engine = start()
    assert generate(engine, "also the river").json()["meta_info"]["prompt_tokens"] == len(
        engine.client.post("/tokenize", json={"prompt": "also the river"}).json()["tokens"]
    )
    several = engine.client.post("/generate", json={"text": ["also", "the river"]}).json()
    assert [found["meta_info"]["completion_tokens"] for found in several] == [128, 128]
    assert len(generate(engine, [ids(0, 5)]).json()) == 1
    sampled = generate(engine, ids(0, 5), params={"n": 2}, stream=True)
    assert [event["index"] for event in events(sampled)] == [0, 0, 0, 1, 1, 1]


def test_without_a_limit_it_ends_by_itself(start: Start) -> None:
    meta = generate(start(max_model_len=500), ids(0, 9), params={"max_new_tokens": None}).json()["meta_info"]
    assert meta["finish_reason"]["type"] == "stop"
    assert meta["completion_tokens"] < 64


@pytest.mark.parametrize("name", ["cache_salt", "extra_key"])
def test_salts_part_caches(start: Start, name: str) -> None:
    engine = start()
    bodies: list[dict[str, Any]] = [{name: salt} for salt in ("a", "b", "a")]
    salted = [generate(engine, ids(0, 41), **body).json() for body in bodies]
    assert [found["meta_info"]["cached_tokens"] for found in salted] == [0, 0, 40]


@pytest.mark.parametrize("pin", [{"routed_dp_rank": 1}, {"data_parallel_rank": 1}])
def test_a_rank_can_be_named(start: Start, pin: dict[str, int]) -> None:
    engine = start(dp=2)
    fields: dict[str, Any] = dict(pin)
    for _ in range(2):
        assert generate(engine, ids(0, 9), **fields).status_code == 200
    assert engine.total("prefix_cache_queries_total", engine="1") == 18


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": "a", "input_ids": [11]},
        {"text": 5},
        {"text": []},
        {"input_ids": []},
        {"input_ids": [11, "a"]},
        {"input_ids": [11, 10_000]},
        {"text": "a", "sampling_params": [1]},
        {"text": "a", "sampling_params": {"max_new_tokens": 0}},
        {"text": "a", "sampling_params": {"stop": "x"}},
        {"text": "a", "return_logprob": True},
        {"text": "a", "cache_salt": 5},
        {"text": "a", "routed_dp_rank": 7},
        {"text": "a", "routed_dp_rank": "1"},
        {"text": "a", "stream": 1},
    ],
)
def test_mistakes_move_no_counter(start: Start, body: dict[str, Any]) -> None:
    engine = start()
    before = engine.samples()
    answer = engine.client.post("/generate", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]
    assert engine.samples() == before
