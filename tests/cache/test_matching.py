"""The simulators of the three matching semantics against slow, obvious ones that know only lists and sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.cache.certificate import KeyedPrompts, simulate_pass
from prefixcache.cache.matching.chunker import Chunker
from prefixcache.cache.matching.scattered import scattered_hits
from prefixcache.cache.matching.semantics import CHAINED, CHUNKS, INDEPENDENT, Matching

Prompt = tuple[list[int], int]
# A tiny alphabet, so that blocks and chunks repeat within and across prompts.
PROMPTS = st.lists(st.tuples(st.lists(st.integers(0, 1), max_size=70), st.integers(0, 1)), max_size=20)
CHUNKERS = st.tuples(st.integers(1, 6), st.integers(0, 5), st.integers(0, 9), st.integers(0, 9)).map(
    lambda v: Chunker(min=v[0], mean=v[0] + v[1], max=v[0] + v[1] + v[2], window=min(v[3] + 1, v[0]))
)


def slow_mix(z: int) -> int:
    mask = (1 << 64) - 1
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
    return z ^ (z >> 31)


def slow_ends(ids: list[int], chunker: Chunker) -> list[int]:
    """Token after token: how long is the chunk, and what does the hash of its last tokens say."""
    multipliers = [int(m) | 1 for m in np.random.Philox(key=0x63686E6B5F637574).random_raw(chunker.window)]
    ends, start = [], 0
    for end in range(1, len(ids) + 1):
        size = end - start
        if size < chunker.min:
            continue
        last = ids[end - chunker.window : end][::-1]
        total = sum(m * slow_mix(token + 1) for m, token in zip(multipliers, last, strict=True)) % (1 << 64)
        cut = (slow_mix(total) >> 32) * (chunker.mean - chunker.min + 1) >> 32 == 0
        if cut or size == chunker.max:
            ends.append(end)
            start = end
    return ends


def slow_pieces(ids: list[int], matching: Matching) -> list[tuple[tuple[int, ...], int]]:
    """(tokens of the piece, where it ends)."""
    if matching.chunker is not None:
        ends = slow_ends(ids, matching.chunker)
    else:
        ends = list(range(matching.unit, len(ids) + 1, matching.unit))
    return [(tuple(ids[begin:end]), end) for begin, end in zip([0, *ends], ends, strict=False)]


def slow_hits(prompts: list[Prompt], matching: Matching) -> list[int]:
    """One prompt after the other: whole pieces in a set, all looked up before any is stored."""
    cached: set[tuple[int, tuple[int, ...]]] = set()
    hits = []
    for ids, domain in prompts:
        pieces = slow_pieces(ids, matching)
        hits.append(sum(len(p) for p, end in pieces if end <= len(ids) - 1 and (domain, p) in cached))
        cached |= {(domain, piece) for piece, _ in pieces}
    return hits


def keyed(prompts: list[Prompt], matching: Matching) -> KeyedPrompts:
    return KeyedPrompts.of(
        ((np.array(ids, dtype=np.int32), domain) for ids, domain in prompts), matching.unit, matching
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=150), CHUNKERS)
def test_chunks_end_where_the_slow_model_says(ids: list[int], chunker: Chunker) -> None:
    ends = chunker.ends(np.array(ids, dtype=np.int32))
    assert ends.tolist() == slow_ends(ids, chunker)
    sizes = np.diff(ends, prepend=0)
    assert ((sizes >= chunker.min) & (sizes <= chunker.max)).all()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), max_size=60), max_size=6), CHUNKERS)
def test_chunk_keys_are_equal_exactly_where_chunks_are(rows: list[list[int]], chunker: Chunker) -> None:
    known: dict[int, tuple[int, ...]] = {}
    for ids in rows:
        array = np.array(ids, dtype=np.int32)
        ends = chunker.ends(array)
        for key, (piece, _) in zip(
            chunker.keys(array, ends).tolist(), slow_pieces(ids, Matching(CHUNKS, 1, chunker)), strict=True
        ):
            assert known.setdefault(key, piece) == piece
    assert len(set(known.values())) == len(known)


@settings(max_examples=150, deadline=None)
@given(PROMPTS, PROMPTS, st.sampled_from([1, 2, 3, 5]))
def test_independent_blocks(warm: list[Prompt], prompts: list[Prompt], unit: int) -> None:
    matching = Matching(INDEPENDENT, unit)
    assert_all_passes(warm, prompts, matching)


@settings(max_examples=150, deadline=None)
@given(PROMPTS, PROMPTS, CHUNKERS)
def test_content_defined_chunks(warm: list[Prompt], prompts: list[Prompt], chunker: Chunker) -> None:
    assert_all_passes(warm, prompts, Matching(CHUNKS, chunker.min, chunker))


def assert_all_passes(warm: list[Prompt], prompts: list[Prompt], matching: Matching) -> None:
    requests, warmup = keyed(prompts, matching), keyed(warm, matching)

    def hits(name: str) -> list[int]:
        return simulate_pass(name, requests, warmup, matching.unit).tolist()

    assert hits("cold") == slow_hits(prompts, matching)
    if not matching.chained:  # a few pieces at a time, and in another order
        few = scattered_hits(requests.parts, len(prompts), memory_pieces=3)
        assert few.tolist() == slow_hits(prompts, matching)
    turned = np.arange(len(prompts))[::-1]
    backwards = simulate_pass("cold", requests.reordered(turned), warmup, matching.unit).tolist()
    assert backwards == slow_hits(prompts[::-1], matching)
    assert hits("hot") == slow_hits(warm + prompts, matching)[len(warm) :]
    assert hits("replay") == slow_hits(prompts + prompts, matching)[len(prompts) :]


def test_what_sets_the_semantics_apart() -> None:
    """The second prompt has the first one's second block behind another first block."""
    first, second = [*range(8), *range(20, 28)], [*range(100, 108), *range(20, 28), 1]
    prompts = [(first, 0), (second, 0), (second, 1)]
    assert slow_hits(prompts, Matching(INDEPENDENT, 8)) == [0, 8, 0]
    for semantics, expected in ((CHAINED, [0, 0, 0]), (INDEPENDENT, [0, 8, 0])):
        rows = keyed(prompts, Matching(semantics, 8))
        assert simulate_pass("cold", rows, keyed([], Matching(semantics, 8)), 8).tolist() == expected


def test_a_shifted_text_keeps_its_chunks_and_loses_its_blocks() -> None:
    """What content-defined chunks are for: cuts follow the text, not the place."""
    text = np.random.default_rng(5).integers(0, 5000, 4000).tolist()
    prompts = [(text, 0), ([7, 7, 7, *text], 0)]
    chunks = Matching(CHUNKS, 16, Chunker(min=16, mean=32, max=128, window=8))
    blocks = Matching(INDEPENDENT, 16)
    none = keyed([], chunks)
    assert simulate_pass("cold", keyed(prompts, chunks), none, 16)[1] > 3500
    assert simulate_pass("cold", keyed(prompts, blocks), keyed([], blocks), 16)[1] == 0


def test_mean_chunk_length_is_near_what_was_asked() -> None:
    ids = np.random.default_rng(6).integers(0, 150_000, 200_000).astype(np.int32)
    chunker = Chunker(min=16, mean=64, max=4096, window=8)
    assert len(ids) / len(chunker.ends(ids)) == pytest.approx(64, rel=0.05)
