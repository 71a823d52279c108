"""Datasets that were really made, in caches that are too small, split otherwise, or hashed at another block size."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from jsonschema import Draft202012Validator

from prefixcache.cache.certificate import KeyedPrompts, simulate_pass
from prefixcache.dataset.contents import read_contents
from prefixcache.errors import InputError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.schemas.catalog import schema_of
from prefixcache.simulation.dataset import simulate_dataset
from tests.cache.models.slow_pool import SlowPool
from tests.cache.models.workloads import Request
from tests.support.datasets import made

TWO: dict[str, Any] = {"prefix": {"groups": [{"id": "a"}, {"id": "b"}]}}
SPLIT: dict[str, Any] = TWO | {"routing": {"cache_scope": "dp_local", "dp_size": 2, "policy": "group_round_robin"}}


@pytest.fixture(scope="module")
def compare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two groups over two domains, a cold and a hot pass."""
    root = tmp_path_factory.mktemp("simulated") / "set"
    made(root, execution={"mode": "compare"}, output_length=7, **SPLIT)
    return root


def totals(report: dict[str, Any]) -> dict[str, int]:
    return {row["name"]: row["hit_tokens"] for row in report["passes"]}


@pytest.mark.parametrize("mode", ["progressive_prefix_fill", "warmup", "replay"])
def test_where_there_is_room_every_request_hits_as_designed(mode: str, tmp_path: Path) -> None:
    target = {"target": None} if mode == "replay" else {}
    made(tmp_path / "set", execution={"mode": mode}, **SPLIT, **target)
    for engine in ("lru", "vllm", "sglang", "unbounded"):
        report = simulate_dataset(
            tmp_path / "set", engine=engine, num_blocks=None if engine == "unbounded" else 100_000
        )
        for figures in report["passes"]:
            rows = figures["requests"]
            assert [row["hit_tokens"] for row in rows] == [row["expected_hit_len"] for row in rows]
            assert figures["hit_tokens"] == figures["expected_hit_tokens"] > 0
            assert figures["evicted_blocks"] == 0


@pytest.mark.parametrize(
    "rules", [{"cache_match_semantics": "independent_block"}, {"cache_match_semantics": "content_defined_chunk"}]
)
def test_caches_that_match_anywhere_hit_as_designed(rules: dict[str, Any], tmp_path: Path) -> None:
    made(tmp_path / "set", suffix={"collision_detection": rules}, input_length=320, block_size=64)
    report = simulate_dataset(tmp_path / "set", engine=rules["cache_match_semantics"])
    assert report["passes"][0]["hit_tokens"] == report["passes"][0]["expected_hit_tokens"] > 0
    small = simulate_dataset(tmp_path / "set", engine=rules["cache_match_semantics"], num_blocks=2)
    assert small["passes"][0]["hit_tokens"] < report["passes"][0]["hit_tokens"]
    assert "not measured" in small["warnings"][0]


@pytest.mark.parametrize("unit", [1, 4, 16, 24, 48])
def test_any_block_size_gives_what_the_certificate_gives(unit: int, compare: Path) -> None:
    contents = read_contents(compare)
    domains = contents.numbers("planned_dp_id").tolist()
    requests = KeyedPrompts.of(zip(contents.ids, domains, strict=True), unit)
    warm = [(np.array(row["prompt_token_ids"], dtype=np.int32), row["planned_dp_id"]) for row in contents.warmup]
    report = simulate_dataset(compare, block_size=unit)
    for figures in report["passes"]:
        expected = simulate_pass(figures["name"], requests, KeyedPrompts.of(warm, unit), unit)
        assert [row["hit_tokens"] for row in figures["requests"]] == expected.tolist()
    assert bool(report["warnings"]) == (unit not in contents.manifest["valid_hit_units"])


@pytest.mark.parametrize("blocks", [30, 45, 90])
def test_a_small_pool_per_domain_serves_tokens_as_the_slow_one_does(blocks: int, compare: Path) -> None:
    contents = read_contents(compare)
    report = simulate_dataset(compare, num_blocks=blocks)
    for figures in report["passes"]:
        pools = [SlowPool(blocks, 16) for _ in range(2)]
        if figures["name"] == "hot":
            for row in contents.warmup:
                pools[row["planned_dp_id"]].run(Request(tuple(row["prompt_token_ids"])))
        for row, ids, planned in zip(figures["requests"], contents.ids, contents.metadata, strict=True):
            expected = pools[planned["planned_dp_id"]].run(Request(tuple(ids.tolist()), 7))
            assert (row["hit_tokens"], row["evicted_blocks"], row["used_blocks"]) == expected
            assert row["domain"] == planned["planned_dp_id"]
        assert figures["evicted_blocks"] > 0


