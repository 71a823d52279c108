"""Blocks of 64 and 128 tokens on a real vLLM: designed hits are its counters, token for token."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from prefixcache.errors import InputError
from tests.real.environment.server import Engine, RealServer, Vllm
from tests.real.playing import check_exact, play, run
from tests.real.probing import check_probe
from tests.real.scenarios import ANY_BLOCK, Scenario, make

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real"), pytest.mark.timeout(3600)]


@pytest.fixture(scope="module", params=[64, 128])
def vllm(request: pytest.FixtureRequest, server_of: Callable[[Engine], RealServer]) -> Iterator[RealServer]:
    yield server_of(Vllm(request.param, 4096))


@pytest.mark.parametrize("scenario", ANY_BLOCK, ids=lambda s: s.name)
def test_counters_equal_the_design(vllm: RealServer, scenario: Scenario, tmp_path: Path) -> None:
    assert isinstance(vllm.engine, Vllm)
    check_exact(play(scenario, tmp_path, vllm.engine.block_size, vllm.url), scenario)


def test_another_block_size_is_refused(vllm: RealServer, tmp_path: Path) -> None:
    """What is planned in blocks of 32 would be something else here; the server says so before any load."""
    scenario = ANY_BLOCK[0]
    dataset = make(scenario, tmp_path / "dataset", 32)
    with pytest.raises(InputError, match="block"):
        run(scenario, dataset, tmp_path / "run", vllm.url)
    assert not (tmp_path / "run").exists()


def test_the_probe_names_the_truth(vllm: RealServer) -> None:
    assert isinstance(vllm.engine, Vllm)
    size = vllm.engine.block_size
    check_probe(vllm, framework="vllm", block_size=size, hit_unit=size, reset="POST /reset_prefix_cache", dp_size=1)
