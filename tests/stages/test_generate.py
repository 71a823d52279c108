"""Datasets made for real: exact, proven, the same bytes whoever builds them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prefixcache.artifact import Artifact
from prefixcache.dataset.check import check_dataset
from prefixcache.errors import EnvironmentFailure, InputError, VerdictError
from prefixcache.files import read_json, read_jsonl
from prefixcache.pipeline import STAGES, generate_prefix_cache_dataset
from prefixcache.stages import build_shards
from prefixcache.stages.progress import Meter, Progress, observing
from prefixcache.stages.stage import InProcess
from prefixcache.stages.workspace import exclusive
from tests.support.datasets import config_of, digest_of, made

MANY = {
    "groups": [{"id": "a", "request_weight": 5}, {"id": "b", "request_weight": 3}, {"id": "c", "request_weight": 2}]
}
ONE_DOMAIN: dict[str, Any] = {}
TWO_DOMAINS = {"cache_scope": "dp_local", "dp_size": 2}


@pytest.mark.parametrize("target", [0.5, 0.6, 0.9])
@pytest.mark.parametrize("length", [512, {"mode": "uniform", "min": 256, "max": 768}], ids=["fixed", "variable"])
@pytest.mark.parametrize("prefix", [{}, MANY], ids=["one", "many"])
@pytest.mark.parametrize("mode", ["progressive_prefix_fill", "warmup", "compare"])
def test_table_of_targets(target: float, length: Any, prefix: dict[str, Any], mode: str, tmp_path: Path) -> None:
    """50/60/90 % x fixed/variable x one/many groups x cold/warm/both: exact to half a unit and proven."""
    result = made(
        tmp_path,
        request_count=120,
        input_length=length,
        target={"hit_ratio": target},
        prefix=prefix,
        execution={"mode": mode},
    )
    report = result.report
    assert result.status == "PASS"
    assert report["absolute_deviation"] <= 16 / (2 * report["input_tokens"])
    assert report["certificate"]["holds"]
    assert report["audit"]["differing_prompts"] == 0
    assert report["audit"]["tokens"] >= report["input_tokens"]
    found = check_dataset(tmp_path)
    assert found["intact"], found["checks"]
    assert found["expected_hit_tokens"] == report["expected_hit_tokens"]


@pytest.mark.parametrize("policy", ["bound", "sticky", "round_robin", "group_round_robin"])
@pytest.mark.parametrize("order", ["interleave", "grouped", "weighted_interleave", "shuffle", "input_len_desc"])
def test_domains_and_orders(policy: str, order: str, tmp_path: Path) -> None:
    result = made(
        tmp_path,
        request_count=60,
        prefix=MANY,
        request_order=order,
        routing={**TWO_DOMAINS, "policy": policy},
        execution={"mode": "compare"},
        target={"hit_ratio": 0.4},
    )
    assert result.status == "PASS"
    assert check_dataset(tmp_path)["intact"]
    rows = list(read_jsonl(result.request_metadata))
    assert {row["planned_dp_id"] for row in rows} == {0, 1}
    assert all(row["planned_route"] == row["planned_dp_id"] for row in rows)
    assert len(list(read_jsonl(tmp_path / "warmup.jsonl"))) == len(
        {(row["planned_dp_id"], row["prefix_group_id"]) for row in rows if row["planned_prefix_len"]}
    )


@pytest.mark.parametrize("block", [1, 2, 7, 16, 64, 100])
def test_block_sizes(block: int, tmp_path: Path) -> None:
    result = made(
        tmp_path, block_size=block, request_count=30, execution={"mode": "compare"}, target={"hit_ratio": 0.2}
    )
    assert result.status in ("PASS", "PASS_WITH_WARNING")
    assert check_dataset(tmp_path)["intact"]


def test_hit_unit_larger_than_the_block(tmp_path: Path) -> None:
    result = made(tmp_path, block_size=16, hit_unit=64, input_length=1000)
    rows = list(read_jsonl(result.request_metadata))
    assert all(row["planned_prefix_len"] % 64 == 0 for row in rows)
    assert {row["divergence_len"] for row in rows} == {16}
    assert check_dataset(tmp_path)["intact"]


def test_requests_too_short_to_share_anything(tmp_path: Path) -> None:
    result = made(
        tmp_path,
        request_count=9,
        input_length={"mode": "explicit", "values": [1, 2, 5, 15, 16, 17, 600, 600, 600]},
        target={"hit_ratio": 0.4},
    )
    assert result.report["cannot_share"] == 6
    assert check_dataset(tmp_path)["intact"]


def test_more_siblings_than_words_need_a_second_word(tmp_path: Path) -> None:
    """All requests leave their master at one node, and there are more of them than the tokenizer has SAFE words."""
    result = made(
        tmp_path, request_count=6000, input_length=40, execution={"mode": "warmup"}, target={"hit_ratio": 0.4}
    )
    assert result.status == "PASS"
    assert result.report["certificate"]["holds"]
    assert not result.report["collisions"]["first_non_shared_block_duplicates"]


BUILD = """
import sys
from pathlib import Path
from tests.support.datasets import made
from tests.stages.test_generate import MANY
from prefixcache.stages import build_shards
if __name__ == "__main__":
    made(Path(sys.argv[1]), int(sys.argv[2]), prefix=MANY, request_count=200, execution={"mode": "compare"})