def test_figures_of_groups_and_domains_are_sums_of_the_requests(compare: Path) -> None:
    report = simulate_dataset(compare, num_blocks=40)
    for figures in report["passes"]:
        rows = pl.DataFrame(figures["requests"])
        for listed, column, key in (
            (figures["groups"], "prefix_group_id", "group_id"),
            (figures["domain_figures"], "domain", "domain"),
        ):
            assert len(listed) == 2
            for part in listed:
                mine = rows.filter(pl.col(column) == part[key])
                assert part["request_count"] == len(mine)
                assert part["hit_tokens"] == mine["hit_tokens"].sum()
                assert part["token_hit_ratio"] == mine["hit_tokens"].sum() / mine["input_len"].sum()
        held = {0: 0, 1: 0}
        for row, point in zip(figures["requests"], figures["usage"], strict=True):
            held[row["domain"]] = row["used_blocks"]
            assert point["used_blocks"] == sum(held.values())
            assert point["used_share"] == point["used_blocks"] / 80


SHUFFLED: dict[str, Any] = TWO | {
    "execution": {"mode": "warmup"},
    "request_order": "shuffle",
    "request_count": 18,
    "input_length": {"mode": "uniform", "min": 40, "max": 120},
}


@pytest.fixture(scope="module")
def shuffled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shuffled") / "set"
    made(root, **SHUFFLED)
    return root


@pytest.mark.parametrize("policy", ["round_robin", "group_round_robin", "bound", "sticky", "random"])
def test_other_routes_are_those_that_a_dataset_made_so_would_have(policy: str, shuffled: Path, tmp_path: Path) -> None:
    """Lengths are the same whatever the routes; prefixes are those of a warm plan."""
    made(tmp_path / "three", **SHUFFLED, routing={"cache_scope": "dp_local", "dp_size": 3, "policy": policy})
    simulated = simulate_dataset(shuffled, domains=3, routing=policy)
    planned = simulate_dataset(tmp_path / "three")
    assert planned["routing"] == "planned"
    homes = [[row["domain"] for row in report["passes"][0]["requests"]] for report in (simulated, planned)]
    assert homes[0] == homes[1]
    assert len(set(homes[0])) == (2 if policy in ("bound", "sticky") else 3)
    assert simulated["passes"][0]["hit_tokens"] == simulated["passes"][0]["expected_hit_tokens"]


def test_domains_of_explicit_routes_stay(compare: Path) -> None:
    one = simulate_dataset(compare, domains=3, routing="explicit")
    assert one["routing"] == "explicit"
    assert [part["request_count"] for part in one["passes"][0]["domain_figures"]] == [20, 20, 0]
    assert one["passes"][0]["domain_figures"][2]["token_hit_ratio"] is None
    with pytest.raises(InputError, match="planned for domain 1, there are 1 domains"):
        simulate_dataset(compare, domains=1, routing="explicit")


def test_one_domain_for_all_hits_more(compare: Path) -> None:
    assert totals(simulate_dataset(compare, domains=1))["cold"] > totals(simulate_dataset(compare))["cold"]


@pytest.mark.parametrize(
    "output", [{"formats": ["jsonl"]}, {"formats": ["parquet"]}, {"prompts": "text"}, {"prompts": "ids"}]
)
def test_ids_are_found_wherever_the_dataset_keeps_them(output: dict[str, Any], tmp_path: Path) -> None:
    made(tmp_path / "set", output=output, execution={"mode": "compare"}, **SPLIT)
    report = simulate_dataset(tmp_path / "set")
    assert [row["hit_tokens"] for row in report["passes"]] == [row["expected_hit_tokens"] for row in report["passes"]]


