"""The models against the plain ones that equalled real servers request by request, where those are at hand."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from prefixcache.cache.models.pool import BlockPool, needed_blocks
from prefixcache.cache.models.radix import RadixCache, least_tokens
from tests.cache.models.workloads import Request, generated, trace_of
from tests.conftest import SHARED


def plain(name: str) -> Any:
    path = SHARED / "real-engines" / f"{name}.py"
    if not path.is_file():
        pytest.skip(f"{path.name} is not there: it is expected in ../shared/real-engines beside the checkout")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def workload(seed: int, count: int = 250) -> list[Request]:
    random = np.random.default_rng(seed)
    masters = [[100_000 * (master + 1) + place for place in range(300)] for master in range(5)]
    requests = []
    for number in range(count):
        cut, own = int(random.integers(0, 300)), int(random.integers(0, 60))
        tail = [1_000 * number + place for place in range(own + (cut == 0))]
        requests.append(Request((*masters[int(random.integers(0, 5))][:cut], *tail), int(random.integers(1, 30))))
        if random.random() < 0.1:
            requests.append(requests[int(random.integers(0, len(requests)))])
    return requests


@pytest.mark.parametrize(("seed", "unit", "spare"), [(1, 4, 0), (2, 16, 20), (3, 16, 200)])
def test_the_pool(seed: int, unit: int, spare: int) -> None:
    requests = workload(seed)
    trace = trace_of(requests, unit)
    blocks = int(needed_blocks(trace).max()) + 1 + spare
    pool = plain("vsim").Pool(blocks, unit)
    expected = [pool.run(request.prompt, out=generated(request)[:-1])[1] for request in requests]
    served = BlockPool(blocks).serve(trace)
    assert served.hits.tolist() == expected
    assert served.evicted.sum() > 0


@pytest.mark.parametrize(("seed", "unit", "spare"), [(1, 1, 100), (2, 16, 0), (3, 16, 2000), (4, 32, 500)])
def test_the_radix_tree(seed: int, unit: int, spare: int) -> None:
    requests = workload(seed)
    trace = trace_of(requests, unit)
    tokens = least_tokens(trace) + spare
    tree = plain("sglsim").Radix(tokens, unit)
    expected = [tree.run(request.prompt, generated(request)) for request in requests]
    served = RadixCache(tokens).serve(trace)
    assert served.hits.tolist() == expected
    assert served.evicted.sum() > 0
