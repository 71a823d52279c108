"""Datasets under the three matching semantics: exact and unique by construction."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from prefixcache.cache.matching.semantics import Matching
from prefixcache.dataset.check import check_dataset
from prefixcache.errors import InputError
from prefixcache.files import read_json, read_jsonl
from prefixcache.pipeline import DatasetGenerationResult
from prefixcache.stages import build_shards, tokenize_sources
from tests.cache.test_matching import slow_hits, slow_pieces
from tests.support.datasets import digest_of, made

SEMANTICS = ("chained_prefix", "independent_block", "content_defined_chunk")
WORDS = ("roof", "door", "wall", "floor")
THREE_GROUPS = {
    "groups": [{"id": "a", "request_weight": 5}, {"id": "b", "request_weight": 3}, {"id": "c", "request_weight": 2}]
}


@pytest.fixture(autouse=True)
def _small_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenize_sources, "FEWEST_SYNTHETIC", 500)


def rules(semantics: str, **more: Any) -> dict[str, Any]:
    return {"collision_detection": {"cache_match_semantics": semantics, **more}}


def matching_in(folder: Path) -> Matching:
    manifest = read_json(folder / "manifest.json")
    return Matching.of(manifest["collision_detection"], manifest["hit_unit"])


def prompts_in(folder: Path) -> tuple[list[tuple[list[int], int]], list[dict[str, Any]]]:
    rows = list(read_jsonl(folder / "request_metadata.jsonl"))
    ids = [row["prompt_token_ids"] for row in read_jsonl(folder / "data.jsonl")]
    return [(own, row["planned_dp_id"]) for own, row in zip(ids, rows, strict=True)], rows


def slow_cold_hits(folder: Path) -> list[int]:
    """Hits of the published token ids in the slow cache of the dataset's semantics."""
    prompts, _ = prompts_in(folder)
    matching = matching_in(folder)
    if not matching.chained:
        return slow_hits(prompts, matching)
    cached: set[tuple[int, tuple[int, ...]]] = set()
    hits = []
    for ids, domain in prompts:
        ends = range(matching.unit, len(ids) + 1, matching.unit)
        chain = [(domain, tuple(ids[:end])) for end in ends]
        run = 0
        while run < len(chain) and (run + 1) * matching.unit <= len(ids) - 1 and chain[run] in cached:
            run += 1
        hits.append(run * matching.unit)
        cached |= set(chain)
    return hits


@pytest.mark.parametrize("mode", ["progressive_prefix_fill", "warmup", "compare"])
@pytest.mark.parametrize("semantics", SEMANTICS)
def test_hits_are_those_planned_whatever_the_semantics(semantics: str, mode: str, tmp_path: Path) -> None:
    result = made(tmp_path, suffix=rules(semantics), execution={"mode": mode}, prefix=THREE_GROUPS, request_count=50)
    report = result.report
    assert result.status == "PASS"
    assert report["absolute_deviation"] <= 16 / (2 * report["input_tokens"])
    assert report["certificate"]["holds"]
    assert report["audit"]["differing_prompts"] == 0
    assert report["collisions"]["status"] == "unique"
    assert report["collisions"]["hits_from"] == "plan"
    found = check_dataset(tmp_path)
    assert found["intact"], found["checks"]
    if mode != "warmup":
        _, rows = prompts_in(tmp_path)
        column = "expected_hit_len_cold" if mode == "compare" else "expected_hit_len"
        assert [row[column] for row in rows] == slow_cold_hits(tmp_path)
    manifest = read_json(tmp_path / "manifest.json")
    assert manifest["collision_result"]["cache_match_semantics"] == semantics
    assert (manifest["valid_hit_units"] == [16]) == (semantics != "chained_prefix")


