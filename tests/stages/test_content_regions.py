"""Regions, units and sources of whole datasets: each is proven by certificate and re-encoding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefixcache.cache.certificate import KeyedPrompts, simulate_pass
from prefixcache.dataset.check import check_dataset
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.files import read_json, read_jsonl
from prefixcache.pipeline import DatasetGenerationResult
from tests.support.datasets import digest_of, made
from tests.support.families import family_folder

GROUPS = {"group_count": 3}


def holds_at(result: DatasetGenerationResult, unit: int) -> bool:
    """The planned hits are what a cache with another unit gives, by simulating it over the real ids."""
    rows = list(read_jsonl(result.request_metadata))
    ids = [np.array(row["prompt_token_ids"], dtype=np.int32) for row in read_jsonl(result.data)]
    keyed = KeyedPrompts.of(zip(ids, [0] * len(ids), strict=True), unit)
    hits = simulate_pass("cold", keyed, KeyedPrompts.of([], unit), unit)
    return bool((hits == np.array([row["expected_hit_len"] for row in rows])).all())


@pytest.mark.parametrize(
    ("system", "unit"), [(None, 16), ("Be kind.", 16), ("Answer in short and careful steps, and say why.", 12)]
)
def test_valid_hit_units_are_those_at_which_a_cache_hits_the_same(
    system: str | None, unit: int, tmp_path: Path
) -> None:
    prompt = {} if system is None else {"system": system}
    result = made(
        tmp_path,
        prompt=prompt,
        block_size=unit,
        prefix=GROUPS,
        request_count=60,
        input_length={"mode": "uniform", "min": 20, "max": 300},
        target={"hit_ratio": 0.4},
    )
    manifest = read_json(result.manifest)
    divisors = [u for u in range(1, unit + 1) if unit % u == 0]
    assert manifest["valid_hit_units"] == [u for u in divisors if holds_at(result, u)]
    head = len(manifest["tokenizer"]["head"])
    assert (1 in manifest["valid_hit_units"]) == (head == head // unit * unit)


def test_crowded_nodes_lose_the_smallest_unit(tmp_path: Path) -> None:
    small = str(family_folder("llama3"))  # some 1,200 words are enough to crowd
    result = made(tmp_path, tokenizer=small, request_count=1500, input_length=20, target={"hit_ratio": 0})
    manifest = read_json(result.manifest)
    # BOS is token 0, the shared first word token 1: only from 4 on does a unit hold the second word too.
    assert manifest["valid_hit_units"] == [u for u in (1, 2, 4, 8, 16) if holds_at(result, u)] == [4, 8, 16]
    assert check_dataset(tmp_path)["intact"]


def test_more_requests_than_one_token_can_tell_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="leave their shared prefix at token") as caught:
        small = str(family_folder("llama3"))
        made(tmp_path, tokenizer=small, request_count=1500, input_length=9, block_size=1, target={"hit_ratio": 0.112})
    assert caught.value.field == "block_size"


@pytest.mark.parametrize("block", [1, 2, 5, 64])
@pytest.mark.parametrize("prompt", [{}, {"format": "chat"}, {"format": "chat", "system": "Be kind."}])
def test_regions_shorter_and_longer_than_a_block(block: int, prompt: dict[str, Any], tmp_path: Path) -> None:
    result = made(
        tmp_path,
        block_size=block,
        prompt=prompt,
        prefix={"group_count": 2, "minimum_non_shared_length": 1},
        input_length={"mode": "explicit", "values": [30, 31, 33, 47, 48, 49, 64, 65, 66, 127, 128, 129, 130, 300]},
        request_count=14,
        execution={"mode": "compare"},
        target={"hit_ratio": 0.2},
        validation={"on_failure": "accept_with_warning"},
    )
    found = check_dataset(tmp_path)
    assert found["intact"], found["checks"]
    manifest = read_json(result.manifest)
    head, tail = len(manifest["tokenizer"]["head"]), len(manifest["tokenizer"]["tail"])
    for row in read_jsonl(result.request_metadata):
        begin = max(row["planned_prefix_len"], head)
        assert row["divergence_len"] == min(block, row["input_len"] - begin - tail)
        assert begin + row["divergence_len"] + row["suffix_len"] + tail == row["input_len"]


def test_requests_shorter_than_the_template_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="shorter than") as caught:
        made(tmp_path, prompt={"format": "chat"}, input_length=9, target={"hit_ratio": 0})
    assert caught.value.field == "input_length"


def test_own_text_in_every_selection(tmp_path: Path) -> None:
    """Names, other scripts, code, odd punctuation and long digits; the text itself stays out of the manifest."""
    texts = [
        f"Secret{i} wrote: x = {{'a': [{i}, {i * 1234567}]}}; it's 'ok' — naïve façade №{i} 东京 👍🏽 (e.g. #{i})…\n"
        f'\tif a<b: return "yes"   # done {i}%'
        for i in range(120)
    ]
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(json.dumps({"text": text}) for text in texts))
    digests = set()
    choices: list[dict[str, Any]] = [
        {},
        {"selection": "index", "start_index": 5},
        {"selection": "content_hash"},
        {"selection": "fixed", "samples": [3, 1]},
        {"selection": "fixed_cycle", "samples": [2, 8, 9]},
        {"separator": "\n###\n"},
    ]
    for number, choice in enumerate(choices):
        result = made(tmp_path / str(number), suffix={"source": "text", "path": str(path), **choice}, prefix=GROUPS)
        assert result.report["audit"]["differing_prompts"] == 0
        assert check_dataset(result.root)["intact"]
        manifest = result.manifest.read_text() + result.request_metadata.read_text()
        assert "Secret" not in manifest
        assert read_json(result.manifest)["sources"][0]["samples_sha256"]
        digests.add(digest_of(result.root)["data.jsonl"])
        rows = list(read_jsonl(result.request_metadata))
        for row, data in zip(rows, read_jsonl(result.data), strict=True):
            assert all(texts[n] in data["prompt"] for n in row["sample_ids"][:-1])
    assert len(digests) == len(choices)


def test_sources_of_prefix_suffix_and_group_may_differ(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("\n\n".join(f"Zebra number {i} ran over the hill and home again before night." for i in range(300)))
    result = made(
        tmp_path / "set",
        suffix={"source": "random_tokens"},
        prefix={
            "source": {"source": "text", "path": str(path)},
            "groups": [{"id": "a", "request_weight": 1}, {"id": "b", "request_weight": 1, "source": {}}],
        },
        target={"hit_ratio": 0.4},
    )
    assert check_dataset(result.root)["intact"]
    rows = list(read_jsonl(result.request_metadata))
    prompts = [row["prompt"] for row in read_jsonl(result.data)]
    for row, prompt in zip(rows, prompts, strict=True):
        assert ("Zebra" in prompt) == (row["prefix_group_id"] == "a" and row["planned_prefix_len"] > 0)
    assert [entry["field"] for entry in read_json(result.manifest)["sources"]] == [
        "suffix",
        "prefix.groups[1].source",
        "prefix.source",
    ]


def test_gsm8k_that_is_too_small_says_so_in_both_languages(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text('{"question": "How many pens are there in all?", "answer": "There are seven pens."}\n')
    source = {"source": "gsm8k", "path": str(path)}
    short = r"GSM8K数据不足.* has \d+ tokens, too few for a stretch of \d+"
    with pytest.raises(EnvironmentFailure, match=short) as caught:
        made(tmp_path / "set", suffix=source)
    assert "allow_repeat" in str(caught.value.remedy)
    result = made(tmp_path / "again", suffix={**source, "allow_repeat": True})
    assert check_dataset(result.root)["intact"]
