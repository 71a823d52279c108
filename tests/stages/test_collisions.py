"""Datasets under the three matching semantics: exact and unique by construction, repaired or owned up to where not."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from prefixcache.artifact import Artifact
from prefixcache.cache.matching.semantics import Matching
from prefixcache.content import assembly
from prefixcache.content.collisions.markers import Markers
from prefixcache.content.collisions.repair import APART
from prefixcache.content.divergence import Alphabet
from prefixcache.content.keys import ContentKeys
from prefixcache.dataset.check import check_dataset
from prefixcache.dataset.content_check import status_with_collisions
from prefixcache.errors import InputError, VerdictError
from prefixcache.files import read_json, read_jsonl
from prefixcache.pipeline import DatasetGenerationResult, generate_prefix_cache_dataset
from prefixcache.stages import build_masters, build_shards, tokenize_sources
from prefixcache.stages.job import Job
from prefixcache.stages.stage import InProcess, Stage
from tests.cache.test_matching import slow_hits, slow_pieces
from tests.support.datasets import config_of, digest_of, made

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


# Collisions are impossible by construction, so the tests below break the construction: equal keys for a few requests.

ALL_AT_ONE_NODE: dict[str, Any] = {
    "request_count": 30,
    "input_length": 200,
    "execution": {"mode": "warmup"},
    "target": {"hit_ratio": 0.32},
}
EQUAL = (3, 7, 9)


def collide(monkeypatch: pytest.MonkeyPatch, upto: int, equal: Sequence[int] = EQUAL) -> None:
    """These requests get equal words and samples until they have been repaired ``upto`` times."""
    real_keys, real_words = ContentKeys.requests, assembly.first_words

    def requests(self: ContentKeys, groups: Any, indices: Any, retry: Any = 0) -> Any:
        keys = np.array(real_keys(self, groups, indices, retry))
        keys[np.isin(indices, equal) & (np.broadcast_to(retry, keys.shape) // APART < upto)] = 42
        return keys

    def first_words(*arguments: Any) -> Any:
        first, second = real_words(*arguments)
        return np.full_like(first, 5), second

    monkeypatch.setattr(ContentKeys, "requests", requests)
    monkeypatch.setattr(assembly, "first_words", first_words)


class Recording(InProcess):
    """Remembers which shards were built how often."""

    def __init__(self) -> None:
        super().__init__(1)
        self.built: list[list[str]] = []

    def map(self, stage: Stage, root: Path, job: Job, inputs: Sequence[tuple[Any, ...]]) -> list[Artifact]:
        if stage.name == "build_shards":
            self.built.append([values[0] for values in inputs])
        return super().map(stage, root, job, inputs)


def statuses(folder: Path) -> dict[str, tuple[str, int, str | None]]:
    """Of the requests to which something happened."""
    return {
        row["request_id"]: (row["collision_status"], row["collision_retries"], row["collision_repair"])
        for row in read_jsonl(folder / "request_metadata.jsonl")
        if row["collision_status"] != "unique_by_construction" or row["collision_retries"]
    }


def test_a_new_divergence_block_repairs_first_and_only_in_its_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collide(monkeypatch, upto=1)
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", 800)  # 4 requests a shard
    runner = Recording()
    result = generate_prefix_cache_dataset(config_of(**ALL_AT_ONE_NODE), tmp_path, runner)
    assert result.status == "PASS"
    repaired = ("repaired", 1, "new_divergence")
    assert statuses(tmp_path) == {"small-07": repaired, "small-09": repaired}
    assert runner.built[1:] == [["00001", "00002"]]
    found = result.report["collisions"]
    assert (found["status"], found["repaired_requests"], found["retries"]) == ("repaired", 2, 2)
    assert found["repairs"] == {"new_divergence": 2, "other_samples": 0, "request_mark": 0}
    assert read_json(result.manifest)["collision_result"] == found
    assert check_dataset(tmp_path)["intact"]
    assert result.report["audit"]["differing_prompts"] == 0


def test_other_samples_come_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first non-shared unit is four blocks, so that it holds words of the samples."""
    collide(monkeypatch, upto=2)
    result = made(tmp_path, **{**ALL_AT_ONE_NODE, "hit_unit": 64})
    assert result.status == "PASS"
    assert set(statuses(tmp_path).values()) == {("repaired", 2, "other_samples")}
    assert check_dataset(tmp_path)["intact"]