@pytest.mark.parametrize("semantics", SEMANTICS[1:])
def test_every_piece_outside_of_the_shared_region_is_unique(semantics: str, tmp_path: Path) -> None:
    """Said with plain tuples: of requests, warmup prompts and masters, in all domains together."""
    made(
        tmp_path,
        suffix=rules(semantics),
        prefix=THREE_GROUPS,
        request_count=60,
        execution={"mode": "compare"},
        routing={"cache_scope": "dp_local", "dp_size": 2},
    )
    matching = matching_in(tmp_path)
    prompts, rows = prompts_in(tmp_path)
    warm = list(read_jsonl(tmp_path / "warmup.jsonl"))
    everything = [(ids, row) for (ids, _), row in zip(prompts, rows, strict=True)]
    everything += [(row["prompt_token_ids"], row) for row in warm]
    seen: set[tuple[int, ...]] = set()
    masters: dict[str, list[int]] = {}
    for ids, row in everything:
        own = [piece for piece, end in slow_pieces(ids, matching) if end > row["planned_prefix_len"]]
        assert len(set(own)) == len(own)
        assert not seen & set(own)
        seen |= set(own)
        group = row["prefix_group_id"]
        masters[group] = max(masters.get(group, []), ids[: row["planned_prefix_len"]], key=len)
    for ids in masters.values():
        pieces = slow_pieces(ids, matching)
        assert sum(len(piece) for piece, _ in pieces) == len(ids)  # a piece ends where the longest prefix does
        own = [piece for piece, _ in pieces]
        assert len(set(own)) == len(own)
        assert not seen & set(own)
        seen |= set(own)


@pytest.mark.parametrize(
    "changes",
    [
        {"block_size": 8},
        {"block_size": 64, "input_length": {"mode": "uniform", "min": 100, "max": 900}},
        {"block_size": 16, "hit_unit": 64, "input_length": 700},
        {"prefix": {"minimum_non_shared_length": 1}, "input_length": {"mode": "uniform", "min": 20, "max": 90}},
        {"input_length": {"mode": "explicit", "values": [1, 2, 15, 16, 17, 33, 600, 600]}, "request_count": 8},
    ],
    ids=["small blocks", "large blocks", "unit of four blocks", "hardly anything unshared", "very short"],
)
@pytest.mark.parametrize("semantics", SEMANTICS[1:])
def test_block_sizes_and_lengths(semantics: str, changes: dict[str, Any], tmp_path: Path) -> None:
    result = made(tmp_path, suffix=rules(semantics), **{"target": {"hit_ratio": 0.3}, **changes})
    assert result.report["certificate"]["holds"]
    assert [row["expected_hit_len"] for row in prompts_in(tmp_path)[1]] == slow_cold_hits(tmp_path)
    assert check_dataset(tmp_path)["intact"]


@pytest.mark.parametrize(
    "chunk",
    [
        {"min": 64, "mean": 64, "max": 64},
        {"min": 16, "mean": 24, "max": 64, "window": 4},
        {"min": 32, "mean": 200, "max": 500},
        {"min": 40, "mean": 60, "max": 90, "window": 40},
        {"min": 17, "mean": 20, "max": 64, "window": 1},
        {"min": 33, "mean": 35, "max": 64, "window": 3},
        {"min": 16, "mean": 16, "max": 16},
        {"min": 64, "mean": 5000, "max": 9000},
    ],
)
def test_chunk_parameters(chunk: dict[str, int], tmp_path: Path) -> None:
    """A chunk ends at every planned prefix, whatever the chunker."""
    result = made(
        tmp_path,
        suffix=rules("content_defined_chunk", chunk=chunk),
        block_size=64,
        input_length={"mode": "uniform", "min": 300, "max": 900},
        request_count=25,
    )
    assert result.status == "PASS"
    assert [row["expected_hit_len"] for row in prompts_in(tmp_path)[1]] == slow_cold_hits(tmp_path)
    assert check_dataset(tmp_path)["intact"]


@pytest.mark.parametrize("semantics", SEMANTICS[1:])
@pytest.mark.parametrize("form", ["completion", "chat"])
def test_a_real_tokenizer_and_source(semantics: str, form: str, tmp_path: Path, qwen: Path, gsm8k: Path) -> None:
    result = made(
        tmp_path,
        tokenizer=str(qwen),
        block_size=64,
        input_length={"mode": "uniform", "min": 300, "max": 900},
        suffix={"source": "gsm8k", "path": str(gsm8k), **rules(semantics)},
        prompt={"format": form},
        request_count=20,
    )
    assert result.status == "PASS"
    assert result.report["audit"]["differing_prompts"] == 0
    assert check_dataset(tmp_path)["intact"]


