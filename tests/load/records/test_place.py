"""Where a run is written, and what it never touches there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.errors import InputError
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset

WISHES = [Wish("a", 16), Wish("a", 32)]


def options(server: FakeServer, **more: Any) -> RunOptions:
    return RunOptions(urls=(server.url,), poll_interval=0.05, quiesce_timeout=2.0, **more)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "set", WISHES)


@pytest.mark.parametrize(
    "names",
    [
        ["notes.txt"],
        ["runtime/request_results.jsonl.partial", "runtime/mine.txt"],
        ["runtime/run.json"],
        ["report/prefix_cache_report.html"],
        ["dataset/data.jsonl"],
        ["dataset/manifest.json"],
    ],
)
@pytest.mark.parametrize("overwrite", [True, False])
def test_a_folder_of_others_stays_as_it_is(dataset: Path, tmp_path: Path, names: list[str], overwrite: bool) -> None:
    for name in names:
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / name).write_text("{}")
    before = tree(tmp_path / "mine")
    with FakeServer() as server, pytest.raises(InputError, match="holds other files") as caught:
        run_benchmark(dataset, tmp_path / "mine", options(server, overwrite=overwrite))
    assert (caught.value.field, server.completions, tree(tmp_path / "mine")) == ("run_dir", 0, before)


def test_foreign_files_in_the_folder_of_a_run_outlive_the_next_one(dataset: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    other = make_dataset(tmp_path / "other", [Wish("a", 48)] * 2)
    foreign = ("notes.txt", "dataset/notes.txt", "runtime/notes.txt", "report/prefix_cache_report.notes")
    with FakeServer() as server:
        run_benchmark(dataset, run, options(server))
        (run / "report").mkdir()
        for name in foreign:
            (run / name).write_text("mine")
        run_benchmark(other, run, options(server, overwrite=True))
        assert all((run / name).read_text() == "mine" for name in foreign)
        assert (run / "dataset" / "data.jsonl").samefile(other / "data.jsonl")
        with pytest.raises(InputError, match="finished run"):
            run_benchmark(dataset, run, options(server))


def test_no_name_is_not_the_current_folder(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with FakeServer() as server:
        with pytest.raises(InputError, match="no run directory"):
            run_benchmark(dataset, "", options(server))
        ended = CliRunner().invoke(app, ["run", "-d", str(dataset), "-u", server.url, "-r", "", "--no-prefect"])
    assert (ended.exit_code, list((tmp_path / "empty").iterdir())) == (2, [])


def test_a_refused_run_leaves_no_numbered_folder(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with FakeServer(block_size=32) as server:
        ended = CliRunner().invoke(app, ["run", "-d", str(dataset), "-u", server.url, "--no-prefect", "--json"])
    assert (ended.exit_code, json.loads(ended.stdout)["error"]["field"]) == (2, "block_size")
    assert list((tmp_path / "here").iterdir()) == []