"""


@pytest.mark.parametrize(("workers", "hash_seed"), [(1, "0"), (2, "1"), (4, "12345")])
def test_same_bytes_whoever_builds(
    workers: int, hash_seed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other worker counts, hash seeds and folders; several shards."""
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", 10_000)
    reference = tmp_path / "here"
    made(reference, 1, prefix=MANY, request_count=200, execution={"mode": "compare"})
    script = tmp_path / "build.py"
    script.write_text(BUILD.replace("if __name__", "build_shards.SHARD_TOKENS = 10_000\nif __name__"))
    other = tmp_path / "a folder with ünïcode"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(Path.cwd())}
    subprocess.run([sys.executable, str(script), str(other), str(workers)], check=True, env=environment)
    assert len(list((reference / "shards").glob("requests-*.parquet"))) > 3
    assert digest_of(reference) == digest_of(other)


def test_nothing_of_this_machine_is_in_a_dataset(tmp_path: Path, qwen: Path, gsm8k: Path) -> None:
    made(
        tmp_path,
        tokenizer=str(qwen),
        suffix={"source": "gsm8k", "path": str(gsm8k)},
        request_count=5,
    )
    for name in ("manifest.json", "validation_report.json", "request_metadata.jsonl"):
        text = (tmp_path / name).read_text()
        for secret in (str(tmp_path), str(qwen), str(gsm8k), os.uname().nodename):
            assert secret not in text, (name, secret)
    manifest = read_json(tmp_path / "manifest.json")
    assert manifest["config"]["suffix"]["path"]["name"] == "train.jsonl"
    assert len(manifest["config"]["suffix"]["path"]["sha256"]) == 64


def test_another_dataset_id_or_seed_or_target_has_other_content(tmp_path: Path) -> None:
    def prompts(name: str, **changes: Any) -> list[str]:
        result = made(tmp_path / name, request_count=10, **changes)
        return [row["prompt"] for row in read_jsonl(result.data)]

    base = prompts("base")
    for name, changes in {
        "id": {"dataset_id": "other"},
        "seed": {"seed": 4},
        "target": {"target": {"hit_ratio": 0.4}},
    }.items():
        assert not set(base) & set(prompts(name, **changes)), name


def test_targets_of_one_config_are_paired(tmp_path: Path) -> None:
    """RFC 3.2.4: 50/60/80 % sets of one configuration have the same lengths and groups."""

    def shape(ratio: float) -> list[tuple[str, int, str]]:
        result = made(tmp_path / str(ratio), prefix=MANY, target={"hit_ratio": ratio}, request_count=150)
        rows = read_jsonl(result.request_metadata)
        return [(row["request_id"], row["input_len"], row["prefix_group_id"]) for row in rows]

    assert shape(0.5) == shape(0.6) == shape(0.8)


def test_an_unreachable_target_leaves_only_the_report(tmp_path: Path) -> None:
    """In a folder of its own; what becomes of an earlier dataset there is test_output_folder's subject."""
    with pytest.raises(VerdictError, match="at most") as caught:
        made(tmp_path, target={"hit_ratio": 0.99})
    assert caught.value.field == "target.hit_ratio"
    left = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert left == {"validation_report.json"}
    assert not list((tmp_path / "shards").glob("*.parquet"))
    report = read_json(tmp_path / "validation_report.json")
    assert report["validation_status"] == "FAIL"
    assert report["suggestions"]


@pytest.mark.parametrize(("choice", "status"), [("warn", "FAIL"), ("accept_with_warning", "PASS_WITH_WARNING")])
def test_an_unreachable_target_can_be_written(choice: str, status: str, tmp_path: Path) -> None:
    result = made(tmp_path, target={"hit_ratio": 0.99}, validation={"on_failure": choice})
    assert result.status == status
    found = check_dataset(tmp_path)
    assert found["intact"], found["checks"]
    assert found["validation_status"] == status


