"""`output.formats`: the same dataset in Parquet shards, in JSON Lines, or in both, and every command works with it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.config import load_config
from prefixcache.dataset.check import check_dataset
from prefixcache.dataset.lookup import open_dataset
from prefixcache.dataset.reorder import reorder_dataset
from prefixcache.dataset.stored import rows_with_ids
from prefixcache.errors import InputError
from prefixcache.files import read_json, read_jsonl
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.pipeline import generate_prefix_cache_dataset
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.build import build_prefix_cache_report
from prefixcache.report.join import join_requests
from tests.dataset.test_check import failed, reseal
from tests.support.datasets import config_of, digest_of, made

CHOICES: dict[str, list[str]] = {"both": ["parquet", "jsonl"], "parquet": ["parquet"], "jsonl": ["jsonl"]}
SHAPE: dict[str, Any] = {"request_count": 24, "execution": {"mode": "compare"}, "prefix": {"group_count": 2}}
PROMPTS = ("data.jsonl", "warmup.jsonl")


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("formats")
    for name, formats in CHOICES.items():
        made(root / name, **SHAPE, output={"formats": formats})
    chat = {**SHAPE, "prompt": {"format": "chat", "system": "You are brief."}}
    made(root / "chat", **chat)
    made(root / "chat-parquet", **chat, output={"formats": ["parquet"]})
    return {path.name: path for path in root.iterdir()}


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded")) as process:
        yield process


def names(folder: Path) -> set[str]:
    return {path for path in read_json(folder / "manifest.json")["files"] if "metadata" not in path}


def test_files_are_those_that_were_asked_for(sets: dict[str, Path]) -> None:
    shards = {"shards/requests-00000.parquet", "shards/warmup.parquet"}
    assert names(sets["both"]) - names(sets["parquet"]) == {*PROMPTS}
    assert names(sets["both"]) - names(sets["jsonl"]) == shards
    for choice in CHOICES:
        there = {path.relative_to(sets[choice]).as_posix() for path in sets[choice].rglob("*") if path.is_file()}
        outside = {name for name in there if not name.startswith(".work/")} - {
            "manifest.json",
            "request_metadata.jsonl",
        }
        assert outside == names(sets[choice])


def test_each_file_has_the_same_bytes_in_every_choice(sets: dict[str, Path]) -> None:
    whole = digest_of(sets["both"])
    for choice in ("parquet", "jsonl"):
        mine = digest_of(sets[choice])
        assert {name for name in mine if mine[name] != whole[name]} == {"manifest.json"}


@pytest.mark.parametrize("name", PROMPTS)
@pytest.mark.parametrize("pair", [("both", "parquet"), ("chat", "chat-parquet")])
def test_rows_from_shards_are_those_of_the_files(sets: dict[str, Path], name: str, pair: tuple[str, str]) -> None:
    written, shards = (sets[choice] for choice in pair)
    found = list(rows_with_ids(shards, read_json(shards / "manifest.json"), name))
    assert found == list(read_jsonl(written / name))
    assert len(found) > 1


@pytest.mark.parametrize("choice", [*CHOICES, "chat-parquet"])
def test_validate_finds_them_intact(sets: dict[str, Path], choice: str) -> None:
    result = check_dataset(sets[choice])
    assert (result["intact"], result["validation_status"]) == (True, "PASS"), result["checks"]


@pytest.mark.engine
@pytest.mark.parametrize("choice", [*CHOICES, "chat-parquet"])
def test_runs_measure_the_design(sets: dict[str, Path], engine: EngineProcess, choice: str, tmp_path: Path) -> None:
    chat = choice.startswith("chat")
    summary = run_benchmark(sets[choice], tmp_path / "run", RunOptions(urls=(engine.url,), poll_interval=0.05))
    assert summary.status == "complete"
    assert [p["measured_hit_tokens"] for p in summary.passes] == [p["expected_hit_tokens"] for p in summary.passes]
    build_prefix_cache_report(tmp_path / "run")
    frame = join_requests(tmp_path / "run", with_prompts=True).unique("request_id")
    assert frame["prompt"].null_count() == 0
    wanted = {row["request_id"]: row["prompt"] for row in read_jsonl(sets["chat" if chat else "both"] / "data.jsonl")}
    assert {row["request_id"]: row["prompt"] for row in frame.iter_rows(named=True)} == wanted


@pytest.mark.parametrize("choice", CHOICES)
def test_one_request_is_found(sets: dict[str, Path], choice: str) -> None:
    wanted = list(read_jsonl(sets["both"] / "data.jsonl"))[17]
    assert open_dataset(sets[choice]).prompt(17) == wanted


def test_reorder(sets: dict[str, Path], tmp_path: Path) -> None:
    reorder_dataset(sets["both"], tmp_path / "both", "shuffle")
    reorder_dataset(sets["parquet"], tmp_path / "parquet", "shuffle")
    assert check_dataset(tmp_path / "parquet")["intact"]
    assert not (tmp_path / "parquet" / "data.jsonl").exists()
    for name in ("request_metadata.jsonl", "shards/requests-00000.parquet", "shards/warmup.parquet"):
        assert (tmp_path / "parquet" / name).read_bytes() == (tmp_path / "both" / name).read_bytes()
    with pytest.raises(InputError, match="without its Parquet shards"):
        reorder_dataset(sets["jsonl"], tmp_path / "jsonl", "shuffle")


def test_another_choice_replaces_what_it_no_longer_has(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    for choice in ("both", "parquet", "jsonl", "both"):
        config = config_of(**SHAPE, output={"formats": CHOICES[choice]})
        generate_prefix_cache_dataset(config, folder)
        assert (folder / "data.jsonl").exists() is (choice != "parquet")
        assert (folder / "shards").exists() is (choice != "jsonl")
        assert check_dataset(folder)["intact"]


def test_files_left_out_of_the_manifest_are_missed(sets: dict[str, Path], tmp_path: Path) -> None:
    """Neither half may vanish from a dataset that says it has both."""
    for gone in ("data.jsonl", "shards/requests-00000.parquet"):
        copy = Path(shutil.copytree(sets["both"], tmp_path / gone.replace("/", "-")))
        (copy / gone).unlink()
        manifest = read_json(copy / "manifest.json")
        del manifest["files"][gone]
        (copy / "manifest.json").write_text(json.dumps(manifest))
        reseal(copy)
        assert failed(copy)


@pytest.mark.parametrize(
    ("output", "field"),
    [
        ({"formats": []}, "output.formats"),
        ({"formats": ["jsonl", "jsonl"]}, "output.formats"),
        ({"formats": ["csv"]}, "output.formats"),
        ({"formats": ["jsonl"], "prompts": "text"}, "output.prompts"),
    ],
)
def test_choices_that_cannot_be(output: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        config_of(**SHAPE, output=output)
    assert (caught.value.field or "").startswith(field)
    assert caught.value.remedy


def test_the_flag(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(
        json.dumps(
            {
                "dataset_id": "flag",
                "request_count": 4,
                "input_length": {"mode": "fixed", "value": 64},
                "target": {"hit_ratio": 0.5},
            }
        )
    )
    assert load_config(path, settings=["output.formats=[parquet]"]).config.output.formats == ("parquet",)
    done = CliRunner().invoke(
        app, ["generate", "-c", str(path), "-o", str(tmp_path / "set"), "--formats", "jsonl", "--no-prefect", "--json"]
    )
    assert (tmp_path / "set" / "data.jsonl").exists() and not (tmp_path / "set" / "shards").exists(), done.output
    wrong = CliRunner().invoke(
        app, ["generate", "-c", str(path), "-o", str(tmp_path / "two"), "--formats", "csv", "--no-prefect", "--json"]
    )
    assert (wrong.exit_code, json.loads(wrong.stdout)["error"]["field"]) == (2, "output.formats[0]")
