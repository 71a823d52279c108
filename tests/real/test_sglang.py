"""A real SGLang at page sizes 1 and 32: designed hits are its counters, and its tree under eviction is the model's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from prefixcache.simulation.dataset import simulate_dataset
from tests.cache.models.slow_radix import SlowRadix
from tests.cache.models.workloads import Request
from tests.real.environment.server import Engine, RealServer, Sglang
from tests.real.playing import check_exact, play
from tests.real.probing import check_probe
from tests.real.scenarios import ANY_BLOCK, TIGHT, Scenario
from tests.real.traces import sent_by

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real"), pytest.mark.timeout(3600)]
TOKENS = 2048


@pytest.fixture(scope="module", params=[1, 32])
def roomy(request: pytest.FixtureRequest, server_of: Callable[[Engine], RealServer]) -> RealServer:
    return server_of(Sglang(request.param))


@pytest.fixture(scope="module", params=[1, 32])
def tight(request: pytest.FixtureRequest, server_of: Callable[[Engine], RealServer]) -> RealServer:
    return server_of(Sglang(request.param, TOKENS))


@pytest.mark.parametrize("scenario", ANY_BLOCK, ids=lambda s: s.name)
def test_counters_equal_the_design(roomy: RealServer, scenario: Scenario, tmp_path: Path) -> None:
    assert isinstance(roomy.engine, Sglang)
    check_exact(play(scenario, tmp_path, roomy.engine.page_size, roomy.url), scenario)


@pytest.mark.parametrize("scenario", TIGHT, ids=lambda s: s.name)
def test_the_radix_models_are_the_server(tight: RealServer, scenario: Scenario, tmp_path: Path) -> None:
    """`prefixcache simulate`, and the slow model over token ids that is its oracle elsewhere."""
    assert isinstance(tight.engine, Sglang)
    page = tight.engine.page_size
    played = play(scenario, tmp_path, page, tight.url)
    assert (played.summary.status, played.summary.failed_requests) == ("complete", 0)
    told = simulate_dataset(played.dataset, engine="sglang", num_blocks=TOKENS // page)
    fast = {each["name"]: [row["hit_tokens"] for row in each["requests"]] for each in told["passes"]}
    sent, slow = sent_by(played.dataset, page), SlowRadix(TOKENS, page)
    outputs = sent.measured.output_tokens.tolist()
    for name, figures in played.passes.items():
        slow.reset()
        for ids in sent.warmup_ids if name == "hot" else ():
            slow.run(Request(tuple(ids)))
        prompts = zip(sent.request_ids, outputs, strict=True)
        hits = [slow.run(Request(tuple(ids), output))[0] for ids, output in prompts]
        assert played.answered(name) == hits == fast[name]
        assert figures["measured_hit_tokens"] == sum(hits) < sum(played.designed(name))


def test_the_probe_names_the_truth(roomy: RealServer) -> None:
    assert isinstance(roomy.engine, Sglang)
    page = roomy.engine.page_size
    check_probe(roomy, framework="sglang", block_size=page, hit_unit=page, reset="POST /flush_cache", dp_size=1)
