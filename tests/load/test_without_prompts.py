"""`run --without-prompts`: the run's folder tells everything but what prompts say; only a dataset's own files go in."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.dataset.check import check_dataset
from prefixcache.dataset.reorder import reorder_dataset
from prefixcache.errors import InputError
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.build import build_prefix_cache_report
from prefixcache.report.export import export_requests
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset
from tests.support.datasets import made
from tests.support.reading import said_by

WISHES = [Wish("a", 16), Wish("a", 32)]
TOLD = ["manifest.json", "request_metadata.jsonl", "validation_report.json"]


def options(url: str, **more: Any) -> RunOptions:
    return RunOptions(urls=(url,), poll_interval=0.05, quiesce_timeout=2.0, **more)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def call(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compare run without prompts, made from the command line; its dataset lies beside it as `set`."""
    folder = tmp_path_factory.mktemp("bare")
    made(folder / "set", request_count=12, execution={"mode": "compare"}, prefix={"group_count": 2})
    with EngineProcess(EngineOptions("embedded")) as engine:
        ended = call("run", "-d", folder / "set", "-u", engine.url, "-r", folder / "run", "--without-prompts",
                     "--no-prefect", "--json")  # fmt: skip
    assert ended.exit_code == 0, ended.output
    return folder


@pytest.mark.engine
def test_the_folder_has_plan_and_proof_but_no_prompts(bare: Path) -> None:
    assert files(bare / "run" / "dataset") == TOLD
    run = json.loads((bare / "run" / "runtime" / "run.json").read_text())
    assert (run["status"], run["options"]["without_prompts"]) == ("complete", True)
    assert all(p["measured_hit_tokens"] == p["expected_hit_tokens"] for p in run["passes"])
    prompts = [json.loads(line)["prompt"][-30:-4] for line in (bare / "set" / "data.jsonl").read_text().splitlines()]
    plain = [text for text in prompts if json.dumps(text) == f'"{text}"']
    assert plain
    for path in (bare / "run").rglob("*"):
        if path.is_file():
            assert not any(text in said_by(path) for text in plain), path


@pytest.mark.engine
def test_report_inspect_and_export_work_and_say_so(bare: Path, tmp_path: Path) -> None:
    run = bare / "run"
    report = build_prefix_cache_report(run)
    assert (report["dataset"]["prompts_stored"], report["run_status"]) == ("none", "complete")
    assert "not stored here (--without-prompts)" in (run / "report" / "prefix_cache_report.html").read_text()
    shown = call("inspect", "-d", run, "-q", "#1")
    assert shown.exit_code == 0
    assert "not stored in this run" in " ".join(shown.output.split())
    assert "inspect.not_stored" not in shown.output
    pieces = json.loads(call("inspect", "-d", run, "-q", "#1", "--json").stdout)
    assert (pieces["prompt_stored"], len(pieces["results"])) == (False, 2)
    assert {region["text"] for region in pieces["regions"]} == {None}
    assert sum(region["tokens"] for region in pieces["regions"]) == pieces["request"]["input_len"]
    assert call("inspect", "-d", run).exit_code == 0
    assert export_requests(run, tmp_path / "all.csv").height == 24
    with pytest.raises(InputError, match="not stored in it") as caught:
        export_requests(run, tmp_path / "all.csv", with_prompts=True)
    assert caught.value.field == "--with-prompts"


@pytest.mark.engine
def test_what_needs_prompts_refuses_the_folder_plainly(bare: Path, tmp_path: Path) -> None:
    folder = bare / "run" / "dataset"
    for use in (
        lambda: check_dataset(folder),
        lambda: reorder_dataset(folder, tmp_path / "new", "shuffle"),
        lambda: run_benchmark(folder, tmp_path / "again", options("http://127.0.0.1:9")),
    ):
        with pytest.raises(InputError, match="--without-prompts: prompts are not stored in it"):
            use()


def test_logs_of_a_run_and_its_report_have_figures_and_no_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES)
    with FakeServer() as server, caplog.at_level(logging.DEBUG, logger="prefixcache"):
        run_benchmark(dataset, tmp_path / "run", options(server.url))
        build_prefix_cache_report(tmp_path / "run")
        address = server.url.removeprefix("http://")
    told = {record.name: record.getMessage() for record in caplog.records if record.name.startswith("prefixcache.")}
    assert set(told) == {"prefixcache.metrics", "prefixcache.report"}
    assert "query tokens hit" in told["prefixcache.metrics"] and "verdict" in told["prefixcache.report"]
    for secret in (address, str(tmp_path), json.loads((dataset / "data.jsonl").read_text().splitlines()[0])["prompt"]):
        assert not any(secret in text for text in told.values())


def test_a_folder_that_had_prompts_loses_them(tmp_path: Path) -> None:
    dataset, run = make_dataset(tmp_path / "set", WISHES), tmp_path / "run"
    with FakeServer() as server:
        run_benchmark(dataset, run, options(server.url))
        assert "data.jsonl" in files(run / "dataset")
        run_benchmark(dataset, run, options(server.url, overwrite=True, without_prompts=True))
        assert files(run / "dataset") == TOLD
        run_benchmark(dataset, run, options(server.url, overwrite=True))
    assert "data.jsonl" in files(run / "dataset")


def test_a_variant_leaves_its_prompts_too(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES, mode="compare", salt=900)
    other = make_dataset(tmp_path / "other", WISHES, mode="compare", salt=2300)
    with FakeServer() as server:
        chosen = options(server.url, send="ids", variant_dataset=other, allow_residue=True, without_prompts=True)
        run_benchmark(dataset, tmp_path / "run", chosen)
    assert files(tmp_path / "run" / "dataset_variant") == TOLD


def test_a_dataset_that_lies_in_the_run_has_its_prompts_there(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "run" / "dataset", WISHES)
    with FakeServer() as server, pytest.raises(InputError, match="holds its prompts"):
        run_benchmark(dataset, tmp_path / "run", options(server.url, without_prompts=True))
    assert "data.jsonl" in files(dataset)


def test_only_files_of_the_manifest_are_linked(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES)
    listed = {*json.loads((dataset / "manifest.json").read_text())["files"], "manifest.json"}
    (dataset / "my notes.txt").write_text("private")
    (dataset / "drafts").mkdir()
    (dataset / "drafts" / "api key.txt").write_text("private")
    with FakeServer() as server:
        run_benchmark(dataset, tmp_path / "run", options(server.url))
    assert set(files(tmp_path / "run" / "dataset")) == listed
    assert (tmp_path / "run" / "dataset" / "data.jsonl").samefile(dataset / "data.jsonl")
