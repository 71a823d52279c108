"""Two data-parallel ranks of a real vLLM: each rank's own counters equal its cache domain's design."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real.environment.server import Engine, RealServer, Vllm
from tests.real.playing import check_exact, play
from tests.real.probing import check_probe
from tests.real.scenarios import RANKS, Scenario

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real"), pytest.mark.timeout(3600)]
UNIT = 32


@pytest.fixture(scope="module")
def vllm(server_of: Callable[[Engine], RealServer]) -> RealServer:
    return server_of(Vllm(UNIT, 4096, ranks=2))


@pytest.mark.parametrize("scenario", RANKS, ids=lambda s: s.name)
def test_each_rank_counts_its_own_design(vllm: RealServer, scenario: Scenario, tmp_path: Path) -> None:
    played = play(scenario, tmp_path, UNIT, vllm.url)
    check_exact(played, scenario)
    for name, figures in played.passes.items():
        own = {0: 0, 1: 0}
        for row in played.requests[name]:
            own[row["planned_dp_id"]] += row["expected_hit_len"]
        engines = figures["endpoints"][0]["engines"]
        assert [engine["engine"] for engine in engines] == ["0", "1"]
        assert [engine["counters"]["hits"]["delta"] for engine in engines] == [own[0], own[1]]
        assert [domain["route_confirmed"] for domain in figures["domains"]] == [True, True]
        assert all(domain["measured_hit_tokens"] == domain["expected_hit_tokens"] for domain in figures["domains"])
        assert min(own.values()) > 0


def test_one_shared_cache_on_two_ranks_is_told(vllm: RealServer, tmp_path: Path) -> None:
    """The plan of one cache is not true on two: the run warns before it, and measures fewer hits."""
    played = play(Scenario("shared", {"request_order": "shuffle"}), tmp_path, UNIT, vllm.url)
    assert "more_ranks" in {warning["code"] for warning in played.summary.warnings}
    [figures] = played.passes.values()
    assert figures["measured_hit_tokens"] < figures["expected_hit_tokens"]


def test_the_probe_reaches_a_rank(vllm: RealServer) -> None:
    truth = {"framework": "vllm", "block_size": UNIT, "hit_unit": UNIT, "dp_size": 2}
    report = check_probe(vllm, rank_route="header X-data-parallel-rank", **truth)
    assert {reading.rank for reading in report.findings["hit_unit"].readings} == {0}
