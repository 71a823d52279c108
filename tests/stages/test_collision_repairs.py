"""Collisions repaired, in the order of the RFC, or owned up to where that fails.

They are impossible by construction, so these tests break the construction: equal keys for a few requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from prefixcache.artifact import Artifact
from prefixcache.content import assembly
from prefixcache.content.collisions.markers import Markers
from prefixcache.content.collisions.repair import APART
from prefixcache.content.divergence import Alphabet
from prefixcache.content.keys import ContentKeys
from prefixcache.dataset.check import check_dataset
from prefixcache.dataset.content_check import status_with_collisions
from prefixcache.errors import VerdictError
from prefixcache.files import read_json, read_jsonl
from prefixcache.pipeline import generate_prefix_cache_dataset
from prefixcache.stages import build_masters, build_shards, tokenize_sources
from prefixcache.stages.job import Job
from prefixcache.stages.stage import InProcess, Stage
from tests.stages.test_collisions import SEMANTICS, THREE_GROUPS, WORDS, prompts_in, rules, slow_cold_hits
from tests.support.datasets import config_of, made


@pytest.fixture(autouse=True)
def _small_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenize_sources, "FEWEST_SYNTHETIC", 500)


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
