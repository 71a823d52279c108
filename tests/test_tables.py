"""Names of files are names, never patterns; what is no file is not waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.config import load_config
from prefixcache.dataset.check import check_dataset
from prefixcache.errors import InputError
from prefixcache.files import read_json
from prefixcache.workload.plan import plan_dataset
from tests.support.datasets import digest_of, made

CONFIG = """
dataset_id: names
block_size: 16
input_length: {mode: explicit, file: "len[1].csv"}
target: {hit_ratio: 0.2}
"""


def test_a_bracket_in_a_name_is_a_bracket(tmp_path: Path) -> None:
    (tmp_path / "len[1].csv").write_text("input_length\n200\n300\n250\n")
    (tmp_path / "len1.csv").write_text("input_length\n900\n900\n900\n900\n")
    (tmp_path / "a.yaml").write_text(CONFIG)
    plan = plan_dataset(load_config(tmp_path / "a.yaml").config)
    assert sorted(plan.shape.lengths.tolist()) == [200, 250, 300]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_star_in_a_sources_name_is_a_star(suffix: str, tmp_path: Path) -> None:
    import polars as pl

    for name, word in (("q*", "right"), ("q1", "wrong")):
        table = pl.DataFrame({"text": [f"The {word} answer number {i} is here for you to read." for i in range(200)]})
        path = tmp_path / f"{name}.{suffix}"
        {"csv": table.write_csv, "jsonl": table.write_ndjson, "parquet": table.write_parquet}[suffix](path)
    suffix_rules = {"source": "text", "path": str(tmp_path / f"q*.{suffix}")}
    result = made(tmp_path / "out", request_count=20, input_length=200, suffix=suffix_rules)
    text = result.data.read_text()
    assert "right answer" in text
    assert "wrong answer" not in text
    [source] = [row for row in read_json(result.manifest)["sources"] if row["field"] == "suffix"]
    assert source["samples"] == 200


def test_a_folder_with_pattern_characters_is_written_and_read_alone(tmp_path: Path) -> None:
    plain = made(tmp_path / "g1", request_count=30)
    odd = made(tmp_path / "g*", request_count=40)
    assert digest_of(plain.root) != digest_of(odd.root)
    assert check_dataset(odd.root)["intact"]
    assert made(tmp_path / "d[1]gen[2]", request_count=30).status == "PASS"


def test_a_device_is_no_list_of_lengths(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CONFIG.replace("len[1].csv", "/dev/zero"))
    ended = CliRunner().invoke(app, ["plan", "-c", str(tmp_path / "a.yaml"), "--json"])
    assert ended.exit_code == 2
    assert "no regular file" in ended.stdout or "/dev/zero" in ended.stdout


@pytest.mark.parametrize("name", ["data.jsonl", "request_metadata.jsonl", "validation_report.json"])
def test_a_pipe_in_a_dataset_is_damage_and_not_waited_for(name: str, tmp_path: Path) -> None:
    root = made(tmp_path, request_count=20).root
    (root / name).unlink()
    os.mkfifo(root / name)
    assert not check_dataset(root)["intact"]


@pytest.mark.parametrize("name", [".work", "shards"])
def test_a_link_in_the_place_of_our_folders_is_not_followed(name: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(elsewhere)
    with pytest.raises(InputError, match="is a link, not a folder of this tool"):
        made(tmp_path / "out", request_count=20)
    assert list(elsewhere.iterdir()) == []
