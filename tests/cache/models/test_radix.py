"""SGLang's radix cache against a slow one over tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixcache.cache.models.radix import RadixCache, least_tokens
from prefixcache.errors import InputError
from tests.cache.models.slow_radix import Full, SlowRadix
from tests.cache.models.workloads import COMPILED, REQUESTS, RESETS, Request, parts_of, trace_of


@COMPILED
@given(REQUESTS, RESETS, st.sampled_from([1, 2, 3]), st.integers(0, 12))
def test_fast_equals_slow(requests: list[Request], resets: list[int], unit: int, spare: int) -> None:
    tokens = least_tokens(trace_of(requests, unit)) + spare
    fast, slow = RadixCache(tokens), SlowRadix(tokens, unit)
    known: dict[tuple[int, ...], int] = {}
    for part in parts_of(requests, resets):
        served = fast.serve(trace_of(part, unit, known))
        expected = [slow.run(request) for request in part]
        assert list(zip(served.hits.tolist(), served.evicted.tolist(), served.used.tolist(), strict=True)) == expected
        fast.reset()
        slow.reset()


@COMPILED
@given(st.integers(1, 20), st.integers(0, 9), st.sampled_from([1, 2, 3, 4]))
def test_the_least_capacity_is_the_one_that_fits(length: int, out: int, unit: int) -> None:
    trace = trace_of([Request(tuple(range(length)), out)], unit)
    least = least_tokens(trace)
    assert RadixCache(least).serve(trace).hits.tolist() == [0]
    with pytest.raises(InputError, match=f"request 1 with {length} input and {out} output tokens does not fit"):
        RadixCache(least - unit).serve(trace)
    SlowRadix(least, unit).run(Request(tuple(range(length)), out))
    with pytest.raises(Full):
        SlowRadix(least - unit, unit).run(Request(tuple(range(length)), out))


def test_whole_leaves_go_and_shared_nodes_stay() -> None:
    shared = tuple(range(6))
    requests = [Request((*shared, 10, 11)), Request((*shared, 20, 21)), Request((30, 31, 32, 33)), Request(shared)]
    served = RadixCache(10).serve(trace_of(requests, 1))
    # The third needs 4 of 10 pages: both leaves of two go, the six shared ones stay for the fourth.
    assert served.hits.tolist() == [0, 6, 0, 5]
    assert served.evicted.tolist()[2] == 4