def test_a_request_mark_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collide(monkeypatch, upto=99)
    result = made(tmp_path, **ALL_AT_ONE_NODE)
    assert result.status == "PASS"
    assert statuses(tmp_path) == {
        "small-07": ("repaired", 3, "request_mark"),
        "small-09": ("repaired", 3, "request_mark"),
    }
    prompts = {row["request_id"]: row["prompt"] for row in read_jsonl(result.data)}
    assert " case two two\n\n" in prompts["small-07"]  # 7 in the digits that this tokenizer keeps apart
    assert result.report["audit"]["differing_prompts"] == 0
    assert check_dataset(tmp_path)["intact"]


def test_with_fewer_retries_the_mark_is_not_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collide(monkeypatch, upto=99)
    with pytest.raises(
        VerdictError, match="2 requests share blocks that must be unique, after up to 2 retries"
    ) as caught:
        made(tmp_path, **ALL_AT_ONE_NODE, suffix={"collision_detection": {"max_retries": 2}})
    error = caught.value
    assert error.field == "suffix.collision_detection.on_collision"
    assert (error.stage, error.dataset_id, error.request_id) == ("check_collisions", "small", "small-07")
    assert [path.name for path in tmp_path.iterdir()] == ["validation_report.json"]
    report = read_json(tmp_path / "validation_report.json")
    assert report["validation_status"] == "FAIL"
    assert report["collisions"]["unresolved_requests"] == 2
    assert report["collisions"]["requests"] == ["small-07", "small-09"]


MANY_AT_ONE_NODE = {**ALL_AT_ONE_NODE, "request_count": 90}
COLD = {**MANY_AT_ONE_NODE, "execution": {"mode": "progressive_prefix_fill"}}