def test_a_dataset_without_ids_says_what_is_needed(tmp_path: Path) -> None:
    made(tmp_path / "set", output={"prompts": "text"})
    shutil.rmtree(tmp_path / "set" / "shards")
    with pytest.raises(InputError, match="needs the token ids of every prompt") as caught:
        simulate_dataset(tmp_path / "set")
    assert caught.value.field == "--dataset"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"engine": "nonsense"}, "--engine"),
        ({"engine": "sglang", "num_blocks": 60, "concurrency": 4}, "--concurrency"),
        ({"concurrency": 4}, "--num-blocks"),
        ({"gating": "sometimes"}, "--gating"),
        ({"only_pass": "warm"}, "--pass"),
        ({"routing": "nearest"}, "--routing"),
        ({"num_blocks": 5}, "--num-blocks"),
        ({"engine": "sglang", "num_blocks": 5}, "--num-blocks"),
        ({"engine": "unbounded", "num_blocks": 5}, "--num-blocks"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], field: str, compare: Path) -> None:
    with pytest.raises(InputError) as caught:
        simulate_dataset(compare, **options)
    assert caught.value.field == field
    assert caught.value.remedy


def test_a_pass_that_needs_warmup_prompts_is_refused_without(tmp_path: Path) -> None:
    made(tmp_path / "set")
    with pytest.raises(InputError, match="no warmup prompts"):
        simulate_dataset(tmp_path / "set", only_pass="hot")
    replay = simulate_dataset(tmp_path / "set", only_pass="replay")
    assert replay["passes"][0]["expected_hit_tokens"] is None
    assert replay["passes"][0]["token_hit_ratio"] > 0.9


def test_requests_in_flight_hit_as_designed_where_there_is_room(compare: Path) -> None:
    report = simulate_dataset(compare, num_blocks=4000, concurrency=8)
    assert report["gating"] == "watermark"
    for figures in report["passes"]:
        assert figures["hit_tokens"] == figures["expected_hit_tokens"]
        assert figures["in_flight"]["preemptions"] == 0
        assert max(sample["running"] for sample in figures["in_flight"]["samples"]) > 1
    tight = simulate_dataset(compare, num_blocks=30, concurrency=8, max_num_batched_tokens=64, max_num_seqs=4)
    assert totals(tight)["cold"] < totals(report)["cold"]


@pytest.mark.parametrize("engine", ["lru", "vllm", "sglang"])
def test_a_sweep_is_what_single_sizes_give(engine: str, compare: Path) -> None:
    report = simulate_dataset(compare, engine=engine, with_sweep=True)
    for sweep in report["sweeps"]:
        name = sweep["name"]
        assert sweep["method"] == ("stack_distances" if engine == "lru" else "simulated")
        assert sweep["ideal_hit_tokens"] == totals(report)[name]
        for row in [sweep["points"][9], *sweep["needed"]]:
            single = simulate_dataset(compare, engine=engine, num_blocks=row["num_blocks"], only_pass=name)
            assert single["passes"][0]["hit_tokens"] == row["hit_tokens"]
        for row in sweep["needed"]:
            assert row["hit_tokens"] >= row["share"] * sweep["ideal_hit_tokens"]
            if engine == "lru" and row["num_blocks"] > 1:
                less = simulate_dataset(compare, engine=engine, num_blocks=row["num_blocks"] - 1, only_pass=name)
                assert less["passes"][0]["hit_tokens"] < row["share"] * sweep["ideal_hit_tokens"]


def test_a_sweep_says_that_it_is_one_request_at_a_time(compare: Path) -> None:
    options: dict[str, Any] = {"only_pass": "cold", "with_sweep": True}
    both = simulate_dataset(compare, num_blocks=60, concurrency=4, **options)
    assert [said for said in both["warnings"] if "one request at a time" in said]
    assert chinese_of(both["warnings"][-1]).startswith("容量曲线按逐条请求计算")
    assert both["sweeps"] == simulate_dataset(compare, num_blocks=60, **options)["sweeps"]
    with pytest.raises(InputError, match="a sweep serves one request at a time") as caught:
        simulate_dataset(compare, concurrency=4, **options)
    assert caught.value.field == "--concurrency"


def test_what_is_returned_fits_the_schema(compare: Path) -> None:
    check = Draft202012Validator(schema_of("dataset_simulation"))
    reports = [
        simulate_dataset(compare, with_sweep=True),
        simulate_dataset(compare, num_blocks=40, concurrency=4, only_pass="cold"),
        simulate_dataset(compare, only_pass="replay", engine="independent_block"),
    ]
    for report in reports:
        assert [error.message for error in check.iter_errors(report)] == []
        assert not check.is_valid(report | {"more": 1})
