"""Designed hits against a real vLLM with room for everything: equal token for token, however it is sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from tests.real.environment.model import tiny_model
from tests.real.environment.server import Engine, RealServer, Vllm
from tests.real.playing import check_exact, play
from tests.real.probing import check_probe
from tests.real.scenarios import EXACT, Scenario

pytestmark = [
    pytest.mark.real,
    pytest.mark.real_vllm,
    pytest.mark.xdist_group("real"),
    pytest.mark.timeout(3600),
]
UNIT = 32


@pytest.fixture(scope="module")
def vllm(server_of: Callable[[Engine], RealServer]) -> RealServer:
    return server_of(Vllm(UNIT))


@pytest.mark.parametrize("scenario", EXACT, ids=lambda s: s.name)
def test_counters_equal_the_design(vllm: RealServer, scenario: Scenario, tmp_path: Path) -> None:
    check_exact(play(scenario, tmp_path, UNIT, vllm.url), scenario)


CONFIG = """
dataset_id: commands
request_count: 24
block_size: 32
input_length: {mode: uniform, min: 60, max: 500}
output_length: 4
target: {hit_ratio: 0.5}
prefix: {group_count: 2}
execution: {mode: compare, concurrency: 8}
"""


def test_the_commands_of_a_user(vllm: RealServer, tmp_path: Path) -> None:
    """generate, validate, simulate, run: one story, one figure."""

    def call(*words: object) -> dict[str, Any]:
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, result.output
        found: dict[str, Any] = json.loads(result.stdout)
        return found

    config, dataset, run_dir = tmp_path / "c.yaml", tmp_path / "data", tmp_path / "run"
    config.write_text(CONFIG)
    call("generate", "-c", config, "-o", dataset, "--tokenizer", tiny_model(), "--no-prefect", "--json")
    assert call("validate", "--dataset", dataset, "--json")["intact"]
    told = call("simulate", "--dataset", dataset, "--engine", "vllm", "--num-blocks", 8192, "--json")
    report = call("run", "--dataset", dataset, "--url", vllm.url, "--run-dir", run_dir, "--no-prefect", "--json")
    simulated = {each["name"]: each["hit_tokens"] for each in told["passes"]}
    for each in report["passes"]:
        assert each["measured_hit_tokens"] == each["expected_hit_tokens"] == simulated[each["name"]] > 0
        assert each["actual_hit_rate"] == pytest.approx(each["designed_hit_ratio"], abs=1e-12)
    assert [each["name"] for each in report["passes"]] == ["cold", "hot"]
    assert report["runtime_deviation"] == pytest.approx(0.0, abs=1e-12)


def test_the_probe_names_the_truth(vllm: RealServer) -> None:
    """Blocks of 32; those of 64 and 128 and two ranks have servers of their own."""
    check_probe(vllm, framework="vllm", block_size=UNIT, hit_unit=UNIT, reset="POST /reset_prefix_cache", dp_size=1)
