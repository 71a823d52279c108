"""An export never takes the place of a file that a run or a dataset consists of."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.errors import InputError
from prefixcache.files import write_json
from prefixcache.report.export import export_requests
from tests.report.handmade import make_run


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Two runs, `run` and `other`, and a dataset `set` with a file of the user's own."""
    make_run(tmp_path / "run")
    for name in ("prefix_cache_report.json", "prefix_cache_report.html"):
        (tmp_path / "run" / "report").mkdir(exist_ok=True)
        (tmp_path / "run" / "report" / name).write_text("{}")
    (tmp_path / "run" / "dataset_variant").mkdir()
    shutil.copytree(tmp_path / "run", tmp_path / "other")
    shards = tmp_path / "set" / "shards"
    shards.mkdir(parents=True)
    write_json(tmp_path / "set" / "manifest.json", {"files": {"data.jsonl": {}, "shards/requests-00000.parquet": {}}})
    for name in ("set/data.jsonl", "set/shards/requests-00000.parquet", "set/mine.csv"):
        (tmp_path / name).write_text("mine")
    return tmp_path


@pytest.mark.parametrize("run", ["run", "other"])
@pytest.mark.parametrize(
    "name",
    [
        "report/prefix_cache_report.json",
        "report/prefix_cache_report.html",
        "runtime/run.json",
        "runtime/new.csv",
        "runtime/deep/new.csv",
        "dataset/manifest.json",
        "dataset/new.csv",
        "dataset_variant/data.jsonl",
        "report/../runtime/run.json",
    ],
)
def test_files_of_this_and_any_other_run_stay(place: Path, run: str, name: str) -> None:
    before = tree(place)
    with pytest.raises(InputError) as caught:
        export_requests(place / "run", place / run / name, "csv")
    assert (caught.value.field, tree(place)) == ("--output", before)


@pytest.mark.parametrize("name", ["manifest.json", "data.jsonl", "shards/requests-00000.parquet"])
def test_files_of_a_dataset_stay(place: Path, name: str) -> None:
    before = tree(place)
    with pytest.raises(InputError, match="file of the dataset in set/"):
        export_requests(place / "run", place / "set" / name, "csv")
    assert tree(place) == before


def test_a_link_to_a_file_of_a_run_is_that_file(place: Path) -> None:
    (place / "table.csv").symlink_to(place / "run" / "runtime" / "run.json")
    with pytest.raises(InputError, match="runtime/"):
        export_requests(place / "run", place / "table.csv")


@pytest.mark.parametrize("name", ["run/requests.csv", "run/report/requests.csv", "set/mine.csv", "set/new.csv"])
def test_other_files_there_may_be_written(place: Path, name: str) -> None:
    assert export_requests(place / "run", place / name).height > 0
    assert (place / name).read_text().startswith("pass,")


def test_the_command_line_refuses_with_one_error(place: Path) -> None:
    output = place / "run" / "report" / "prefix_cache_report.json"
    arguments = ["export", "-r", place / "run", "-o", output, "-f", "jsonl", "--json"]
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments])
    error = json.loads(ended.stdout)["error"]
    assert (ended.exit_code, error["field"], output.read_text()) == (2, "--output", "{}")
