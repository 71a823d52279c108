"""The request-granular LRU against lists, and its exact curve against itself at every capacity."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prefixcache.cache.models.lru import RequestLru
from prefixcache.cache.models.stack_distance import HitCurve
from prefixcache.cache.models.trace import Trace
from tests.cache.models.slow_lru import SlowLru
from tests.cache.models.workloads import COMPILED

# Ids that no chain holds together: repeated within a request, found again elsewhere.
LISTS = st.lists(st.lists(st.integers(0, 9), max_size=8), min_size=1, max_size=30)
UNIT = 4


def trace_of_lists(lists: list[list[int]], extra: int) -> Trace:
    """``extra``: tokens beyond the blocks; below 1 the last block is the last token's."""
    sizes = np.array([len(blocks) for blocks in lists], dtype=np.int64)
    return Trace(
        np.array([block for blocks in lists for block in blocks], dtype=np.int32),
        np.cumsum(sizes),
        sizes * UNIT + extra,
        np.ones(len(lists), dtype=np.int64),
        UNIT,
        10,
    )


@COMPILED
@given(LISTS, st.integers(1, 12), st.integers(0, 3), st.integers(0, 30))
def test_fast_equals_slow(lists: list[list[int]], capacity: int, extra: int, reset: int) -> None:
    fast = RequestLru(capacity, tell_evicted=True)
    slow = SlowLru(capacity)
    for part in (lists[:reset], lists[reset:]):
        served = fast.serve(trace_of_lists(part, extra))
        found, lost, used = [], [], []
        for blocks in part:
            run, evicted = slow.run(blocks)
            found.append(run)
            lost.append(evicted)
            used.append(len(slow.kept))
        assert served.runs is not None and served.gone is not None
        assert served.runs.tolist() == found
        assert served.evicted.tolist() == [len(blocks) for blocks in lost]
        assert served.gone.tolist() == [block for blocks in lost for block in blocks]
        assert served.used.tolist() == used
        most = [max(0, len(blocks) * UNIT + extra - 1) // UNIT for blocks in part]
        assert served.hits.tolist() == [UNIT * min(run, top) for run, top in zip(found, most, strict=True)]
        fast.reset()
        slow.kept = []


@COMPILED
@given(LISTS, st.integers(0, 3), st.integers(0, 2))
def test_one_pass_gives_the_hits_at_every_capacity(lists: list[list[int]], extra: int, drop: int) -> None:
    trace = trace_of_lists(lists, extra)
    curve = HitCurve.of(trace, drop)
    for capacity in range(13):
        served = RequestLru(capacity).serve(trace)
        assert served.runs is not None
        assert curve.tokens_at(capacity) == int(np.maximum(served.hits - drop * UNIT, 0).sum())
        assert int(curve.run_blocks[min(capacity, 10)]) == int(served.runs.sum())
    served = RequestLru(None).serve(trace)
    assert curve.ideal == int(np.maximum(served.hits - drop * UNIT, 0).sum())


@COMPILED
@given(st.lists(st.lists(st.integers(0, 400), max_size=90), min_size=5, max_size=60), st.integers(1, 400))
def test_the_curve_counts_over_many_words(lists: list[list[int]], capacity: int) -> None:
    trace = trace_of_lists(lists, 1)
    trace = Trace(trace.blocks, trace.ends, trace.input_tokens, trace.output_tokens, UNIT, 401)
    assert HitCurve.of(trace).tokens_at(capacity) == int(RequestLru(capacity).serve(trace).hits.sum())


@COMPILED
@given(LISTS, LISTS, st.integers(1, 8))
def test_curves_of_domains_add_up(first: list[list[int]], second: list[list[int]], capacity: int) -> None:
    traces = [trace_of_lists(first, 1), trace_of_lists(second, 1)]
    together = HitCurve.of(traces[0]) + HitCurve.of(traces[1])
    assert together.tokens_at(capacity) == sum(int(RequestLru(capacity).serve(trace).hits.sum()) for trace in traces)
    for goal in range(0, together.ideal + 1, UNIT):
        smallest = together.smallest(goal)
        assert together.tokens_at(smallest) >= goal
        assert smallest == 0 or together.tokens_at(smallest - 1) < goal


def test_heads_stay_longest() -> None:
    """A request of four blocks in a cache of two leaves its first two."""
    trace = trace_of_lists([[0, 1, 2, 3], [0, 1, 2, 3]], 1)
    assert RequestLru(2).serve(trace).hits.tolist() == [0, 2 * UNIT]


def test_nothing_is_served_by_nothing() -> None:
    empty = trace_of_lists([], 0)
    assert len(RequestLru(3).serve(empty).hits) == 0
    assert HitCurve.of(empty).ideal == 0
