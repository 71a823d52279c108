"""vLLM's pool against a slow one over tokens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixcache.cache.models.lru import RequestLru
from prefixcache.cache.models.pool import BlockPool, needed_blocks
from prefixcache.errors import InputError
from tests.cache.models.slow_pool import SlowPool
from tests.cache.models.workloads import COMPILED, REQUESTS, RESETS, Request, parts_of, trace_of


@COMPILED
@given(REQUESTS, RESETS, st.integers(1, 4), st.integers(0, 6), st.integers(0, 2))
def test_fast_equals_slow(requests: list[Request], resets: list[int], unit: int, spare: int, drop: int) -> None:
    blocks = int(needed_blocks(trace_of(requests, unit)).max()) + 1 + spare
    blocks = max(blocks, 2)
    fast, slow = BlockPool(blocks, drop=drop, tell_evicted=True), SlowPool(blocks, unit, drop)
    known: dict[tuple[int, ...], int] = {}
    for part in parts_of(requests, resets):
        served = fast.serve(trace_of(part, unit, known))
        expected = [slow.run(request) for request in part]
        assert list(zip(served.hits.tolist(), served.evicted.tolist(), served.used.tolist(), strict=True)) == expected
        assert served.gone is not None
        assert len(served.gone) == served.evicted.sum()
        fast.reset()
        slow.reset()


def test_an_ample_pool_hits_what_an_unbounded_cache_does() -> None:
    random = np.random.default_rng(4)
    masters = [tuple(random.integers(0, 50, 60).tolist()) for _ in range(4)]
    requests = [
        Request((*masters[master][:cut], 1000 + number), 3)
        for number, (master, cut) in enumerate(zip(random.integers(0, 4, 80), random.integers(0, 60, 80), strict=True))
    ]
    trace = trace_of(requests, 5)
    ample = BlockPool(5000).serve(trace)
    assert ample.hits.tolist() == RequestLru(None).serve(trace).hits.tolist()
    assert ample.evicted.sum() == 0
    assert ample.hits.sum() > 0


def test_a_prompt_of_whole_blocks_computes_its_last_one_again_beside_the_first() -> None:
    """Four blocks: hits 3 of them, so the last block is there twice; evicting one leaves the other."""
    again = Request(tuple(range(8)))
    pool = BlockPool(8)
    served = pool.serve(trace_of([again, again], 2))
    assert served.hits.tolist() == [0, 6]
    assert served.used.tolist() == [4, 5]
    assert served.runs is not None
    assert served.runs.tolist() == [0, 4]


def test_a_reset_keeps_the_order_of_the_queue_and_drops_what_blocks_hold() -> None:
    request = Request(tuple(range(9)))
    pool, known = BlockPool(6), {}
    pool.serve(trace_of([request], 2, known))
    pool.reset()
    served = pool.serve(trace_of([request, request], 2, known))
    assert served.hits.tolist() == [0, 8]
    assert served.evicted.tolist() == [0, 0]


def test_what_does_not_fit_is_said() -> None:
    trace = trace_of([Request((1, 2, 3)), Request(tuple(range(20)), 9)], 4)
    with pytest.raises(InputError, match="request 2 needs 7 blocks of 4 tokens for 20 input and 9 output") as caught:
        BlockPool(7).serve(trace)
    assert "at least 8" in str(caught.value.remedy)
    assert BlockPool(8).serve(trace).hits.tolist() == [0, 0]
    with pytest.raises(InputError, match="null block"):
        BlockPool(1)
