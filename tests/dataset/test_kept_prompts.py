"""`output.prompts`: the same requests whatever is kept of them, and every command works with it (RFC 3.4.1)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.config import load_config
from prefixcache.dataset.check import check_dataset
from prefixcache.dataset.moved_rows import replaced
from prefixcache.dataset.reorder import reorder_dataset
from prefixcache.dataset.shards import token_ids, write_table
from prefixcache.errors import InputError
from prefixcache.files import read_json, read_jsonl
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.build import build_prefix_cache_report
from tests.dataset.test_check import failed, reseal
from tests.support.datasets import config_of, digest_of, made
from tests.support.families import family_folder

CHOICES = ("both", "text", "ids")
SHAPE: dict[str, Any] = {"request_count": 24, "execution": {"mode": "compare"}, "prefix": {"group_count": 2}}


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One compare dataset per choice; `plain` was made without any."""
    root = tmp_path_factory.mktemp("kept")
    made(root / "plain", **SHAPE)
    for choice in CHOICES:
        made(root / choice, **SHAPE, output={"prompts": choice})
    return {path.name: path for path in root.iterdir()}


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded")) as process:
        yield process


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return list(read_jsonl(folder / name))


def ids_in_shards(folder: Path) -> dict[str, list[list[int]]]:
    names = sorted(path.name for path in (folder / "shards").iterdir())
    return {n: [ids.tolist() for ids in token_ids(pq.read_table(folder / "shards" / n))] for n in names}


