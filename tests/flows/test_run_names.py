"""Names of flow runs and of mapped tasks in the UI: always one, and never with a credential."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flows import run_names
from prefixcache.artifact import Artifact, FileRef
from prefixcache.config import PrefixCacheDatasetConfig
from tasks.build_shards import build_shards
from tasks.hash_blocks import hash_blocks
from tasks.plan_lengths import plan_lengths
from tests.support.datasets import config_of


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Parameters as Prefect hands them to the functions that name a run."""
    return lambda **values: monkeypatch.setattr("flows.run_names.flow_run.get_parameters", lambda: values)


def dataset(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"dataset_id": "demo"}))
    return folder


def test_generate_is_named_after_the_dataset(given: Any, tmp_path: Path) -> None:
    config = config_of(dataset_id="of_the_form")
    assert isinstance(config, PrefixCacheDatasetConfig)
    given(config=config)
    assert run_names.name_of_generate() == "of_the_form"
    file = tmp_path / "of_the_file.yaml"
    file.write_text("request_count: 12\ninput_length: 200\ntarget: {hit_ratio: 0.5}\n")
    given(config=None, config_file=str(file))
    assert run_names.name_of_generate() == "of_the_file"
    given(config=None, config_file=str(file), settings=["dataset_id=set"])
    assert run_names.name_of_generate() == "set"


@pytest.mark.parametrize(
    ("urls", "name"),
    [
        (["http://127.0.0.1:8000"], "demo on 127.0.0.1:8000"),
        (["http://me:hunter2@host/v1/completions?key=hunter2#hunter2"], "demo on host"),
        (["http://a:1", "http://b:2", "http://c:3"], "demo on a:1 and 2 more"),
        (["https://[::1]:8000"], "demo on [::1]:8000"),
        (["hunter2"], "demo"),
        (["http://me:hunter2/x@host"], "run"),
    ],
)
def test_run_is_named_after_dataset_and_host(given: Any, tmp_path: Path, urls: list[str], name: str) -> None:
    given(dataset=str(dataset(tmp_path / "ds")), url=urls)
    assert run_names.name_of_run() == name


def test_report_is_named_as_its_run(given: Any, tmp_path: Path) -> None:
    dataset(tmp_path / "dataset")
    (tmp_path / "runtime").mkdir()
    (tmp_path / "runtime" / "run.json").write_text(json.dumps({"servers": [{"endpoint": "http://127.0.0.1:8000"}]}))
    given(run_dir=str(tmp_path))
    assert run_names.name_of_report() == "demo on 127.0.0.1:8000"


@pytest.mark.parametrize("values", [{}, {"config_file": "/no/such"}, {"dataset": "/no", "url": 3, "run_dir": None}])
def test_wrong_parameters_are_no_reason_to_fail(given: Any, values: dict[str, Any]) -> None:
    given(**values)
    names = (run_names.name_of_generate(), run_names.name_of_run(), run_names.name_of_report())
    assert names == ("generate", "run", "report")


def name_of(task: Any, *inputs: Any) -> str:
    name: str = task.task_run_name(parameters={"root": None, "job": None, "inputs": inputs})
    return name


def test_mapped_tasks_are_named_after_their_shard() -> None:
    def artifact(kind: str, path: str) -> Artifact:
        return Artifact(kind=kind, files=(FileRef(path=path, sha256="", bytes=0),), rows=0)

    plan, shard = artifact("plan", "plan.parquet"), artifact("shard", "shards/requests-00003.parquet")
    assert name_of(build_shards, "00003", plan) == "build_shards 00003"
    assert name_of(hash_blocks, artifact("frame", "frame.json"), shard) == "hash_blocks 00003"
    assert name_of(build_shards, "warmup", plan) == "build_shards warmup"
    assert name_of(plan_lengths, plan) == "plan_lengths"
