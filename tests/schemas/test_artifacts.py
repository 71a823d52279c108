"""Every artifact that is really written fits its schema; what is changed in it does not."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator

from prefixcache.dataset.reorder import reorder_dataset
from prefixcache.errors import PLACES, VerdictError
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.build import build_prefix_cache_report
from prefixcache.schemas.catalog import MAKERS, schema_files, schema_of
from prefixcache.schemas.versions import VERSIONS
from scripts.write_schemas import FOLDER, differing, main
from tests.support.datasets import made

TWO: dict[str, Any] = {"groups": [{"id": "a"}, {"id": "b"}]}
CASES: dict[str, dict[str, Any]] = {
    "progressive": {},
    "trajectory": {"planning": {"objective": "trajectory"}},
    "warmup": {"execution": {"mode": "warmup"}, "prefix": TWO},
    "compare": {"execution": {"mode": "compare"}},
    "replay": {"execution": {"mode": "replay"}, "target": None},
    "per_group": {
        "prefix": TWO,
        "target": {"scope": "per_group", "groups": [{"id": "a", "hit_ratio": 0.6}, {"id": "b", "hit_ratio": 0.3}]},
    },
    "chat": {"prompt": {"format": "chat", "system": "Be kind."}},
    "token ids": {"prompt": {"form": "ids"}, "execution": {"mode": "warmup"}},
    "unreachable, written": {"target": {"hit_ratio": 0.99}, "validation": {"on_failure": "warn"}},
}
DATASET = {
    "manifest": "manifest.json",
    "validation_report": "validation_report.json",
    "data": "data.jsonl",
    "warmup": "warmup.jsonl",
    "request_metadata": "request_metadata.jsonl",
}
RUN = {
    "request_results": "runtime/request_results.jsonl",
    "run": "runtime/run.json",
    "performance_metrics": "runtime/performance_metrics.json",
    "prefix_cache_metrics": "runtime/prefix_cache_metrics.json",
    "prefix_cache_report": "report/prefix_cache_report.json",
}


def values_of(path: Path) -> list[Any]:
    lines = path.read_bytes().splitlines() if path.suffix == ".jsonl" else [path.read_bytes()]
    return [orjson.loads(line) for line in lines]


def assert_fits(root: Path, files: dict[str, str]) -> set[str]:
    """All of them that are there; returns their kinds."""
    seen = set()
    for kind, name in files.items():
        if (root / name).is_file():
            check = Draft202012Validator(schema_of(kind))
            for value in values_of(root / name):
                assert [f"{name} {e.json_path}: {e.message}" for e in check.iter_errors(value)] == []
                seen.add(kind)
    return seen


@pytest.mark.parametrize("case", CASES)
def test_datasets_fit(case: str, tmp_path: Path) -> None:
    made(tmp_path, **CASES[case])
    assert assert_fits(tmp_path, DATASET) >= DATASET.keys() - {"warmup"}


def test_the_report_of_a_refused_plan_fits(tmp_path: Path) -> None:
    with pytest.raises(VerdictError):
        made(tmp_path, target={"hit_ratio": 0.99})
    assert assert_fits(tmp_path, DATASET) == {"validation_report"}


def test_a_reordered_dataset_fits(tmp_path: Path) -> None:
    made(tmp_path / "old", prefix=TWO)
    reorder_dataset(tmp_path / "old", tmp_path / "new", "shuffle")
    assert assert_fits(tmp_path / "new", DATASET) >= DATASET.keys() - {"warmup"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("schemas")
    made(root / "set", execution={"mode": "compare"}, prefix=TWO)
    with EngineProcess(EngineOptions("embedded")) as process:
        run_benchmark(root / "set", root / "run", RunOptions(urls=(process.url,), poll_interval=0.05))
    build_prefix_cache_report(root / "run")
    return root / "run"


@pytest.mark.engine
def test_a_run_and_its_report_fit(run: Path) -> None:
    assert assert_fits(run, RUN) == RUN.keys()


def mutations(schema: dict[str, Any], value: Any) -> Iterator[tuple[str, Any]]:
    for name in schema["required"]:
        yield f"without {name}", {k: v for k, v in value.items() if k != name}
    for name in value:
        changed = copy.deepcopy(value)
        changed[name] = {"no": ["such", "thing"]} if not isinstance(value[name], dict) else "no object"
        open_object = schema["properties"][name].get("additionalProperties") is True and value[name] is None
        if not open_object:
            yield f"{name} of a wrong type", changed
    yield "unknown property", {**value, "no_such_property": 1}


@pytest.mark.engine
@pytest.mark.parametrize("kind", [*DATASET, *RUN])
def test_changed_artifacts_are_rejected(kind: str, run: Path) -> None:
    schema = schema_of(kind)
    check = Draft202012Validator(schema)
    path = run / "dataset" / DATASET[kind] if kind in DATASET else run / RUN[kind]
    value = values_of(path)[0]
    assert check.is_valid(value)
    passed = [name for name, changed in mutations(schema, value) if check.is_valid(changed)]
    assert passed == []


@pytest.mark.parametrize("kind", sorted(VERSIONS))
def test_each_schema_is_one_and_names_itself(kind: str) -> None:
    schema = schema_of(kind)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"{kind}.schema.json"
    assert schema["title"]
    assert schema["x-schema-version"] == VERSIONS[kind]
    assert MAKERS.keys() == VERSIONS.keys()


def test_published_files_are_those_of_the_package() -> None:
    assert differing(FOLDER) == []


def test_check_finds_what_differs(tmp_path: Path) -> None:
    assert main(["--check"], tmp_path) == 1
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    assert {path.name for path in tmp_path.iterdir()} == schema_files().keys()
    (tmp_path / "run.schema.json").write_text("{}")
    (tmp_path / "old.schema.json").write_text("{}")
    assert differing(tmp_path) == ["old.schema.json", "run.schema.json"]


def test_warnings_of_a_run_fit() -> None:
    """A plain one, and one with the places of an error."""
    shape = schema_of("run")["properties"]["warnings"]
    plain = {"code": "sent_as_ids", "message": "the prompts are sent as ids"}
    places = dict.fromkeys(PLACES) | {"stage": "run_benchmark", "retry_count": 0, "remedy": "Run again."}
    fits = Draft202012Validator(shape).is_valid
    assert fits([plain, plain | {"pass": "cold"} | places])
    assert not fits([{"code": "sent_as_ids"}])
