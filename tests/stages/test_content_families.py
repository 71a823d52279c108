"""Datasets with the tokenizer families that servers use: every prompt is encoded again, none may differ."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prefixcache.dataset.check import check_dataset
from prefixcache.errors import InputError
from prefixcache.files import read_json, read_jsonl
from prefixcache.pipeline import DatasetGenerationResult
from tests.support.datasets import made
from tests.support.families import family_folder
from tests.support.tokenizers import mistral_folder, tekken_folder

BY_SEAMS = ["llama3", "tekken", "roberta", "llama2", "metaspace", "t5", "bert"]
CHAT = ["llama3", "tekken", "llama2", "metaspace"]
GROUPS = {"group_count": 2}


def proven(result: DatasetGenerationResult) -> dict[str, Any]:
    """The manifest of a dataset that was proven twice: while it was made, and from its files alone."""
    report = result.report
    assert result.status == "PASS"
    assert report["certificate"]["holds"]
    assert report["audit"]["differing_prompts"] == 0
    found = check_dataset(result.root)
    assert found["intact"], found["checks"]
    manifest: dict[str, Any] = read_json(result.manifest)
    return manifest


@pytest.mark.parametrize("family", BY_SEAMS)
def test_prompts_of_every_family_encode_to_their_ids(family: str, tmp_path: Path) -> None:
    result = made(
        tmp_path,
        tokenizer=str(family_folder(family)),
        request_count=200,
        input_length={"mode": "uniform", "min": 40, "max": 300},
        prefix=GROUPS,
        target={"hit_ratio": 0.4},
    )
    manifest = proven(result)
    assert result.report["audit"]["prompts"] == 200
    assert manifest["prompt"]["construction"] == "seams"
    assert manifest["prompt"]["form"] == "text"


@pytest.mark.parametrize("folder", [mistral_folder, tekken_folder])
def test_prompts_of_mistrals_own_files(folder: Callable[[], Path], tmp_path: Path) -> None:
    result = made(
        tmp_path,
        tokenizer=str(folder()),
        request_count=200,
        input_length={"mode": "uniform", "min": 40, "max": 300},
        prefix=GROUPS,
        target={"hit_ratio": 0.4},
    )
    manifest = proven(result)
    assert manifest["prompt"]["construction"] == "seams"
    assert result.report["audit"]["prompts"] == 200


@pytest.mark.parametrize("family", ["embedded", *CHAT])
def test_chat_prompts_encode_through_the_template(family: str, tmp_path: Path) -> None:
    """Head and tail of the template and a common system text are a part of every length; text is the user's."""
    result = made(
        tmp_path,
        tokenizer="embedded" if family == "embedded" else str(family_folder(family)),
        prompt={"format": "chat", "system": "You are a careful helper who counts in steps."},
        request_count=200,
        input_length={"mode": "uniform", "min": 90, "max": 300},
        block_size=8,
        prefix=GROUPS,
        execution={"mode": "compare"},
        target={"hit_ratio": 0.4},
    )
    manifest = proven(result)
    assert result.report["audit"]["prompts"] == 202
    head, tail = manifest["tokenizer"]["head"], manifest["tokenizer"]["tail"]
    assert len(head) > 8
    assert "careful helper" in manifest["prompt"]["head_text"]
    for row in read_jsonl(result.data):
        ids = row["prompt_token_ids"]
        assert ids[: len(head)] == head
        assert ids[len(ids) - len(tail) :] == tail
        assert "careful helper" not in row["prompt"]
        assert row["messages"][-1] == {"role": "user", "content": row["prompt"]}
        assert row["messages"][0]["role"] == "system"


def test_a_common_system_text_of_completions_is_a_part_of_the_head(tmp_path: Path) -> None:
    text = "Answer the question in a few short steps and say why each of them is right. Keep the units."
    result = made(tmp_path, prompt={"system": text}, request_count=60, block_size=4, prefix=GROUPS)
    manifest = proven(result)
    assert len(manifest["tokenizer"]["head"]) > 15
    assert all(row["prompt"].startswith(text + " ") for row in read_jsonl(result.data))
    # Nearly all of what the second group's first request hits is the head.
    rows = list(read_jsonl(result.request_metadata))
    first_of_second = next(row for row in rows if row["prefix_group_id"] == "group_1")
    assert first_of_second["expected_hit_len"] >= 12


def test_a_template_that_cannot_take_a_system_text_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no chat template"):
        made(tmp_path, tokenizer=str(family_folder("bert")), prompt={"format": "chat"})


def test_where_seams_do_not_hold_prompts_are_mended_one_by_one(tmp_path: Path) -> None:
    """A normaliser that looks ahead makes the token at a cut depend on what follows it."""
    result = made(
        tmp_path,
        tokenizer=str(family_folder("lookahead")),
        request_count=200,
        input_length={"mode": "uniform", "min": 40, "max": 200},
        prefix=GROUPS,
        target={"hit_ratio": 0.4},
    )
    manifest = proven(result)
    assert manifest["prompt"]["construction"] == "verified_repair"
    assert result.report["audit"]["prompts"] == 200


@pytest.mark.parametrize("family", ["superwords", "characters"])
def test_where_no_words_stay_apart_prompts_are_token_ids_only(family: str, tmp_path: Path) -> None:
    folder = str(family_folder(family))
    result = made(tmp_path, tokenizer=folder, request_count=60, prefix=GROUPS, target={"hit_ratio": 0.4})
    manifest = proven(result)
    assert manifest["prompt"]["form"] == "ids"
    assert manifest["prompt"]["construction"] == "token_ids"
    assert all(row["prompt"] is None for row in read_jsonl(result.data))
    assert any("token ids only" in text for text in result.report["warnings"])
    with pytest.raises(InputError, match="keeps only") as caught:
        made(tmp_path, tokenizer=folder, prompt={"form": "text"})
    assert caught.value.field == "prompt.form"


def test_ids_can_be_asked_for(tmp_path: Path) -> None:
    result = made(tmp_path, prompt={"form": "ids"}, request_count=60)
    manifest = proven(result)
    assert manifest["prompt"]["form"] == "ids"
    assert manifest["valid_hit_units"] == [1, 2, 4, 8, 16]
