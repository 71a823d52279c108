"""Slower tiers behind a dataset's caches: counters per tier, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from prefixcache.errors import InputError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.schemas.catalog import schema_of
from prefixcache.simulation.dataset import simulate_dataset
from prefixcache.simulation.tiers import tier_counters
from tests.support.datasets import made

SPLIT: dict[str, Any] = {
    "prefix": {"groups": [{"id": "a"}, {"id": "b"}]},
    "routing": {"cache_scope": "dp_local", "dp_size": 2, "policy": "group_round_robin"},
}
SMALL = 30


@pytest.fixture(scope="module")
def compare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tiers") / "set"
    made(root, execution={"mode": "compare"}, output_length=7, **SPLIT)
    return root


def test_the_total_of_a_server_with_tiers_is_neither_sum_nor_mean_of_ratios() -> None:
    """The counters of a published UCM log: 32.8 % and 73.3 % are 82.05 % in total."""
    hits = {"device": np.array([14_592]), "external": np.array([21_888])}
    rows = tier_counters(hits, np.array([44_460]))
    assert [row["query_tokens"] for row in rows] == [44_460, 29_868]
    assert [round(row["hit_ratio"], 3) for row in rows] == [0.328, 0.733]
    assert round(sum(row["hit_tokens"] for row in rows) / rows[0]["query_tokens"], 4) == 0.8205


@pytest.mark.parametrize("write", ["through", "evicted"])
def test_tiers_without_a_limit_hit_what_an_unbounded_cache_hits(write: str, compare: Path) -> None:
    ideal = simulate_dataset(compare)
    found = simulate_dataset(compare, num_blocks=SMALL, external_blocks="unbounded", tier_write=write)
    assert found["tiers"] == {"write": write, "host_blocks": None, "external_blocks": "unbounded"}
    for figures, best in zip(found["passes"], ideal["passes"], strict=True):
        assert [row["hit_tokens"] for row in figures["requests"]] == [row["hit_tokens"] for row in best["requests"]]
        device, external = figures["tiers"]
        assert device["hit_tokens"] < figures["hit_tokens"] == device["hit_tokens"] + external["hit_tokens"]


def test_each_tier_is_asked_for_what_no_faster_one_had(compare: Path) -> None:
    plain = simulate_dataset(compare, num_blocks=SMALL)
    found = simulate_dataset(compare, num_blocks=SMALL, host_blocks=45, external_blocks=100)
    for figures, alone in zip(found["passes"], plain["passes"], strict=True):
        device, host, external = figures["tiers"]
        assert (device["tier"], host["tier"], external["tier"]) == ("device", "host", "external")
        assert device["query_tokens"] == figures["input_tokens"]
        assert device["hit_tokens"] == alone["hit_tokens"]
        assert host["query_tokens"] == device["query_tokens"] - device["hit_tokens"]
        assert external["query_tokens"] == host["query_tokens"] - host["hit_tokens"]
        assert min(host["hit_tokens"], external["hit_tokens"]) > 0
        total = device["hit_tokens"] + host["hit_tokens"] + external["hit_tokens"]
        assert figures["token_hit_ratio"] == total / figures["input_tokens"]
        for row in figures["requests"]:
            assert row["hit_tokens"] == sum(row[f"{tier}_hit_tokens"] for tier in ("device", "host", "external"))
    assert Draft202012Validator(schema_of("dataset_simulation")).is_valid(found)
    assert "measured block for block" in found["warnings"][-1]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"num_blocks": 60, "concurrency": 4}, "--host-blocks"),
        ({"num_blocks": 60, "with_sweep": True}, "--host-blocks"),
        ({"num_blocks": None}, "--host-blocks"),
        ({"engine": "unbounded"}, "--host-blocks"),
        ({"engine": "independent_block", "num_blocks": 60}, "--host-blocks"),
        ({"engine": "sglang", "num_blocks": 60, "tier_write": "evicted"}, "--host-blocks"),
        ({"num_blocks": 60, "tier_write": "sometimes"}, "--tier-write"),
        ({"num_blocks": 60, "tier_write": "through", "host_blocks": None}, "--tier-write"),
    ],
)
def test_what_is_not_modelled_is_refused(options: dict[str, Any], field: str, compare: Path) -> None:
    with pytest.raises(InputError) as caught:
        simulate_dataset(compare, **{"host_blocks": 100, **options})
    assert caught.value.field == field
    assert caught.value.remedy
    assert chinese_of(caught.value.message) != caught.value.message or "is unknown" in caught.value.message


def test_tiers_and_thrown_away_matches_are_refused(tmp_path: Path) -> None:
    made(tmp_path / "set", hit_drop=1)
    with pytest.raises(InputError, match="hit_drop of 1 are not modelled"):
        simulate_dataset(tmp_path / "set", num_blocks=60, host_blocks=10)
