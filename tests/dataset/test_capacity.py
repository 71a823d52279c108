"""Datasets planned for caches that evict: certificate, validation, another order, and a run on such a cache."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from prefixcache.dataset.check import check_dataset
from prefixcache.dataset.reorder import reorder_dataset
from prefixcache.errors import InputError
from prefixcache.files import read_json, read_jsonl
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.dataset.test_check import failed, reseal
from tests.support.datasets import config_of, digest_of, made

BLOCKS = 90
SHAPE: dict[str, Any] = {
    "request_count": 60,
    "input_length": {"mode": "uniform", "min": 40, "max": 600},
    "output_length": {"mode": "uniform", "min": 1, "max": 30},
    "prefix": {"group_count": 3},
    "planning": {"assume": "capacity", "num_blocks": BLOCKS},
}
MODES: dict[str, dict[str, Any]] = {
    "cold": {},
    "compare": {"execution": {"mode": "compare"}},
    "warmup": {"execution": {"mode": "warmup"}, "target": {"hit_ratio": 0.5, "semantics": "static_prefix_ratio"}},
    "replay": {"execution": {"mode": "replay"}, "target": None},
}


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("capacity")
    for name, changes in MODES.items():
        made(root / name, **{**SHAPE, **changes})
    return {path.name: path for path in root.iterdir()}


@pytest.mark.parametrize("mode", MODES)
def test_the_certificate_is_that_of_the_pool_and_validate_agrees(sets: dict[str, Path], mode: str) -> None:
    report, manifest = (read_json(sets[mode] / name) for name in ("validation_report.json", "manifest.json"))
    assert report["certificate"]["holds"] and f"pool of {BLOCKS} blocks" in report["certificate"]["simulator"]
    assert (manifest["planning"]["assume"], manifest["planning"]["num_blocks"]) == ("capacity", BLOCKS)
    assert report["capacity"]["num_blocks"] == BLOCKS
    result = check_dataset(sets[mode])
    assert (result["intact"], result["validation_status"]) == (True, "PASS"), result["checks"]


@pytest.mark.engine
@pytest.mark.parametrize("mode", MODES)
def test_a_server_with_such_a_cache_measures_the_design(sets: dict[str, Path], mode: str, tmp_path: Path) -> None:
    with EngineProcess(EngineOptions("embedded", num_blocks=BLOCKS)) as engine:
        summary = run_benchmark(sets[mode], tmp_path / "run", RunOptions(urls=(engine.url,), concurrency=1))
    assert summary.status == "complete"
    assert [p["measured_hit_tokens"] for p in summary.passes] == [p["expected_hit_tokens"] for p in summary.passes]
    warned = {w["code"] for w in read_json(tmp_path / "run" / "runtime" / "run.json")["warnings"]}
    assert not warned & {"kv_capacity", "capacity_differs", "capacity_in_flight"}


@pytest.mark.engine
def test_another_cache_or_several_in_flight_are_warned_of(sets: dict[str, Path], tmp_path: Path) -> None:
    with EngineProcess(EngineOptions("embedded", num_blocks=BLOCKS * 20)) as engine:
        run_benchmark(sets["cold"], tmp_path / "run", RunOptions(urls=(engine.url,), concurrency=4))
    warned = {w["code"] for w in read_json(tmp_path / "run" / "runtime" / "run.json")["warnings"]}
    assert {"capacity_differs", "capacity_in_flight"} <= warned


def test_designed_hits_fall_short_of_the_watermarks_where_blocks_are_evicted(sets: dict[str, Path]) -> None:
    rows = list(read_jsonl(sets["cold"] / "request_metadata.jsonl"))
    model = [min(row["planned_prefix_len"], row["cached_watermark_before"]) for row in rows]
    hits = [row["expected_hit_len"] for row in rows]
    assert all(hit <= most for hit, most in zip(hits, model, strict=True)) and sum(hits) < sum(model)


def test_another_order_is_simulated_in_the_same_cache(sets: dict[str, Path], tmp_path: Path) -> None:
    report = reorder_dataset(sets["compare"], tmp_path / "new", "shuffle")
    assert report["expected_hit_tokens"] != read_json(sets["compare"] / "validation_report.json")["expected_hit_tokens"]
    assert check_dataset(tmp_path / "new")["intact"]


def test_another_number_of_blocks_in_the_manifest_is_found(sets: dict[str, Path], tmp_path: Path) -> None:
    for blocks in (BLOCKS - 25, 4000):
        copy = Path(shutil.copytree(sets["cold"], tmp_path / str(blocks)))
        manifest = read_json(copy / "manifest.json")
        manifest["planning"]["num_blocks"] = manifest["config"]["planning"]["num_blocks"] = blocks
        (copy / "manifest.json").write_text(json.dumps(manifest))
        reseal(copy)
        assert "certificate" in failed(copy)


def test_unbounded_datasets_stay_what_they_were(tmp_path: Path) -> None:
    plain = {key: value for key, value in SHAPE.items() if key != "planning"}
    made(tmp_path / "a", **plain)
    made(tmp_path / "b", **plain, planning={"assume": "unbounded"})
    assert digest_of(tmp_path / "a") == digest_of(tmp_path / "b")
    manifest = read_json(tmp_path / "a" / "manifest.json")
    assert "assume" not in manifest["planning"] and "assume" not in manifest["config"]["planning"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"planning": {"assume": "capacity"}}, "planning.num_blocks"),
        ({"planning": {"num_blocks": 100}}, "planning.num_blocks"),
        ({"planning": {"assume": "capacity", "num_blocks": 1}}, "planning.num_blocks"),
        ({"hit_unit": 32}, "hit_unit"),
        ({"request_order": {"mode": "prefix_len_asc"}}, "request_order"),
        ({"planning": {"assume": "capacity", "num_blocks": 99, "objective": "trajectory"}}, "planning.objective"),
    ],
)
def test_what_cannot_be_planned_for_a_capacity(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        config_of(**{**SHAPE, **changes})
    assert (caught.value.field, bool(caught.value.remedy)) == (field, True)
