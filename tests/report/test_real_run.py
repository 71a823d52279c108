"""Generated, served by the reference engine, run and reported: the whole job on a small set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.config import parse_config
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.pipeline import generate_prefix_cache_dataset
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.build import build_prefix_cache_report

pytestmark = pytest.mark.engine


def config(mode: str, **more: Any) -> dict[str, Any]:
    return {
        "dataset_id": f"small_{mode}",
        "seed": 3,
        "request_count": 40,
        "block_size": 16,
        "input_length": {"mode": "truncated_normal", "mean": 300, "std": 80, "min": 100, "max": 500},
        "output_length": 4,
        "target": {"hit_ratio": 0.5},
        "prefix": {"groups": [{"id": "a", "request_weight": 2}, {"id": "b", "request_weight": 1}]},
        "execution": {"mode": mode, "concurrency": 4},
        **more,
    }


def reported(path: Path, settings: dict[str, Any], engine: EngineOptions) -> dict[str, Any]:
    generate_prefix_cache_dataset(parse_config(settings), path / "set")
    with EngineProcess(engine) as process:
        run_benchmark(path / "set", path / "run", RunOptions(urls=(process.url,), poll_interval=0.05))
    return build_prefix_cache_report(path / "run", "zh")


def test_a_cold_and_a_hot_pass_are_exact(tmp_path: Path) -> None:
    report = reported(tmp_path, config("compare"), EngineOptions("embedded"))
    assert (report["verdict"]["code"], report["validation_status"], report["warnings"]) == ("exact", "PASS", [])
    for figures in report["passes"]:
        assert figures["measured_hit_tokens"] == figures["expected_hit_tokens"] == figures["client_cached_tokens"] > 0
        assert figures["runtime_deviation"] == 0
        assert figures["growth"]["designed"] == figures["growth"]["measured"]
    assert report["first_request_hit"]["detected"] is False
    assert report["residue"]["detected"] is False


def test_ranks_have_rows_of_their_own(tmp_path: Path) -> None:
    routing = {"cache_scope": "dp_local", "dp_size": 2, "policy": "bound"}
    report = reported(tmp_path, config("progressive_prefix_fill", routing=routing), EngineOptions("embedded", dp=2))
    total, *ranks = report["endpoints"]
    assert [r["engine"] for r in ranks] == ["0", "1"]
    for row in (total, *ranks, *report["domains"]):
        assert row["measured_hit_tokens"] == row["expected_hit_tokens"] > 0
    assert report["verdict"]["code"] == "exact"


def test_a_small_cache_shows_as_a_deviation_with_its_evidence(tmp_path: Path) -> None:
    # One request at a time, and five groups' prefixes that take turns in a cache for two: no luck is involved.
    groups = {"groups": [{"id": name, "request_weight": 1} for name in "abcde"]}
    settings = config("progressive_prefix_fill", prefix=groups)
    settings["execution"]["concurrency"] = 1
    report = reported(tmp_path, settings, EngineOptions("embedded", num_blocks=34))
    assert report["verdict"]["code"] == "deviates"
    assert report["runtime_deviation"] < -0.05
    assert "kv_capacity" in report["passes"][0]["verdict"]["evidence"]
    assert report["passes"][0]["differing_requests"]["fewer"] > 0


def test_answers_that_look_like_a_larger_unit_ask_for_a_probe(tmp_path: Path) -> None:
    """The server does not say in which unit it matches."""
    engine = EngineOptions("embedded", block_size=16, hit_unit=32)
    report = reported(tmp_path, config("progressive_prefix_fill"), engine)
    figures = report["passes"][0]
    assert figures["differing_requests"]["count"] == figures["differing_requests"]["fewer"] > 3
    assert figures["coarser_unit"] == 32
    assert "matching in units of 32 tokens" in report["verdict"]["text_en"]
    assert "按 32 Token 粒度匹配" in report["verdict"]["text_zh"]
