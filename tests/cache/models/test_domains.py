"""Caches that do not share, matches cut short, and traces cut, joined and numbered anew."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prefixcache.cache.models.domains import DomainCaches
from prefixcache.cache.models.dropped import Dropped
from prefixcache.cache.models.lru import RequestLru
from prefixcache.cache.models.trace import Trace
from tests.cache.models.slow_lru import SlowLru
from tests.cache.models.workloads import COMPILED, REQUESTS, Request, trace_of


@COMPILED
@given(REQUESTS, st.integers(1, 8), st.randoms(use_true_random=False))
def test_each_domain_is_a_cache_of_its_own(requests: list[Request], capacity: int, random: object) -> None:
    trace = trace_of(requests, 2)
    routes = np.array([random.randrange(3) for _ in requests], dtype=np.int32)  # type: ignore[attr-defined]
    served = DomainCaches(lambda: RequestLru(capacity, tell_evicted=True), 3).serve(trace, routes)
    slow = [SlowLru(capacity) for _ in range(3)]
    runs, lost, used = [], [], []
    for place, home in enumerate(routes):
        run, evicted = slow[home].run(trace.blocks[trace.starts[place] : trace.ends[place]].tolist())
        runs.append(run)
        lost.append(evicted)
        used.append(len(slow[home].kept))
    assert served.runs is not None and served.gone is not None
    assert served.runs.tolist() == runs
    assert served.evicted.tolist() == [len(blocks) for blocks in lost]
    assert served.gone.tolist() == [block for blocks in lost for block in blocks]
    assert served.used.tolist() == used


def test_a_domain_without_requests_does_nothing() -> None:
    trace = trace_of([Request((1, 2, 3))] * 2, 1)
    served = DomainCaches(lambda: RequestLru(4), 4).serve(trace, np.array([2, 2], dtype=np.int32))
    assert served.hits.tolist() == [0, 2]


def test_drops_shorten_hits_and_never_below_nothing() -> None:
    trace = trace_of([Request(tuple(range(13))), Request(tuple(range(13))), Request((0, 1, 2, 3, 4))], 4)
    assert Dropped(RequestLru(None), 0).serve(trace).hits.tolist() == [0, 12, 4]
    assert Dropped(RequestLru(None), 2).serve(trace).hits.tolist() == [0, 4, 0]


@given(REQUESTS, st.lists(st.integers(0, 24), max_size=10))
def test_taking_requests_takes_their_blocks(requests: list[Request], places: list[int]) -> None:
    known: dict[tuple[int, ...], int] = {}
    trace = trace_of(requests, 2, known)
    places = [place for place in places if place < len(requests)]
    taken = trace.take(np.array(places, dtype=np.int64))
    expected = trace_of([requests[place] for place in places], 2, known)
    assert taken.blocks.tolist() == expected.blocks.tolist()
    assert taken.ends.tolist() == expected.ends.tolist()
    assert taken.input_tokens.tolist() == expected.input_tokens.tolist()
    cut = len(requests) // 2
    for begin, end in ((0, cut), (cut, len(requests)), (cut, cut)):
        part, whole = trace.part(begin, end), trace_of(requests[begin:end], 2, known)
        assert (part.blocks.tolist(), part.ends.tolist()) == (whole.blocks.tolist(), whole.ends.tolist())
    joined = trace.before(taken)
    assert joined.blocks.tolist() == trace.blocks.tolist() + taken.blocks.tolist()
    assert joined.sizes.tolist() == trace.sizes.tolist() + taken.sizes.tolist()


@COMPILED
@given(st.lists(st.one_of(st.integers(0, 20), st.integers(0, (1 << 64) - 1)), max_size=60))
def test_keys_are_numbered_as_they_come_first(keys: list[int]) -> None:
    ends = np.array([len(keys)], dtype=np.int64)
    trace = Trace.of_new_keys(np.array(keys, dtype=np.uint64), ends, ends, ends, 1)
    by_value = Trace.of_keys(np.array(keys, dtype=np.uint64), ends, ends, ends, 1)
    assert by_value.blocks.tolist() == [sorted(set(keys)).index(key) for key in keys]
    assert trace.blocks.tolist() == [list(dict.fromkeys(keys)).index(key) for key in keys]
    assert trace.distinct == len(set(keys))


def test_the_table_of_keys_grows() -> None:
    random = np.random.default_rng(2)
    keys = random.integers(0, 30_000, 100_000).astype(np.uint64) << np.uint64(40)
    ends = np.array([len(keys)], dtype=np.int64)
    numbers = Trace.of_new_keys(keys, ends, ends, ends, 1).blocks
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    assert numbers.tolist() == np.argsort(np.argsort(first))[inverse].tolist()


def test_chained_numbers_tell_equal_ids_behind_different_parents_apart() -> None:
    lengths = np.array([2, 2, 3], dtype=np.int64)
    trace = Trace(np.array([1, 2, 0, 2, 1, 2, 2], dtype=np.int32), np.cumsum(lengths), lengths, lengths, 1, 3)
    a, b, c, d, e, f, g = trace.chained().blocks.tolist()
    assert (a, b) == (e, f)
    assert len({a, b, c, d, g}) == 5
