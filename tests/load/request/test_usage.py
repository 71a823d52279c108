"""Token counts of answers: what is one, what is none, and what is said of either."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prefixcache.engines.http import Timeouts
from prefixcache.load.options import RunOptions, RunSummary
from prefixcache.load.request.usage import Usage, read_usage
from prefixcache.load.run import run_benchmark
from prefixcache.report.build import build_prefix_cache_report
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset

WISHES = [Wish("a", 16), Wish("b", 32), Wish("a", 32)]


@pytest.mark.parametrize("value", ["0", "abc", [1], {"a": 1}, True, -16, 1.5, 16.0, 1e30, 10**20])
@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens", "cached_tokens"])
def test_what_is_no_count_is_not_said(name: str, value: Any) -> None:
    usage: dict[str, Any] = {
        "prompt_tokens": 40,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 16},
    }
    (usage["prompt_tokens_details"] if name == "cached_tokens" else usage)[name] = value
    found = read_usage(usage, Usage())
    assert getattr(found, name) is None
    assert [odd.split()[0] for odd in found.odd] == [name]
    others = {"prompt_tokens": 40, "completion_tokens": 3, "cached_tokens": 16}
    assert all(getattr(found, other) == n for other, n in others.items() if other != name)


def test_counts_and_silence() -> None:
    told = Usage(40, 3, 0)
    assert read_usage({"prompt_tokens": 40, "completion_tokens": 3, "prompt_cache_hit_tokens": 0}, Usage()) == told
    assert read_usage({"prompt_tokens": None, "prompt_tokens_details": None}, told) == told
    assert read_usage({}, Usage()) == Usage()


def run(tmp_path: Path, usage: Any) -> tuple[RunSummary, dict[str, Any]]:
    dataset = make_dataset(tmp_path / "set", WISHES)
    with FakeServer(usage=usage, counted_hits=lambda n: 16 * (n == 2)) as server:
        options = RunOptions((server.url,), timeouts=Timeouts(2, 2, 5), poll_interval=0.05, quiesce_timeout=1.0)
        summary = run_benchmark(dataset, tmp_path / "run", options)
    return summary, build_prefix_cache_report(tmp_path / "run")


def warned(summary: RunSummary, code: str) -> str:
    [warning] = [w for w in summary.warnings if w["code"] == code]
    return str(warning["message"])


@pytest.mark.parametrize("value", ["abc", 10**30, -3, [2]])
def test_a_run_outlives_malformed_usage(tmp_path: Path, value: Any) -> None:
    summary, report = run(tmp_path, lambda n, u: u | {"completion_tokens": value})
    assert summary.status == "complete"
    assert "of 3 of 3 answers" in warned(summary, "usage_malformed")
    assert "completion_tokens" in warned(summary, "usage_malformed")
    [figures] = report["passes"]
    assert figures["performance"]["output_tokens"] is None
    assert figures["performance"]["output_token_throughput"] is None


def test_prompt_tokens_as_text_are_not_said_to_differ(tmp_path: Path) -> None:
    summary, _ = run(tmp_path, lambda n, u: u | {"prompt_tokens": str(u["prompt_tokens"])})
    assert summary.status == "complete"
    assert "prompt_tokens a text" in warned(summary, "usage_malformed")


def test_no_usage_is_null(tmp_path: Path) -> None:
    summary, report = run(tmp_path, lambda n, u: None)
    assert "3 of 3 answers say nothing" in warned(summary, "usage_absent")
    assert report["passes"][0]["performance"]["output_tokens"] is None
    [cache] = json.loads((tmp_path / "run" / "runtime" / "prefix_cache_metrics.json").read_text())["passes"]
    assert cache["client"]["prompt_tokens"] is None
    assert cache["prompt_token_check"]["usage_prompt_tokens"] is None


def test_short_answers_are_counted(tmp_path: Path) -> None:
    summary, _ = run(tmp_path, lambda n, u: u | {"completion_tokens": 1 if n else 3})
    text = warned(summary, "output_tokens")
    assert text.startswith("2 of 3 answers have another number of tokens than was asked for (2 instead of 6)")


def test_more_cached_than_prompt_is_shown_and_explained(tmp_path: Path) -> None:
    def usage(number: int, stated: dict[str, Any]) -> dict[str, Any]:
        return stated | {"prompt_tokens_details": {"cached_tokens": 9999 if number == 2 else 0}}

    summary, report = run(tmp_path, usage)
    assert "the first is r2: 9,999 of 56" in warned(summary, "cached_above_prompt")
    assert report["passes"][0]["client_cached_tokens"] == 9999  # not clipped