@pytest.mark.parametrize("semantics", SEMANTICS[1:])
def test_token_ids_without_text(semantics: str, tmp_path: Path) -> None:
    made(tmp_path, suffix={"source": "random_tokens", **rules(semantics)}, prompt={"form": "ids"})
    assert [row["expected_hit_len"] for row in prompts_in(tmp_path)[1]] == slow_cold_hits(tmp_path)
    assert check_dataset(tmp_path)["intact"]


@pytest.mark.parametrize("semantics", SEMANTICS[1:])
def test_same_content_however_it_is_cut_into_shards(
    semantics: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "one", suffix=rules(semantics))
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", 1000)
    made(tmp_path / "many", suffix=rules(semantics))
    assert len(list((tmp_path / "many" / "shards").iterdir())) > 4
    one, many = digest_of(tmp_path / "one"), digest_of(tmp_path / "many")
    for name in ("data.jsonl", "request_metadata.jsonl"):
        assert one[name] == many[name]


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"block_size": 1, "suffix": rules("independent_block")}, "hit_unit", "2 or more"),
        ({"suffix": rules("content_defined_chunk", chunk={"min": 17})}, "suffix.collision_detection.chunk.min", "17"),
        ({"suffix": rules("content_defined_chunk", chunk={"max": 20})}, "suffix.collision_detection.chunk.mean", "32"),
        (
            {"suffix": rules("content_defined_chunk", chunk={"min": 9, "max": 15, "mean": 9})},
            "suffix.collision_detection.chunk",
            "multiple of chunk.min",
        ),
        (
            {"suffix": rules("content_defined_chunk", chunk={"window": 17})},
            "suffix.collision_detection.chunk.window",
            "17",
        ),
        ({"suffix": rules("independent_block", chunk={})}, "suffix.collision_detection.chunk", "independent_block"),
        (
            {"suffix": rules("content_defined_chunk"), "execution": {"mode": "replay"}, "target": None},
            "execution.mode",
            "whole chunks",
        ),
    ],
)
def test_what_cannot_be_built_is_said_first(changes: dict[str, Any], field: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words) as caught:
        made(tmp_path, **changes)
    assert caught.value.field == field
    assert not (tmp_path / "manifest.json").exists()


def test_check_finds_a_copied_block(tmp_path: Path) -> None:
    """Chained hashes do not mind it, independent blocks do."""
    for semantics, found in (("chained_prefix", True), ("independent_block", False)):
        folder = tmp_path / semantics
        made(folder, suffix=rules(semantics), input_length=400, request_count=6)
        rows = list(read_jsonl(folder / "data.jsonl"))
        rows[4]["prompt_token_ids"][-16:] = rows[5]["prompt_token_ids"][-16:]
        (folder / "data.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
        checks = {check["name"]: check["ok"] for check in check_dataset(folder)["checks"]}
        assert checks["collisions"] is found
        shutil.rmtree(folder)


def test_repeated_text_is_reported_and_never_refused(tmp_path: Path) -> None:
    """A source of one sample: whole windows repeat from request to request."""
    source = tmp_path / "train.jsonl"
    source.write_bytes(
        orjson.dumps({"question": "Anna has three apples and buys two. " * 60, "answer": "five"}) + b"\n"
    )
    result: DatasetGenerationResult = made(
        tmp_path / "out",
        input_length=200,
        suffix={"source": "gsm8k", "path": str(source), "allow_repeat": True},
    )
    assert result.status == "PASS"
    windows = result.report["collisions"]["windows"]
    assert windows["repeated_windows"] > 0
    assert windows["requests_with_repeats"] > 10
    assert windows["share_of_requests"] == windows["requests_with_repeats"] / 40
    assert windows["most_repeated"][0]["count"] >= windows["most_repeated"][-1]["count"] > 1


@pytest.mark.parametrize(
    ("semantics", "changes"),
    [("independent_block", {"block_size": 2}), ("content_defined_chunk", {"block_size": 2})],
)
def test_blocks_too_short_for_markers_are_refused_at_planning(
    semantics: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    """Before any source is read."""
    with pytest.raises(InputError, match="needs a marker of") as caught:
        made(tmp_path, suffix=rules(semantics), **changes)
    assert caught.value.stage == "plan_prefixes"
    assert not (tmp_path / ".work" / "corpus").exists()
