"""Markers are a bijection of their numbers, and say so where blocks are too short for them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.cache.matching.chunker import Chunker
from prefixcache.cache.matching.semantics import CHUNKS, INDEPENDENT, Matching
from prefixcache.content.collisions.markers import Markers, Owners, design_markers
from prefixcache.content.collisions.repair import Repairs, request_mark, step_of
from prefixcache.content.seams import Seams
from prefixcache.errors import InputError

KEY = np.uint64(77)


def seams_of(words: int, common: int = 0) -> Seams:
    texts = tuple(f" w{i}".encode() for i in range(words))
    return Seams(np.arange(100, 100 + words, dtype=np.int32), texts, common, np.array([0]))


def owned(markers: Markers) -> list[tuple[int, ...]]:
    """All markers of all owners at all attempts."""
    owners, found = markers.owners, []
    for group in range(owners.groups):
        found += markers.of(owners.of_group(group), markers.per_owner).tolist()
    for index in [*range(owners.requests), *range(-owners.lanes, 0)]:
        for retry in range(owners.attempts):
            found += markers.of(owners.of_prompt(index, retry), markers.per_owner).tolist()
    return [tuple(code) for code in found]


@settings(max_examples=60, deadline=None)
@given(
    words=st.integers(3, 40),
    groups=st.integers(1, 3),
    requests=st.integers(1, 12),
    lanes=st.integers(0, 3),
    longest=st.integers(16, 200),
    attempts=st.integers(1, 4),
    chunks=st.booleans(),
)
def test_no_marker_is_used_twice(
    words: int, groups: int, requests: int, lanes: int, longest: int, attempts: int, chunks: bool
) -> None:
    matching = Matching(CHUNKS, 64, Chunker(64, 64, 64, 8)) if chunks else Matching(INDEPENDENT, 64)
    owners = Owners(groups, requests, lanes, longest, attempts)
    markers = design_markers(matching, seams_of(words), owners, [], 0, [np.array([1], dtype=np.int32)], KEY)
    codes = owned(markers)
    assert len(set(codes)) == len(codes)
    assert {len(code) for code in codes} == {markers.length}
    assert markers.size >= 2
    if chunks:
        assert {code[0] for code in codes} == {markers.opening}
        assert markers.opening not in {word for code in codes for word in code[1:]}


def test_the_opening_word_is_none_of_the_source() -> None:
    matching, owners = Matching(CHUNKS, 64, Chunker(64, 64, 64, 8)), Owners(1, 1, 0, 100, 1)
    everything_but_7 = np.array([*range(100, 107), *range(108, 110)], dtype=np.int32)
    markers = design_markers(matching, seams_of(10), owners, [], 0, [everything_but_7], KEY)
    assert markers.opening == 7
    # Where the source has every word it is the rarest.
    counted = np.array([*range(100, 110), *range(100, 105), *range(106, 110)], dtype=np.int32)
    assert design_markers(matching, seams_of(10), owners, [], 0, [counted], KEY).opening == 5


def test_words_of_the_head_are_no_marker_words() -> None:
    owners = Owners(1, 5, 0, 64, 1)
    markers = design_markers(Matching(INDEPENDENT, 16), seams_of(20), owners, [103, 119], 0, [], KEY)
    assert not {3, 19} & {word for code in owned(markers) for word in code}


@pytest.mark.parametrize(
    ("matching", "head", "tail", "field", "remedy"),
    [
        (Matching(INDEPENDENT, 1), 0, 0, "hit_unit", "2 or more"),
        (Matching(INDEPENDENT, 4), 3, 0, "hit_unit", "5 or more"),
        (Matching(INDEPENDENT, 8), 0, 7, "hit_unit", "9 or more"),
        (Matching(CHUNKS, 16, Chunker(4, 8, 16, 4)), 0, 0, "suffix.collision_detection.chunk.min", "5 or more"),
        (Matching(CHUNKS, 16, Chunker(8, 8, 16, 4)), 6, 0, "suffix.collision_detection.chunk.min", "9 or more"),
        (Matching(CHUNKS, 16, Chunker(8, 8, 16, 4)), 0, 4, "suffix.collision_detection.chunk.min", "9 or more"),
    ],
)
def test_blocks_too_short_for_a_marker(matching: Matching, head: int, tail: int, field: str, remedy: str) -> None:
    with pytest.raises(InputError, match="needs a marker of") as caught:
        design_markers(
            matching, seams_of(300), Owners(1, 3, 0, 64, 1), [1] * head, tail, [np.array([1], dtype=np.int32)], KEY
        )
    assert caught.value.field == field
    assert remedy in str(caught.value)


def test_steps_of_the_retries() -> None:
    assert [step_of(retry, 3) for retry in range(4)] == [0, 1, 2, 3]
    assert [step_of(retry, 6) for retry in range(1, 7)] == [1, 1, 2, 2, 3, 3]
    assert [step_of(retry, 2) for retry in (1, 2)] == [1, 2]
    assert [step_of(retry, 1) for retry in (0, 1)] == [0, 1]


def test_what_repairs_say_of_each_prompt() -> None:
    repairs = Repairs.of([(4, 2, False), (-1, 3, True)], 3)
    indices = np.array([4, 5, -1])
    assert repairs.statuses(indices) == ["repaired", "unique_by_construction", "unresolved"]
    assert repairs.names(indices) == ["other_samples", None, "request_mark"]
    assert repairs.retries(indices).tolist() == [2, 0, 3]
    words, samples, _ = repairs.numbers(indices)
    assert (words > 0).tolist() == [True, False, True]
    assert (samples > 0).tolist() == [True, False, True]
    first, other, _ = Repairs.of([(4, 1, False)], 3).numbers(np.array([4]))
    assert first[0] > 0
    assert other[0] == 0


def test_request_marks_differ_and_read_as_numbers() -> None:
    texts = tuple(f" {w}".encode() for w in ("note", "one", "two", "three", "zero", "cat"))
    seams = Seams(np.arange(6, dtype=np.int32), texts, 6, np.array([0]))
    marks = {tuple(request_mark(seams, index, 40).tolist()) for index in range(-50, 200)}
    assert len(marks) == 250
    spoken = b"".join(texts[i] for i in request_mark(seams, 13, 40))
    assert spoken == b" note three one"  # 13 with the digits zero, one, two, three
    assert len(request_mark(seams, 13, 2)) == 2
    assert len(request_mark(seams, 13, 0)) == 0
