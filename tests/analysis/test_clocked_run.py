"""A recorded run of the reference engine, replayed."""

from __future__ import annotations

import socket
from pathlib import Path

import numpy as np
import pytest

from prefixcache.analysis.clocked_run import ClockedPass, clocked_pass
from prefixcache.errors import InputError
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.support.datasets import made

BLOCKS = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`compare` on a pool too small for the set, several requests in flight."""
    root = tmp_path_factory.mktemp("clocked")
    made(root / "set", execution={"mode": "compare", "concurrency": 6, "gating": "none", "warmup_rounds": 2})
    address = f"127.0.0.1:{free_port()}"
    with EngineProcess(
        EngineOptions("embedded", num_blocks=BLOCKS, prefill_tps=50_000, kv_events=f"tcp://{address}")
    ) as engine:
        options = RunOptions(urls=(engine.url,), poll_interval=0.05, kv_events=(f"tcp://{address}",))
        run_benchmark(root / "set", root / "run", options)
    return root / "run"


@pytest.mark.engine
@pytest.mark.parametrize("name", ["cold", "hot"])
def test_hits_told_by_events_are_those_of_the_answers(run: Path, name: str) -> None:
    found: ClockedPass = clocked_pass(run, name)
    told = found.told >= 0
    assert told.sum() >= 0.9 * len(told)
    assert found.told[told].tolist() == found.measured[told].tolist()
    assert found.clock.evicted > 0
    assert found.clock.unknown == 0
    assert sorted(found.clock.admitted) == list(range(len(told)))


@pytest.mark.engine
@pytest.mark.parametrize("name", ["cold", "hot"])
def test_the_model_led_by_the_record_is_near(run: Path, name: str) -> None:
    """The reference engine computes a prompt in one piece and promises blocks of outputs: near, not equal."""
    found = clocked_pass(run, name)
    assert found.deviation is not None
    assert abs(found.deviation) < 0.03
    assert np.abs(found.served.hits - found.measured).max() < found.input_tokens.max()


@pytest.mark.engine
def test_what_was_not_recorded_is_told(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no KV events were recorded in the pass replay"):
        clocked_pass(run, "replay")
    with pytest.raises(InputError, match="not a readable run directory"):
        clocked_pass(tmp_path, "cold")
