"""prefect.yaml: three deployments with module entrypoints, one of them run by a worker; the UI's form is complete."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from prefixcache.dataset.check import check_dataset

pytestmark = [pytest.mark.prefect, pytest.mark.xdist_group("prefect")]
ROOT = Path(__file__).parents[2]


def prefect_command(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "prefect", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_worker_runs_a_deployment(prefect: None, tmp_path: Path) -> None:
    config = tmp_path / "deployed.yaml"
    config.write_text("request_count: 12\ninput_length: 200\ntarget: {hit_ratio: 0.5}\nblock_size: 16\n")
    output = tmp_path / "out"
    prefect_command("work-pool", "create", "prefixcache", "--type", "process", "--overwrite")
    prefect_command("--no-prompt", "deploy", "--all")
    listed = prefect_command("deployment", "ls")
    for name in ("prefixcache-generate/gen", "prefixcache-run/run", "prefixcache-report/rep"):
        assert name in listed
    parameters = {"output": str(output), "config_file": str(config), "workers": 1}
    prefect_command("deployment", "run", "prefixcache-generate/generate", "--params", json.dumps(parameters))
    prefect_command("worker", "start", "--pool", "prefixcache", "--run-once")
    found = check_dataset(output)
    assert found["intact"]
    assert found["dataset_id"] == "deployed"
    name, lines = flow_run_and_logs()
    assert name == "deployed"
    categories = {line.name for line in lines if line.name.startswith("prefixcache.")}
    assert categories == {
        f"prefixcache.{name}" for name in ("config", "lengths", "planning", "collisions", "simulation")
    }
    assert any("dataset deployed: PASS" in line.message for line in lines), "what a stage found stands in the UI"


def flow_run_and_logs() -> tuple[str, list[Any]]:
    """The last flow run of a deployment: its name, and its log lines once they have all arrived."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import LogFilter, LogFilterFlowRunId
    from prefect.client.schemas.sorting import FlowRunSort

    with get_client(sync_client=True) as client:
        runs = client.read_flow_runs(sort=FlowRunSort.START_TIME_DESC)
        run = next(run for run in runs if run.deployment_id is not None)
        wanted = LogFilter(flow_run_id=LogFilterFlowRunId(any_=[run.id]))
        deadline = time.monotonic() + 30
        while True:
            lines = client.read_logs(log_filter=wanted)
            if any("Finished in state" in line.message for line in lines) or time.monotonic() > deadline:
                return run.name, lines
            time.sleep(0.2)


def test_the_form_knows_every_configuration_key(prefect: None) -> None:
    """The UI draws its form from this schema: nested models, discriminated by `mode`, every field described."""
    from prefect.utilities.callables import parameter_schema

    from flows.generate import generate

    schema = parameter_schema(generate).model_dump()
    config = schema["definitions"]["PrefixCacheDatasetConfig"]
    assert {"input_length", "target", "prefix", "request_order", "execution", "routing"} <= set(config["properties"])
    assert "TruncatedNormalLength" in schema["definitions"]
    assert all(entry.get("description") for entry in schema["properties"].values())
