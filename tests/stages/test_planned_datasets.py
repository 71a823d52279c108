"""Whole datasets of each way to plan: built, proven by the certificate, and found intact by `validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.config import PrefixCacheDatasetConfig, parse_config
from prefixcache.dataset.check import check_dataset
from prefixcache.files import read_json, read_jsonl
from prefixcache.pipeline import generate_prefix_cache_dataset

GROUPS = {"groups": [{"id": "a", "request_weight": 2}, {"id": "b", "request_weight": 1}]}
CASES: dict[str, dict[str, Any]] = {
    "hit drop, cold": {"hit_drop": 1, "target": {"hit_ratio": 0.5}},
    "hit drop, both passes": {"hit_drop": 2, "target": {"hit_ratio": 0.4}, "execution": {"mode": "compare"}},
    "targets per group": {
        "target": {"scope": "per_group", "groups": [{"id": "a", "hit_ratio": 0.6}, {"id": "b", "hit_ratio": 0.3}]}
    },
    "a system text before every prompt": {
        "prompt": {"system": "You are a careful assistant who answers briefly and names the steps of the solution."},
        "target": {"hit_ratio": 0.5},
        "block_size": 4,
    },
    "a system text, a drop and both passes": {
        "prompt": {"system": "You are a careful assistant who answers briefly and names the steps of the solution."},
        "target": {"hit_ratio": 0.6, "semantics": "static_prefix_ratio"},
        "execution": {"mode": "compare"},
        "block_size": 4,
        "hit_drop": 1,
        "routing": {"cache_scope": "dp_local", "dp_size": 2, "policy": "round_robin"},
    },
    "minimal prefix": {"target": {"hit_ratio": 0.5}, "planning": {"objective": "minimal_prefix"}},
    "trajectory": {"target": {"hit_ratio": 0.5}, "planning": {"objective": "trajectory"}},
    "replay": {"execution": {"mode": "replay"}, "hit_drop": 1},
    "listed routes": {
        "target": {"hit_ratio": 0.4},
        "routing": {"cache_scope": "dp_local", "dp_size": 2, "group_domains": {"a": 1, "b": 0}},
    },
    "random routes": {
        "target": {"hit_ratio": 0.4},
        "routing": {"cache_scope": "dp_local", "dp_size": 2, "policy": "random"},
    },
}


def config_of(changes: dict[str, Any]) -> PrefixCacheDatasetConfig:
    raw = {
        "dataset_id": "p",
        "seed": 5,
        "request_count": 45,
        "input_length": {"mode": "uniform", "min": 80, "max": 500},
    }
    return parse_config({**raw, "prefix": GROUPS, **changes})


@pytest.mark.parametrize("name", CASES)
def test_the_certificate_holds_and_validate_agrees(name: str, tmp_path: Path) -> None:
    result = generate_prefix_cache_dataset(config_of(CASES[name]), tmp_path)
    report = result.report
    assert report["certificate"]["holds"]
    assert result.status == "PASS"
    found = check_dataset(tmp_path)
    assert found["intact"], [check for check in found["checks"] if not check["ok"]]
    assert found["validation_status"] == "PASS"
    for key in ("expected_hit_tokens", "target_hit_ratio", "signed_deviation"):
        assert found[key] == report[key], key


def test_a_replay_plans_no_target_and_every_request_hits_itself(tmp_path: Path) -> None:
    generate_prefix_cache_dataset(config_of(CASES["replay"]), tmp_path)
    manifest = read_json(tmp_path / "manifest.json")
    assert manifest["target"] == {"scope": None, "hit_ratio": None, "semantics": None}
    assert [row["name"] for row in manifest["passes"]] == ["replay"]
    for row in read_jsonl(tmp_path / "request_metadata.jsonl"):
        assert row["expected_hit_len"] == max(0, (row["input_len"] - 1) // 16 - 1) * 16


def test_a_broken_drop_is_found(tmp_path: Path) -> None:
    """The manifest's hit_drop is what rows are checked against."""
    generate_prefix_cache_dataset(config_of(CASES["hit drop, cold"]), tmp_path)
    path = tmp_path / "manifest.json"
    text = path.read_text()
    assert text.count('"hit_drop": 1') >= 1 or text.count('"hit_drop":1') >= 1
    path.write_text(text.replace('"hit_drop": 1', '"hit_drop": 0').replace('"hit_drop":1', '"hit_drop":0'))
    found = check_dataset(tmp_path)
    assert not found["intact"]
    broken = {check["name"] for check in found["checks"] if not check["ok"]}
    assert {"watermarks", "certificate"} <= broken
