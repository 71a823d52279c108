"""A second tier behind a real vLLM: local and external hits are counted apart, and a tier that stays is noticed.

The tier is vLLM's ExampleConnector: it keeps prompts on disk, each up to its last full block, and finds one only if all
of it is there. Asked to empty its external caches, the server answers that it has, and the tier still serves.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prefixcache.errors import EnvironmentFailure
from prefixcache.load.run import run_benchmark
from tests.real.environment.server import Engine, RealServer, Vllm
from tests.real.playing import Played, check_exact, of_both_tiers, play, run
from tests.real.scenarios import GROUPS, Scenario
from tests.support.reading import warned_of

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real"), pytest.mark.timeout(3600)]
UNIT = 32


@pytest.fixture(scope="module")
def vllm(server_of: Callable[[Engine], RealServer]) -> RealServer:
    return server_of(Vllm(UNIT, 4096, external=True))


@pytest.fixture(scope="module", params=[1, 16])
def first(request: pytest.FixtureRequest, vllm: RealServer, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A run of content that the tier has never seen."""
    count = request.param
    scenario = Scenario(f"{count} at a time", {"prefix": GROUPS, "seed": 100 + count}, count)
    played = play(scenario, tmp_path_factory.mktemp("first"), UNIT, vllm.url)
    check_exact(played, scenario)
    return played


def counted(figures: dict[str, Any]) -> dict[str, int]:
    return {name: round(entry["delta"]) for name, entry in figures["global"]["counters"].items() if entry["delta"]}


def test_unseen_prompts_ask_the_tier_for_what_is_not_local(first: Played) -> None:
    [figures] = first.passes.values()
    counters = counted(figures)
    assert counters["external_queries"] == counters["queries"] - counters["hits"]
    assert "external_hits" not in counters
    assert figures["total_hit_rate"] == figures["actual_hit_rate"] == figures["designed_hit_ratio"]


def test_a_tier_that_was_not_emptied_stops_the_run(vllm: RealServer, first: Played, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailure, match="not empty"):
        run(Scenario("again"), first.dataset, tmp_path / "run", vllm.url)


def test_hits_of_both_tiers_add_up_and_are_kept_apart(vllm: RealServer, first: Played, tmp_path: Path) -> None:
    """All prompts again: local hits as designed, the rest of each prompt up to its last full block from the tier."""
    options = replace(Scenario("again").options(vllm.url), allow_residue=True)
    summary = run_benchmark(first.dataset, tmp_path / "run", options)
    assert (summary.status, warned_of(summary.warnings)) == ("complete", ["residue"])
    runtime = tmp_path / "run" / "runtime"
    [figures] = json.loads((runtime / "prefix_cache_metrics.json").read_text())["passes"]
    rows = [json.loads(line) for line in (runtime / "request_results.jsonl").read_text().splitlines()]
    whole = [of_both_tiers(row, UNIT) for row in rows]
    assert [row["cached_tokens"] for row in rows] == whole
    assert sum(whole) > sum(row["expected_hit_len"] for row in rows)
    counters = counted(figures)
    assert counters["external_hits"] == counters["prompt_tokens_external"] == sum(whole) - counters["hits"]
    assert counters["external_queries"] == counters["queries"] - counters["hits"]
    assert figures["total_hit_rate"] == pytest.approx(sum(whole) / counters["queries"], abs=1e-12)
