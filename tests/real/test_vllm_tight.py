"""A pool of 64 blocks on a real vLLM: what each request hits under eviction is what the pool model says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from prefixcache.simulation.dataset import simulate_dataset
from tests.cache.models.slow_pool import SlowPool
from tests.cache.models.workloads import Request
from tests.real.environment.server import Engine, RealServer, Vllm
from tests.real.playing import Played, play
from tests.real.scenarios import TIGHT, Scenario
from tests.real.traces import sent_by

pytestmark = [
    pytest.mark.real,
    pytest.mark.real_vllm,
    pytest.mark.xdist_group("real"),
    pytest.mark.timeout(3600),
]
UNIT, BLOCKS = 32, 64


@pytest.fixture(scope="module")
def vllm(server_of: Callable[[Engine], RealServer]) -> RealServer:
    return server_of(Vllm(UNIT, BLOCKS))


def modelled(played: Played) -> dict[str, list[int]]:
    """Hits of each pass as `prefixcache simulate --dataset` says."""
    told = simulate_dataset(played.dataset, engine="vllm", num_blocks=BLOCKS)
    return {each["name"]: [row["hit_tokens"] for row in each["requests"]] for each in told["passes"]}


def slowly_modelled(played: Played) -> dict[str, list[int]]:
    """The same by the oracle of the fast model's own tests, over token ids. The run has emptied the server's cache."""
    sent, pool = sent_by(played.dataset, UNIT), SlowPool(BLOCKS, UNIT)
    outputs = sent.measured.output_tokens.tolist()
    found = {}
    for name in played.passes:
        pool.reset()
        for ids in sent.warmup_ids if name == "hot" else ():
            pool.run(Request(tuple(ids)))
        prompts = zip(sent.request_ids, outputs, strict=True)
        found[name] = [pool.run(Request(tuple(ids), output))[0] for ids, output in prompts]
    return found


@pytest.mark.parametrize("scenario", TIGHT, ids=lambda s: s.name)
def test_the_pool_model_is_the_server(vllm: RealServer, scenario: Scenario, tmp_path: Path) -> None:
    played = play(scenario, tmp_path, UNIT, vllm.url)
    assert (played.summary.status, played.summary.failed_requests) == ("complete", 0)
    fast, slow = modelled(played), slowly_modelled(played)
    for name, figures in played.passes.items():
        assert played.answered(name) == slow[name] == fast[name]
        assert figures["measured_hit_tokens"] == sum(fast[name])
        assert sum(fast[name]) < sum(played.designed(name)), "nothing was missed: the pool is not tight"