def call(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_default_writes_what_it_always_wrote(sets: dict[str, Path]) -> None:
    assert digest_of(sets["both"]) == digest_of(sets["plain"])
    assert "output" not in read_json(sets["both"] / "manifest.json")["config"]


def test_token_ids_and_plan_do_not_depend_on_what_is_kept(sets: dict[str, Path]) -> None:
    plan = (sets["both"] / "request_metadata.jsonl").read_bytes()
    for choice in ("text", "ids"):
        assert ids_in_shards(sets[choice]) == ids_in_shards(sets["both"])
        assert (sets[choice] / "request_metadata.jsonl").read_bytes() == plan
        assert read_json(sets[choice] / "manifest.json")["config"]["output"] == {"prompts": choice}
        assert digest_of(sets[choice])["manifest.json"] != digest_of(sets["both"])["manifest.json"]


def test_ids_leave_no_text_anywhere(sets: dict[str, Path]) -> None:
    ends = (row["prompt"][-32:-4] for row in rows(sets["both"], "data.jsonl"))
    words = {text for text in ends if json.dumps(text) == f'"{text}"'}  # as it stands in JSON
    assert len(words) > 10
    for path in sets["ids"].rglob("*"):
        if not path.is_file() or ".work" in path.parts:
            continue
        if path.suffix == ".parquet":
            assert pq.read_table(path)["prompt"].null_count == pq.read_metadata(path).num_rows
        else:
            assert not any(word in path.read_text() for word in words), path.name
    for name in ("data.jsonl", "warmup.jsonl"):
        mine, whole = rows(sets["ids"], name), rows(sets["both"], name)
        assert mine == [{**row, "prompt": None} for row in whole]
    assert read_json(sets["ids"] / "manifest.json")["prompt"]["form"] == "ids"


def test_text_leaves_the_ids_to_the_shards(sets: dict[str, Path]) -> None:
    for name in ("data.jsonl", "warmup.jsonl"):
        mine, whole = rows(sets["text"], name), rows(sets["both"], name)
        assert mine == [{**row, "prompt_token_ids": None} for row in whole]
    for path in (sets["text"] / "shards").iterdir():
        assert path.read_bytes() == (sets["both"] / "shards" / path.name).read_bytes()
    assert read_json(sets["text"] / "manifest.json")["prompt"]["form"] == "text"


@pytest.mark.parametrize("choice", CHOICES)
def test_validate_says_what_it_could_check(sets: dict[str, Path], choice: str) -> None:
    result = check_dataset(sets[choice])
    assert (result["intact"], result["validation_status"]) == (True, "PASS"), result["checks"]
    note = next(check["note"] for check in result["checks"] if check["name"] == "seams")
    audit = read_json(sets[choice] / "validation_report.json")["audit"]
    if choice == "ids":
        assert note == "no text was kept (output.prompts: ids), there is no text to encode"
        assert (audit["method"][:28], audit["prompts"]) == ("none: output.prompts is ids,", 0)
    else:
        assert (note[:2], audit["method"]) == ("26", "every prompt re-encoded")  # 24 requests, a warmup per group


def test_ids_of_a_shard_that_are_not_its_texts_are_found(sets: dict[str, Path], tmp_path: Path) -> None:
    copy = Path(shutil.copytree(sets["text"], tmp_path / "copy"))
    path = copy / "shards" / "requests-00000.parquet"
    texts = pq.read_table(path)["prompt"].to_pylist()
    table = replaced(pq.read_table(path), {"prompt": [texts[1], texts[0], *texts[2:]]})
    write_table(path, table)
    reseal(copy)
    assert {"shards", "seal"} <= failed(copy)
    lines = (copy / "data.jsonl").read_text().splitlines(keepends=True)
    first, second = json.loads(lines[0]), json.loads(lines[1])
    first["prompt"], second["prompt"] = second["prompt"], first["prompt"]
    lines[:2] = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in (first, second)]
    (copy / "data.jsonl").write_text("".join(lines))
    reseal(copy)
    found = failed(copy)
    assert "seams" in found and "shards" not in found  # texts changed in both places: only encoding them tells


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda rows: rows[3].update(prompt_token_ids=[1, 2]), "in some rows and not in others"),
        (lambda rows: rows[0].update(prompt_token_ids=[1, 2]), "in some rows and not in others"),
        (lambda rows: rows.pop(2), "the metadata's is another"),
    ],
)
def test_rows_that_belong_to_no_shard_are_no_dataset(
    sets: dict[str, Path], tmp_path: Path, edit: Any, message: str
) -> None:
    copy = Path(shutil.copytree(sets["text"], tmp_path / "copy"))
    found = rows(copy, "data.jsonl")
    edit(found)
    (copy / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    checks = {check["name"]: check for check in check_dataset(copy)["checks"]}
    readable = " ".join(checks["readable"].get("problems", []))
    assert message in readable or "no token ids in the shards" in readable


def test_a_manifest_that_claims_another_choice_is_found(sets: dict[str, Path], tmp_path: Path) -> None:
    for choice, claimed in (("text", "both"), ("ids", "text"), ("both", "ids")):
        copy = Path(shutil.copytree(sets[choice], tmp_path / f"{choice}-{claimed}"))
        manifest = read_json(copy / "manifest.json")
        manifest["config"]["output"] = {"prompts": claimed}
        (copy / "manifest.json").write_text(json.dumps(manifest))
        claims = next(check for check in check_dataset(copy)["checks"] if check["name"] == "claims")
        assert any("config.output: prompts" in text for text in claims["problems"]), (choice, claimed)


@pytest.mark.parametrize("choice", CHOICES)
def test_reorder_keeps_what_is_kept(sets: dict[str, Path], tmp_path: Path, choice: str) -> None:
    reorder_dataset(sets[choice], tmp_path / "new", "shuffle")
    assert check_dataset(tmp_path / "new")["intact"]
    mine = {row["request_id"]: row for row in rows(tmp_path / "new", "data.jsonl")}
    assert mine == {row["request_id"]: row for row in rows(sets[choice], "data.jsonl")}
    assert list(mine) != [row["request_id"] for row in rows(sets[choice], "data.jsonl")]


def test_another_choice_in_the_same_folder_gives_the_files_of_a_fresh_one(
    sets: dict[str, Path], tmp_path: Path
) -> None:
    for choice in ("both", "ids", "text", "both"):
        made(tmp_path / "same", **SHAPE, output={"prompts": choice})
        assert digest_of(tmp_path / "same") == digest_of(sets[choice]), choice


@pytest.mark.engine
@pytest.mark.parametrize("choice", CHOICES)
def test_runs_measure_the_design_and_send_what_is_there(
    sets: dict[str, Path], engine: EngineProcess, tmp_path: Path, choice: str
) -> None:
    summary = run_benchmark(sets[choice], tmp_path / "run", RunOptions(urls=(engine.url,), poll_interval=0.05))
    assert summary.status == "complete"
    assert [p["measured_hit_tokens"] for p in summary.passes] == [p["expected_hit_tokens"] for p in summary.passes]
    run = read_json(tmp_path / "run" / "runtime" / "run.json")
    assert run["options"]["send"] == ("ids" if choice == "ids" else "text")
    told = [w["message"] for w in run["warnings"] if w["code"] == "sent_as_ids"]
    assert bool(told) is (choice == "ids") and all("output.prompts: ids" in text for text in told)
    report = build_prefix_cache_report(tmp_path / "run")
    assert report["dataset"]["prompts_stored"] == choice
    shown = call("inspect", "-d", tmp_path / "run", "-q", "#1", "--json")
    assert shown.exit_code == 0
    pieces = json.loads(shown.stdout)
    assert pieces["prompt_stored"] and "".join(r["text"] for r in pieces["regions"])
    assert pieces["split"] == ("decoded" if choice == "ids" else "exact")


def test_what_is_not_there_cannot_be_sent(sets: dict[str, Path], tmp_path: Path) -> None:
    for choice, send in (("ids", "text"), ("text", "ids")):
        with pytest.raises(InputError, match=f"output.prompts: {choice}") as caught:
            run_benchmark(sets[choice], tmp_path / "run", RunOptions(urls=("http://127.0.0.1:9",), send=send))  # type: ignore[arg-type]
        assert caught.value.field == "send"


@pytest.mark.engine
def test_chat_without_ids(engine: EngineProcess, tmp_path: Path) -> None:
    shape: dict[str, Any] = {"request_count": 12, "prompt": {"format": "chat"}, "output": {"prompts": "text"}}
    made(tmp_path / "set", **shape)
    assert all(row["prompt_token_ids"] is None and row["messages"] for row in rows(tmp_path / "set", "data.jsonl"))
    assert check_dataset(tmp_path / "set")["intact"]
    summary = run_benchmark(tmp_path / "set", tmp_path / "run", RunOptions(urls=(engine.url,), poll_interval=0.05))
    [cold] = summary.passes
    assert (summary.status, cold["measured_hit_tokens"]) == ("complete", cold["expected_hit_tokens"])


@pytest.mark.parametrize(
    ("prompts", "prompt", "word"),
    [
        ("ids", {"format": "chat"}, "chat sends texts"),
        ("ids", {"form": "text"}, "prompt.form is text"),
        ("text", {"form": "ids"}, "prompts without a text"),
    ],
)
def test_choices_that_leave_nothing_to_send_are_refused(prompts: str, prompt: dict[str, str], word: str) -> None:
    with pytest.raises(InputError, match=word) as caught:
        config_of(output={"prompts": prompts}, prompt=prompt)
    assert caught.value.field == "output.prompts"


def test_a_tokenizer_without_exact_texts_needs_its_ids(tmp_path: Path) -> None:
    folder = str(family_folder("characters"))
    with pytest.raises(InputError, match="prompts are ids only") as caught:
        made(tmp_path / "set", tokenizer=folder, request_count=10, output={"prompts": "text"})
    assert (caught.value.field, (tmp_path / "set" / "manifest.json").exists()) == ("output.prompts", False)
    for choice in ("both", "ids"):
        made(tmp_path / choice, tokenizer=folder, request_count=10, output={"prompts": choice})
        assert check_dataset(tmp_path / choice)["intact"]
    assert (tmp_path / "ids/data.jsonl").read_bytes() == (tmp_path / "both/data.jsonl").read_bytes()


def test_the_flag_is_the_key(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text("request_count: 8\ninput_length: 100\ntarget: {hit_ratio: 0.5}\noutput: {prompts: text}\n")
    assert load_config(path).config.output.prompts == "text"
    made_by = call("generate", "-c", path, "-o", tmp_path / "set", "--prompts", "ids", "--no-prefect", "--json")
    assert made_by.exit_code == 0, made_by.output
    assert read_json(tmp_path / "set" / "manifest.json")["config"]["output"] == {"prompts": "ids"}
    wrong = call("generate", "-c", path, "-o", tmp_path / "no", "--prompts", "none", "--no-prefect", "--json")
    assert (wrong.exit_code, json.loads(wrong.stdout)["error"]["field"]) == (2, "output.prompts")
