"""Tiers against lists, and the counters of a real log."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from prefixcache.cache.models.lru import RequestLru
from prefixcache.cache.models.pool import BlockPool
from prefixcache.cache.models.tiers import TierCounters, TieredCache, Write
from prefixcache.cache.models.trace import Served
from prefixcache.errors import InputError
from tests.cache.models.slow_lru import SlowLru
from tests.cache.models.workloads import COMPILED, REQUESTS, Request, trace_of

UNIT = 2


def store(tier: list[int], block: int, capacity: int) -> list[int]:
    """Touch or insert; what falls out."""
    if block in tier:
        tier.remove(block)
    tier.append(block)
    return [tier.pop(0)] if len(tier) > capacity else []


def slow(blocks: list[list[int]], most: list[int], sizes: list[int], write: str) -> list[tuple[int, list[int]]]:
    """Local hit blocks and those of each slower tier, per request; the device is an LRU of ``sizes[0]``."""
    device, tiers = SlowLru(sizes[0]), [[] for _ in sizes[1:]]
    rows = []
    for mine, limit in zip(blocks, most, strict=True):
        run, lost = device.run(mine)
        local = min(run, limit)
        found, loaded = [0] * len(tiers), []
        for block in mine[local:limit]:
            holders = [number for number, tier in enumerate(tiers) if block in tier]
            if not holders:
                break
            found[holders[0]] += 1
            loaded.append((holders[0], block))
        rows.append((local, found))
        if write == "through":
            for tier, size in zip(tiers, sizes[1:], strict=True):
                for block in reversed(mine):
                    store(tier, block, 1 << 30)
                del tier[: max(0, len(tier) - size)]
            continue
        for number, block in reversed(loaded):
            store(tiers[number], block, 1 << 30)
        for block in lost:
            falling = [block]
            for tier, size in zip(tiers, sizes[1:], strict=True):
                falling = [out for each in falling for out in store(tier, each, size)]
    return rows


def check(requests: list[Request], sizes: list[int], write: Write) -> NDArray[np.int64]:
    """Tier hits in tokens, after they were compared with the slow model's."""
    trace = trace_of(requests, UNIT)
    blocks = [trace.blocks[begin:end].tolist() for begin, end in zip(trace.starts, trace.ends, strict=True)]
    cache = TieredCache(RequestLru(sizes[0], tell_evicted=True), sizes[1:], write=write)
    served = cache.serve(trace)
    expected = slow(blocks, trace.most_hit_blocks.tolist(), sizes, write)
    assert (served.hits // UNIT).tolist() == [local for local, _ in expected]
    assert (served.tier_hits // UNIT).tolist() == [found for _, found in expected]
    assert served.external_hits.tolist() == served.tier_hits.sum(axis=1).tolist()
    return served.tier_hits


@COMPILED
@given(REQUESTS, st.lists(st.integers(1, 12), min_size=2, max_size=4), st.sampled_from(["through", "evicted"]))
def test_fast_equals_slow(requests: list[Request], sizes: list[int], write: Write) -> None:
    check(requests, sizes, write)


@pytest.mark.parametrize("write", ["through", "evicted"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_tier_of_a_busy_cache_is_used_as_the_slow_one_says(seed: int, write: Write) -> None:
    random = np.random.default_rng(seed)
    requests = [
        Request((*range(100 * master, 100 * master + cut), 1000 + number))
        for number, (master, cut) in enumerate(
            zip(random.integers(1, 5, 150), random.integers(0, 25, 150), strict=True)
        )
    ]
    hits = check(requests, [6, 9, 15, 25], write)
    assert (hits.sum(axis=0) > 0).all()


def test_an_unbounded_store_behind_a_small_pool_makes_up_for_what_it_evicts() -> None:
    random = np.random.default_rng(5)
    masters = [tuple(random.integers(0, 50, 60).tolist()) for _ in range(4)]
    requests = [
        Request((*masters[master][:cut], 1000 + number))
        for number, (master, cut) in enumerate(zip(random.integers(0, 4, 80), random.integers(0, 60, 80), strict=True))
    ]
    trace = trace_of(requests, 4)
    ideal = RequestLru(None).serve(trace)
    for write in ("through", "evicted"):
        cache = TieredCache(BlockPool(20, tell_evicted=True), [None], write=write)
        served = cache.serve(trace)
        assert served.hits.sum() < ideal.hits.sum()
        assert (served.hits + served.external_hits).tolist() == ideal.hits.tolist()
        counters = TierCounters.of(trace, served)
        assert counters.external_queries == trace.input_tokens.sum() - served.hits.sum()
        assert counters.total_ratio == ideal.hits.sum() / trace.input_tokens.sum()


def test_the_total_of_a_real_log_is_neither_sum_nor_mean() -> None:
    """UCM: 44,460 tokens queried, 14,592 hit in the device, 21,888 of the other 29,868 outside: 82.05 %."""
    request = trace_of([Request(tuple(range(44_460)))], 128)
    one = np.array([1])
    counters = TierCounters.of(request, Served(one * 14_592, one * 21_888, one * 0, one * 0))
    assert counters.external_queries == 29_868
    assert counters.total_ratio == pytest.approx(0.8205, abs=5e-5)


def test_a_reset_leaves_slower_tiers_unless_asked() -> None:
    trace = trace_of([Request(tuple(range(9)))], 4)
    cache = TieredCache(RequestLru(8), [8])
    cache.serve(trace)
    cache.reset()
    again = cache.serve(trace)
    assert (again.hits.tolist(), again.external_hits.tolist()) == ([0], [8])
    cache.reset(external=True)
    assert cache.serve(trace).external_hits.tolist() == [0]


def test_a_device_that_tells_nothing_cannot_feed_tiers() -> None:
    with pytest.raises(InputError, match="does not tell what it evicts"):
        TieredCache(RequestLru(4), [8], write="evicted").serve(trace_of([Request((1, 2))], 1))
