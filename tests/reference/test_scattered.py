"""The caches that find pieces anywhere: against a slow model, their room, their eviction, their chunks."""

from __future__ import annotations

import random
from array import array
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.reference.scattered import ContentCutter, ScatteredCache

B = 4


def serve(cache: ScatteredCache, tokens: list[int], salt: str | None = None) -> int:
    share = cache.admit(cache.keys(array("I", tokens), salt), len(tokens), len(tokens))
    assert share is not None
    cache.release(share)
    return share.hit_tokens


class Slow:
    """Blocks as tuples, all in one list from the least to the most recently used."""

    def __init__(self, room: int) -> None:
        self.room, self.known = room, list[tuple[int, ...]]()

    def serve(self, tokens: list[int]) -> int:
        blocks = [tuple(tokens[at : at + B]) for at in range(0, len(tokens) - B + 1, B)]
        found = [block in self.known and (i + 1) * B < len(tokens) for i, block in enumerate(blocks)]
        hit = B * sum(found)
        used = [block for block, hits in zip(blocks, found, strict=True) if hits]
        kept = [block for block in self.known if block not in used]
        while B * (len(kept) + len(set(used))) + len(tokens) - hit > self.room:
            kept.pop(0)
        # What stays known and was not touched keeps its place; what was stored now was not known, or was evicted.
        new = [block for block in blocks if block not in kept]
        order = list(dict.fromkeys(reversed(new)))
        last = {block: max(i for i, other in enumerate(reversed(new)) if other == block) for block in order}
        self.known = kept + sorted(order, key=lambda block: last[block])
        return hit


@settings(deadline=None, max_examples=200)
@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=24), max_size=12), st.integers(24, 60))
def test_equal_to_the_slow_model(prompts: list[list[int]], room: int) -> None:
    cache, slow = ScatteredCache(room, B), Slow(room)
    for prompt in prompts:
        assert serve(cache, prompt) == slow.serve(prompt)
        assert cache.held_tokens == 0
        assert cache.known_tokens == B * len(slow.known)


def test_what_does_not_fit_waits_and_changes_nothing() -> None:
    cache = ScatteredCache(16, B)
    keys = cache.keys(array("I", range(12)))
    share = cache.admit(keys, 12, 14)
    assert share is not None
    assert cache.held_tokens == 14
    other = cache.keys(array("I", range(50, 58)))
    assert cache.admit(other, 8, 8) is None
    assert not cache.reset()
    assert cache.admit(keys[:2], 9, 9) is not None  # eight of its nine tokens are there
    cache.release(share)


def test_outputs_are_known_once_they_are_written() -> None:
    cache = ScatteredCache(100, B)
    share = cache.admit(cache.keys(array("I", range(12))), 5, 12)
    assert share is not None
    assert cache.known_tokens == 4
    cache.grow(share, 8)
    assert cache.known_tokens == 8
    cache.release(share)
    assert serve(cache, [4, 5, 6, 7, 99]) == 4


def test_the_last_matched_pieces_are_dropped() -> None:
    cache = ScatteredCache(100, B, hit_drop=1)
    assert [serve(cache, list(range(13))) for _ in range(3)] == [0, 8, 8]
    assert serve(cache, list(range(5))) == 0


class TestCutter:
    def test_lengths_are_within_bounds_and_as_long_as_said_in_the_mean(self) -> None:
        cutter = ContentCutter.of(16)
        draw = random.Random(1)
        ends = [0, *cutter.ends([draw.randrange(50_000) for _ in range(100_000)])]
        sizes = [end - begin for begin, end in pairwise(ends)]
        assert min(sizes) >= 16
        assert max(sizes) <= 128
        assert 28 < sum(sizes) / len(sizes) < 36

    def test_ends_find_each_other_again(self) -> None:
        draw = random.Random(2)
        text = [draw.randrange(50_000) for _ in range(4000)]
        cutter = ContentCutter.of(16)
        plain, moved = cutter.ends(text), {end - 5 for end in cutter.ends([1, 2, 3, 4, 5, *text])}
        assert set(plain[8:]) <= moved

    def test_a_tail_is_no_chunk(self) -> None:
        assert ContentCutter.of(16).ends([5] * 15) == []

    def test_content_without_ends_is_cut_at_the_longest(self) -> None:
        cutter = ContentCutter(shortest=4, one_in=1 << 62, longest=10, window=2)
        assert cutter.ends(list(range(25))) == [10, 20]