@pytest.mark.parametrize("policy", ["warn", "accept_with_warning"])
@pytest.mark.parametrize(
    "changes",
    [MANY_AT_ONE_NODE, COLD, {**COLD, "prefix": THREE_GROUPS, "request_count": 300}],
    ids=["hot", "cold", "3"],
)
def test_accepted_collisions_take_the_hits_of_the_simulator(
    policy: str, changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collide(monkeypatch, upto=99, equal=range(12) if "prefix" in changes else EQUAL)
    result = made(tmp_path, **changes, suffix={"collision_detection": {"max_retries": 1, "on_collision": policy}})
    report = result.report
    rows = list(read_jsonl(result.request_metadata))
    hits = [row["expected_hit_len"] for row in rows]
    assert result.status == "PASS_WITH_WARNING"
    assert report["collisions"]["hits_from"] == "simulator"
    assert "share blocks that must be unique" in report["reason"]
    assert report["certificate"]["holds"]
    assert report["expected_hit_tokens"] == sum(hits) > report["planned_hit_tokens"]
    assert report["designed_hit_ratio"] == sum(hits) / report["input_tokens"]
    assert report["passes"][0]["expected_hit_tokens"] == sum(hits)
    assert sum(group["expected_hit_tokens"] for group in report["groups"]) == sum(hits)
    assert all(row["expected_hit_ratio"] == row["expected_hit_len"] / row["input_len"] for row in rows)
    if changes is not MANY_AT_ONE_NODE:
        assert hits == slow_cold_hits(tmp_path)
    assert set(statuses(tmp_path).values()) == {("unresolved", 1, "new_divergence")}
    manifest = read_json(result.manifest)
    assert manifest["theoretical_result"]["validation_status"] == "PASS_WITH_WARNING"
    found = check_dataset(tmp_path)
    assert found["intact"], found["checks"]
    assert found["validation_status"] == "PASS_WITH_WARNING"


def test_only_touched_shards_are_built_again_for_the_new_hits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collide(monkeypatch, upto=99)
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", 800)
    runner = Recording()
    rules_ = {"collision_detection": {"max_retries": 0, "on_collision": "warn"}}
    generate_prefix_cache_dataset(config_of(**ALL_AT_ONE_NODE, suffix=rules_), tmp_path, runner)
    assert runner.built[1:] == [["00001", "00002"]]
    assert set(statuses(tmp_path)) == {"small-07", "small-09"}
    assert check_dataset(tmp_path)["intact"]


def test_statuses_of_accepted_collisions() -> None:
    for policy in ("warn", "accept_with_warning"):
        assert status_with_collisions("PASS", True, policy) == "PASS_WITH_WARNING"
        assert status_with_collisions("PASS_WITH_WARNING", True, policy) == "PASS_WITH_WARNING"
    assert status_with_collisions("FAIL", True, "warn") == "FAIL"
    assert status_with_collisions("FAIL", True, "accept_with_warning") == "PASS_WITH_WARNING"
    assert status_with_collisions("FAIL", False, "accept_with_warning") == "FAIL"


@pytest.mark.parametrize("semantics", SEMANTICS[1:])
def test_equal_markers_are_found_and_replaced(semantics: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two requests with one text: every block of the second is the first one's."""
    collide(monkeypatch, upto=1)
    real = Markers.of

    def of(self: Markers, owner: int, count: int) -> Any:
        equal = [self.owners.of_prompt(index, 0) for index in EQUAL]
        return real(self, equal[0] if owner in equal else owner, count)

    monkeypatch.setattr(Markers, "of", of)
    result = made(tmp_path, **ALL_AT_ONE_NODE, suffix=rules(semantics))
    assert result.status == "PASS"
    assert set(statuses(tmp_path).values()) == {("repaired", 1, "new_divergence")}
    assert len(statuses(tmp_path)) == 2
    assert check_dataset(tmp_path)["intact"]
    accepted = made(
        tmp_path / "accepted", **ALL_AT_ONE_NODE, suffix=rules(semantics, max_retries=0, on_collision="warn")
    )
    assert accepted.status == "FAIL"  # three equal prompts of 30: far more hits than 2 pp
    extra = accepted.report["expected_hit_tokens"] - accepted.report["planned_hit_tokens"]
    assert extra > 2 * 100
    assert check_dataset(tmp_path / "accepted")["intact"]


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_equal_masters_of_two_groups_are_found(semantics: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups b and c get the text of group a."""

    def same_master(name: str) -> None:
        real, first = getattr(build_masters, name), []

        def build(*arguments: Any, **named: Any) -> Any:
            first.append((arguments, named))
            longest = max(int(cut) for a, _ in first for v in a if isinstance(v, np.ndarray) for cut in v[-1:])
            group = [*first[0][0]]
            at = next(i for i, value in enumerate(group) if isinstance(value, np.ndarray))
            group[at] = np.arange(16, max(longest, 400) + 1, 16)
            return real(*group, **first[0][1])

        monkeypatch.setattr(build_masters, name, build)

    same_master("build_master" if semantics == "chained_prefix" else "marked_master")
    with pytest.raises(VerdictError, match=r"the master prefixes of 2 groups \(b, c\)"):
        made(tmp_path, prefix=THREE_GROUPS, suffix=rules(semantics))
    report = read_json(tmp_path / "validation_report.json")
    assert report["collisions"]["cross_group_masters"]["longest_common_prefix_tokens"] >= 16
    result = made(tmp_path, prefix=THREE_GROUPS, suffix=rules(semantics, on_collision="accept_with_warning"))
    assert result.status == "PASS_WITH_WARNING"
    assert [row["expected_hit_len"] for row in prompts_in(tmp_path)[1]] == slow_cold_hits(tmp_path)


def test_a_master_that_collides_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without words of their own two groups open with the same sample of a source that has few."""
    source = tmp_path / "train.jsonl"
    texts = [f"The {word} of the house is large and old, and nobody knows its age. " * 30 for word in WORDS]
    source.write_bytes(b"".join(orjson.dumps({"question": text, "answer": "yes"}) + b"\n" for text in texts))
    real = Alphabet.of

    def one_word(*arguments: Any) -> Alphabet:
        made = real(*arguments)
        return replace(made, masters=np.full_like(made.masters, made.masters[0]))

    monkeypatch.setattr("prefixcache.stages.build_masters.Alphabet.of", one_word)
    tried: list[dict[int, int]] = []
    build = build_masters.BUILD_MASTERS.run

    def counted(root: Path, job: Any, plan: Any, corpus: Any, attempts: Any = ()) -> Any:
        tried.append(dict(attempts))
        return build(root, job, plan, corpus, attempts)

    stage = replace(build_masters.BUILD_MASTERS, run=counted)
    monkeypatch.setattr("prefixcache.pipeline.BUILD_MASTERS", stage)
    monkeypatch.setattr("prefixcache.stages.repair.BUILD_MASTERS", stage)
    kept: dict[str, Any] = {"source": "gsm8k", "path": str(source), "allow_repeat": True}
    most: list[int] = []
    for seed in range(8):
        tried.clear()
        result = made(
            tmp_path / str(seed), seed=seed, prefix={"group_count": 2}, suffix={**kept, **rules("chained_prefix")}
        )
        assert result.status == "PASS"
        assert result.report["collisions"]["cross_group_masters"]["colliding_groups"] == []
        assert check_dataset(tmp_path / str(seed))["intact"]
        assert [sum(attempts.values()) for attempts in tried] == list(range(len(tried)))
        most.append(len(tried))
    assert 1 in most
    assert max(most) > 1


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