def test_a_smaller_dataset_in_the_same_folder_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", 2_000)
    made(tmp_path, execution={"mode": "compare"})
    made(tmp_path, request_count=8)
    fresh = tmp_path / "fresh"
    made(fresh, request_count=8)
    left = {name: value for name, value in digest_of(tmp_path).items() if not name.startswith("fresh")}
    assert left == digest_of(fresh)


def test_a_source_that_is_not_there_is_never_replaced(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailure, match="--source gsm8k=PATH") as caught:
        made(tmp_path, suffix={"source": "gsm8k", "path": str(tmp_path / "nowhere")})
    assert caught.value.exit_code == 3


def test_a_source_too_small_says_so(tmp_path: Path) -> None:
    source = tmp_path / "train.jsonl"
    source.write_text('{"question": "How many?", "answer": "Just a few <<1+1=2>>2."}\n')
    with pytest.raises(EnvironmentFailure, match="tokens, too few"):
        made(tmp_path / "out", suffix={"source": "gsm8k", "path": str(source)})


def test_fields_choose_and_marks_are_removed(tmp_path: Path) -> None:
    source = tmp_path / "train.jsonl"
    lines = [
        f'{{"question": "Question {i} asks this?", "answer": "It is <<{i}+1={i + 1}>>{i + 1}."}}' for i in range(900)
    ]
    source.write_text("\n".join(lines))
    whole = made(tmp_path / "both", suffix={"source": "gsm8k", "path": str(source)}, request_count=4)
    text = whole.data.read_text()
    assert "Question" in text
    assert "It is" in text
    assert "<<" not in text
    only = made(
        tmp_path / "one", suffix={"source": "gsm8k", "path": str(source), "fields": ["answer"]}, request_count=4
    )
    assert "Question" not in only.data.read_text()
    with pytest.raises(InputError, match="no text in field 'reply'"):
        made(tmp_path / "bad", suffix={"source": "gsm8k", "path": str(source), "fields": ["reply"]})


def test_progress_is_told_per_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", 600)
    seen: list[Progress] = []
    with observing(seen.append):
        result = generate_prefix_cache_dataset(config_of(request_count=12, input_length=200), tmp_path, InProcess(1))
    assert {state.stage for state in seen if state.done == state.total} == {stage.name for stage in STAGES}
    for name in ("build_shards", "hash_blocks"):
        states = [state for state in seen if state.stage == name]
        assert [state.done for state in states] == list(range(states[0].total + 1))
        assert (states[-1].requests, states[-1].tokens) == (12, result.report["input_tokens"])
    middle = next(state for state in seen if state.stage == "build_shards" and state.done == 2)
    assert middle.text.startswith(f"2/{middle.total} shards, ")
    rates = "3/10 shards, 400 requests/s, 2.0 M tokens/s"
    state = Progress("build_shards", 3, 10, 600, 3_000_000, 1.5, pace=(2, 1.2))
    assert state.text == f"{rates}, 4 s to go"
    assert state.rates == "400 req/s, 2.0 M tok/s, 4 s to go"


def test_nothing_is_said_of_the_time_to_go_before_a_pace_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call's end has the start of the workers in it; what was known before says nothing of the pace."""
    now = 100.0
    monkeypatch.setattr("prefixcache.stages.progress.time.perf_counter", lambda: now)
    seen: list[Progress] = []
    with observing(seen.append):
        meter = Meter("build_shards", 10)
        for _ in range(4):
            meter.finished(Artifact(kind="shard", files=(), rows=100, tokens=1_000_000), known=True)
        for seconds in (30.0, 0.5, 1.5):
            now += seconds
            meter.finished(Artifact(kind="shard", files=(), rows=100, tokens=1_000_000))
    assert [state.done for state in seen] == list(range(8))
    assert [state.eta_s for state in seen[:7]] == [None] * 7
    assert (seen[7].eta_s, seen[7].requests) == (3.0, 300)
    assert "to go" not in seen[6].text


def test_a_refused_target_leaves_nothing_but_the_report(tmp_path: Path) -> None:
    with pytest.raises(VerdictError):
        made(tmp_path, target={"hit_ratio": 0.99})
    assert [path.name for path in tmp_path.iterdir()] == ["validation_report.json"]


def test_two_makers_do_not_share_a_folder(tmp_path: Path) -> None:
    with exclusive(tmp_path), pytest.raises(EnvironmentFailure, match="another process"):
        made(tmp_path)
    made(tmp_path, request_count=3)


def test_leftovers_of_a_killed_maker_are_swept(tmp_path: Path) -> None:
    left = [tmp_path / ".data.jsonl.99999.tmp", tmp_path / "shards" / ".requests-00000.parquet.99999.tmp"]
    (tmp_path / "shards").mkdir()
    for path in left:
        path.write_text("half")
    made(tmp_path, request_count=3)
    assert not [path for path in left if path.exists()]
