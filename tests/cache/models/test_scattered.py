"""Pieces found anywhere, against lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prefixcache.cache.certificate import KeyedPrompts, simulate_pass
from prefixcache.cache.matching.chunker import Chunker
from prefixcache.cache.matching.semantics import CHUNKS, INDEPENDENT, Matching
from prefixcache.cache.models.scattered import ScatteredLru
from prefixcache.cache.models.trace import Trace
from tests.cache.models.workloads import COMPILED

SIZES = (3, 1, 4, 2, 5)
"""Tokens of the piece with each number."""
PROMPTS = st.lists(st.tuples(st.lists(st.integers(0, 4), max_size=7), st.integers(0, 2)), min_size=1, max_size=25)
"""Pieces, and tokens behind them that are in none."""


def trace_of(prompts: list[tuple[list[int], int]]) -> Trace:
    flat = [piece for pieces, _ in prompts for piece in pieces]
    return Trace(
        np.array(flat, dtype=np.int32),
        np.cumsum([len(pieces) for pieces, _ in prompts], dtype=np.int64),
        np.array([sum(SIZES[piece] for piece in pieces) + rest for pieces, rest in prompts], dtype=np.int64),
        np.ones(len(prompts), dtype=np.int64),
        4,
        5,
        np.array([SIZES[piece] for piece in flat], dtype=np.int64),
    )


def slow(prompts: list[tuple[list[int], int]], capacity: int, kept: list[int]) -> list[tuple[int, int, int]]:
    """Hit tokens, evicted and kept pieces per prompt; ``kept``: oldest first."""
    rows = []
    for pieces, rest in prompts:
        hits = sum(SIZES[piece] for piece in pieces if piece in kept)
        if pieces and rest == 0 and pieces[-1] in kept:
            hits -= SIZES[pieces[-1]]  # it holds the last token
        for piece in reversed(pieces):
            if piece in kept:
                kept.remove(piece)
            kept.append(piece)
        lost = 0
        while sum(SIZES[piece] for piece in kept) > capacity:
            kept.pop(0)
            lost += 1
        rows.append((hits, lost, len(kept)))
    return rows


@COMPILED
@given(PROMPTS, st.integers(0, 16), st.integers(0, 25))
def test_fast_equals_slow(prompts: list[tuple[list[int], int]], capacity: int, cut: int) -> None:
    fast, kept = ScatteredLru(capacity), []
    for part in (prompts[:cut], prompts[cut:]):
        served = fast.serve(trace_of(part))
        found = list(zip(served.hits.tolist(), served.evicted.tolist(), served.used.tolist(), strict=True))
        assert found == slow(part, capacity, kept)
    fast.reset()
    assert fast.serve(trace_of(prompts[:1])).hits.tolist() == [0]


def test_without_a_limit_it_hits_what_the_certificate_does() -> None:
    """Blocks and chunks of real ids; the certificate's simulator sorts, this one keeps a list."""
    random = np.random.default_rng(8)
    parts = [random.integers(0, 99, int(random.integers(30, 200))).astype(np.int32) for _ in range(6)]
    prompts = [
        np.concatenate([parts[place] for place in random.integers(0, 6, int(random.integers(1, 5)))]) for _ in range(40)
    ]
    for matching in (Matching(INDEPENDENT, 8), Matching(CHUNKS, 16, Chunker(8, 16, 32, 4))):
        keyed = KeyedPrompts.of([(ids, 0) for ids in prompts], matching.unit, matching)
        expected = simulate_pass("cold", keyed, keyed, matching.unit)
        lengths = np.array([len(ids) for ids in prompts], dtype=np.int64)
        keys, sizes, stops = matching.pieces_of_many(np.concatenate(prompts), np.cumsum(lengths))
        trace = Trace.of_keys(keys, np.cumsum(sizes), lengths, np.ones_like(lengths), matching.unit)
        begins = np.concatenate([[0], stops[:-1]])
        begins[trace.starts] = 0
        whole = Trace(trace.blocks, trace.ends, lengths, lengths, matching.unit, trace.distinct, stops - begins)
        assert ScatteredLru(None).serve(whole).hits.tolist() == expected.tolist()
        assert expected.sum() > 0
