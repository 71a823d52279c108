"""The command line as a user meets it: exit codes, one JSON object, one clear message."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from flows.cli import app
from prefixcache.reference.process import EngineProcess
from prefixcache.reference.server import EngineOptions

CONFIG = """
dataset_id: cli
request_count: 30
block_size: 16
input_length: {mode: uniform, min: 60, max: 300}
target: {hit_ratio: 0.4}
prefix: {group_count: 2}
"""
PLAN_KEYS = {
    "request_count",
    "input_tokens",
    "target_hit_ratio",
    "expected_hit_tokens",
    "designed_hit_ratio",
    "max_reachable_hit_ratio",
    "max_reachable_hit_tokens",
    "status",
    "groups",
    "suggestions",
}
GROUP_KEYS = {
    "group_id",
    "request_count",
    "input_tokens",
    "initial_target_hit_tokens",
    "target_hit_tokens",
    "expected_hit_tokens",
    "master_prefix_len",
    "cold_start_loss",
    "max_reachable_hit_ratio",
}
REPORT_KEYS = {
    "target_hit_ratio",
    "designed_hit_ratio",
    "actual_hit_rate",
    "expected_hit_tokens",
    "measured_hit_tokens",
    "measured_query_tokens",
    "construction_deviation",
    "runtime_deviation",
    "validation_status",
    "passes",
}


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def json_of(result: Result) -> dict[str, Any]:
    """Stdout is one JSON object and nothing else."""
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    return value


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "cli.yaml"
    path.write_text(CONFIG)
    return path


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "cli.yaml").write_text(CONFIG)
    result = call(
        "generate", "-c", folder / "cli.yaml", "-o", folder / "data", "--no-prefect", "--workers", "1", "--json"
    )
    assert result.exit_code == 0, result.stderr
    assert json_of(result)["validation_status"] == "PASS"
    return folder / "data"


def test_plan(config: Path) -> None:
    result = call("plan", "--config", config, "--json")
    assert result.exit_code == 0
    report = json_of(result)
    assert set(report) >= PLAN_KEYS
    assert all(set(group) >= GROUP_KEYS for group in report["groups"])
    assert "K = t = 0" in report["assumptions"][0]
    assert call("plan", "--config", config).exit_code == 0


def test_plan_with_the_tokenizers_frame_is_the_plan_that_is_built(config: Path, tmp_path: Path) -> None:
    chat = ("--set", "prompt={format: chat, system: You count in steps.}", "--set", "block_size=4")
    bare = json_of(call("plan", "--config", config, *chat, "--json"))
    found = json_of(call("plan", "--config", config, *chat, "--probe-tokenizer", "--json"))
    call("generate", "-c", config, "-o", tmp_path / "data", "--no-prefect", "--json", *chat)
    built = json.loads((tmp_path / "data" / "validation_report.json").read_text())
    assert found["head_tokens"] >= 8 and found["tail_tokens"] >= 1 and found["assumptions"] == []
    for key in ("expected_hit_tokens", "max_reachable_hit_tokens", "designed_hit_ratio", "groups"):
        assert found[key] == built[key]
    assert found["max_reachable_hit_tokens"] != bare["max_reachable_hit_tokens"]
    shown = call("plan", "--config", config, *chat, "--probe-tokenizer").stderr
    assert f"begins with {found['head_tokens']} tokens" in " ".join(shown.split())


def test_plan_does_not_warn_of_a_tokenizer_that_it_does_not_use(config: Path) -> None:
    result = call("plan", "-c", config, "--json")
    assert json_of(result)["warnings"] == []
    assert "embedded" not in result.stderr
    assert "embedded" in call("plan", "-c", config, "--probe-tokenizer").stderr


def test_plan_of_an_unreachable_target_prints_the_best_plan(config: Path) -> None:
    result = call("plan", "--config", config, "--set", "target.hit_ratio=0.97", "--json")
    assert result.exit_code == 1
    report = json_of(result)
    assert report["status"] == "FAIL"
    assert report["expected_hit_tokens"] == report["max_reachable_hit_tokens"]
    assert {entry["lever"] for entry in report["suggestions"]} >= {"request_count", "group_count", "warmup"}
    shown = call("plan", "--config", config, "--set", "target.hit_ratio=0.97")
    assert shown.exit_code == 1
    assert "why:" in shown.stdout


@pytest.mark.parametrize(
    ("setting", "field", "remedy"),
    [
        ("input_lenght=3", "input_lenght", "`input_length`"),
        ("target.hit_ratio=1.2", "target.hit_ratio", "at most 1"),
        ("request_count=0", "request_count", "at least 1"),
        ("target={scope: per_group, groups: [{id: grup_0, hit_ratio: 0.5}]}", "target.groups[0].id", "write "),
    ],
)
def test_a_wrong_configuration_exits_2(config: Path, setting: str, field: str, remedy: str) -> None:
    for command in ("plan", "generate"):
        extra = [] if command == "plan" else ["-o", config.parent / "x", "--no-prefect"]
        result = call(command, "-c", config, "--set", setting, *extra, "--json")
        assert result.exit_code == 2
        error = json_of(result)["error"]
        assert error["field"] == field
        assert remedy in error["remedy"]
        assert "Traceback" not in result.stderr
        assert field in result.stderr


def test_a_missing_config_exits_2(tmp_path: Path) -> None:
    result = call("plan", "-c", tmp_path / "none.yaml")
    assert result.exit_code == 2
    assert "cannot read" in result.stderr


def test_gsm8k_that_is_not_there_exits_3(config: Path, tmp_path: Path) -> None:
    result = call("generate", "-c", config, "-o", tmp_path / "x", "--no-prefect", "--source", f"gsm8k={tmp_path}/no")
    assert result.exit_code == 3
    assert "--source gsm8k=PATH" in result.stderr
    assert not (tmp_path / "x" / "manifest.json").exists()


def test_an_unreachable_target_exits_1_with_the_report(config: Path, tmp_path: Path) -> None:
    out = tmp_path / "x"
    result = call("generate", "-c", config, "-o", out, "--no-prefect", "--set", "target.hit_ratio=0.97", "--json")
    assert result.exit_code == 1
    report = json_of(result)
    assert report["validation_status"] == "FAIL"
    assert report["error"]["field"] == "target.hit_ratio"
    assert call("validate", "--dataset", out).exit_code == 2
    told = call("generate", "-c", config, "-o", out, "--no-prefect", "--set", "target.hit_ratio=0.97")
    assert told.exit_code == 1
    assert "can hit at most" in told.stdout and "can hit at most" not in told.stderr  # said once
    assert "97.00 % cannot be reached" in told.stderr and "Remedy" in told.stderr


@pytest.mark.parametrize("name", ["file", "file/x"])
def test_an_output_where_a_file_stands_exits_2_and_names_it(name: str, config: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    result = call("generate", "-c", config, "-o", tmp_path / name, "--no-prefect")
    assert result.exit_code == 2
    assert f"{tmp_path / 'file'} is a file" in result.stderr
    assert (tmp_path / "file").read_text() == "kept"
    assert "Traceback" not in result.stderr


def test_another_dataset_in_the_folder_is_told_of_before_it_is_replaced(config: Path, tmp_path: Path) -> None:
    words = ("generate", "-c", config, "-o", tmp_path / "data", "--no-prefect", "--workers", "1")
    assert "takes its place" not in call(*words).stderr
    assert "takes its place" not in call(*words, "--set", "seed=3").stderr  # the same dataset, changed
    other = call(*words, "--set", "dataset_id=other")
    assert other.exit_code == 0
    assert f"{tmp_path / 'data'} holds the dataset cli: other takes its place" in other.stderr
    assert json.loads((tmp_path / "data" / "manifest.json").read_text())["dataset_id"] == "other"


def test_validate(dataset: Path, tmp_path: Path) -> None:
    result = call("validate", "--dataset", dataset, "--json")
    assert result.exit_code == 0
    report = json_of(result)
    assert report["intact"] is True
    assert report["validation_status"] == "PASS"
    assert call("validate", "--dataset", tmp_path).exit_code == 2


def test_validate_with_another_tokenizer_finds_the_difference(dataset: Path, qwen: Path) -> None:
    result = call("validate", "--dataset", dataset, "--tokenizer", qwen, "--json")
    assert result.exit_code == 1
    assert [check["name"] for check in json_of(result)["checks"] if not check["ok"]] == ["seams"]


@pytest.mark.engine
def test_run_and_report(dataset: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    with EngineProcess(EngineOptions("embedded")) as engine:
        dry = call("run", "-d", dataset, "-u", engine.url, "--dry-run", "--json")
        assert dry.exit_code == 0
        facts = json_of(dry)
        assert facts["requests"] == 30
        assert not run_dir.exists()
        result = call(
            "run", "--dataset", dataset, "--url", f"{engine.url}/v1/completions", "--metrics-url",
            f"{engine.url}/metrics", "--run-dir", run_dir, "--no-prefect", "--json",
        )  # fmt: skip
        assert result.exit_code == 0, result.stderr
        again = call("run", "-d", dataset, "-u", engine.url, "-r", run_dir, "--no-prefect")
        assert again.exit_code == 2, "a finished run is not overwritten by accident"
    report = json_of(result)
    assert set(report) >= REPORT_KEYS
    assert report["measured_hit_tokens"] == report["expected_hit_tokens"]
    assert report["runtime_deviation"] == 0
    assert report["actual_hit_rate"] == report["designed_hit_ratio"]
    for name in (
        "dataset/data.jsonl",
        "dataset/manifest.json",
        "dataset/request_metadata.jsonl",
        "dataset/validation_report.json",
        "runtime/request_results.jsonl",
        "runtime/performance_metrics.json",
        "runtime/prefix_cache_metrics.json",
        "report/prefix_cache_report.json",
        "report/prefix_cache_report.html",
    ):
        assert (run_dir / name).is_file(), name
    chinese = call("report", "--run-dir", run_dir, "--lang", "zh")
    assert chinese.exit_code == 0
    assert "命中" in chinese.stdout
    assert "命中率" in (run_dir / "report" / "prefix_cache_report.html").read_text()
    assert call("report", "--run-dir", run_dir, "--lang", "fr").exit_code == 2


@pytest.mark.engine
def test_a_dry_run_tells_every_misfit_and_exits_as_the_run_would(dataset: Path) -> None:
    with EngineProcess(EngineOptions("embedded", block_size=48, max_model_len=300)) as engine:
        told = call("run", "-d", dataset, "-u", engine.url, "--dry-run")
        assert told.exit_code == 2
        assert "no multiple of the block size 48" in told.stderr
        assert "longer than the server's max_model_len 300" in told.stderr
        facts = call("run", "-d", dataset, "-u", engine.url, "--dry-run", "--json")
        assert (facts.exit_code, json_of(facts)["server_check"]["fits"]) == (2, False)
    silent = call("run", "-d", dataset, "-u", "http://127.0.0.1:9", "--dry-run")
    assert (silent.exit_code, "nothing listens there" in silent.stderr) == (0, True)


def test_a_server_that_is_not_there_exits_3(dataset: Path, tmp_path: Path) -> None:
    result = call("run", "-d", dataset, "-u", "http://127.0.0.1:9", "-r", tmp_path / "r", "--no-prefect", "--json")
    assert result.exit_code == 3
    assert "error" in json_of(result)
    assert "Traceback" not in result.stderr


def test_run_dirs_are_numbered(tmp_path: Path) -> None:
    from flows.commands.run import next_run_dir

    assert next_run_dir(tmp_path).name == "run_001"
    (tmp_path / "run_007").mkdir()
    (tmp_path / "run_x").mkdir()
    assert [next_run_dir(tmp_path).name for _ in range(2)] == ["run_008", "run_009"]  # as of two runs at once


LIGHT = """
import sys
from flows.cli import app
from typer.testing import CliRunner
result = CliRunner().invoke(app, sys.argv[1:])
heavy = sorted(name for name in ("prefect", "transformers", "datasets", "plotly") if name in sys.modules)
print(result.exit_code, heavy)
"""


@pytest.mark.parametrize("command", ["--help", "plan", "validate"])
def test_light_commands_import_nothing_heavy(command: str, config: Path, dataset: Path) -> None:
    arguments = {
        "--help": ["--help"],
        "plan": ["plan", "-c", str(config)],
        "validate": ["validate", "-d", str(dataset)],
    }
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, *arguments[command]], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip().splitlines()[-1] == "0 []"
