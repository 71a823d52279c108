"""What a probe found is planned with: a dataset for a server that lies, hit token for token as it was designed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from tests.probe.serving import engine

ALONE = ("--workers", "1", "--no-prefect", "--json")
CONFIG = """
dataset_id: by_report
request_count: 20
input_length: {mode: uniform, min: 200, max: 700}
target: {hit_ratio: 0.5}
block_size: auto
"""


def call(*words: str | Path, code: int = 0) -> Any:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("options", "unit", "drop"),
    [
        ({"block_size": 32, "claims_block_size": 16, "hit_drop": 1}, 32, 1),
        ({"dialect": "sglang", "block_size": 32, "hit_unit": 48}, 48, 0),
    ],
)
def test_designed_is_measured_where_the_server_lies(
    tmp_path: Path, options: dict[str, Any], unit: int, drop: int
) -> None:
    config, report, dataset = tmp_path / "c.yaml", tmp_path / "probe.json", tmp_path / "data"
    config.write_text(CONFIG)
    with engine(**options) as url:
        found = call("probe", "--url", url, "--json", code=1)
        report.write_text(json.dumps(found))
        assert [each["code"] for each in found["contradictions"]] == ["block_size"]
        call("generate", "-c", config, "--probe-report", report, "-o", dataset, *ALONE)
        manifest = json.loads((dataset / "manifest.json").read_text())
        assert (manifest["hit_unit"], manifest["hit_drop"], manifest["block_size_source"]) == (unit, drop, "measured")
        ran = call(
            "run", "-d", dataset, "-u", url, "--probe-report", report, "-r", tmp_path / "run", "--no-prefect", "--json"
        )  # fmt: skip
        # The dataset knows that its unit was measured, so what the server states is no reason to refuse it.
        again = call("run", "-d", dataset, "-u", url, "-r", tmp_path / "again", "--no-prefect", "--json")
        assert again["measured_hit_tokens"] == again["expected_hit_tokens"]
        assert "hit_unit_measured" in {warning["code"] for warning in again["warnings"]}
    assert ran["measured_hit_tokens"] == ran["expected_hit_tokens"] > 0
    assert ran["runtime_deviation"] == 0
    rows = (tmp_path / "run" / "runtime" / "request_results.jsonl").read_text().splitlines()
    told = [json.loads(row) for row in rows]
    assert [row["cached_tokens"] for row in told] == [row["expected_hit_len"] for row in told]
