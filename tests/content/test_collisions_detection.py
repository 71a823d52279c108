"""Detection and window diagnostic against counters of plain tuples."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.cache.matching.chunker import Chunker
from prefixcache.cache.matching.semantics import CHAINED, CHUNKS, INDEPENDENT, Matching
from prefixcache.content.collisions.detection import CollisionDetector, CollisionRules, Found, Placed
from prefixcache.content.collisions.windows import window_keys
from tests.cache.test_matching import slow_pieces

UNIT = 4
MATCHINGS = [
    Matching(CHAINED, UNIT),
    Matching(INDEPENDENT, UNIT),
    Matching(CHUNKS, UNIT, Chunker(min=3, mean=4, max=6, window=2)),
]


@st.composite
def datasets(draw: st.DrawFn) -> list[Placed]:
    """Prompts of two groups cut from masters, with own parts of few different tokens, so that much collides."""
    masters = {g: draw(st.lists(st.integers(0, 2), min_size=12, max_size=12)) for g in "ab"}
    rows = []
    for row in range(draw(st.integers(1, 7))):
        group, prefix = draw(st.sampled_from("ab")), UNIT * draw(st.integers(0, 3))
        own = draw(st.lists(st.integers(0, 2), min_size=1, max_size=14))
        ids = np.array(masters[group][:prefix] + own, dtype=np.int32)
        rows.append(Placed(row, group, draw(st.integers(0, 1)), prefix, ids, draw(st.booleans())))
    return rows


def detected(rules: CollisionRules, parts: list[list[Placed]], memory: int = 1 << 20) -> Found:
    with CollisionDetector(rules, memory) as detector:
        for number, part in enumerate(parts):
            detector.add(str(number), part)
        return detector.result()


def slow_detection(matching: Matching, rows: list[Placed]) -> tuple[list[int], list[int], list[str]]:
    """All things that must be unique as plain tuples, with their owners; the first owner of each may keep it."""
    masters: dict[str, list[int]] = {}
    for row in rows:
        if len(masters.get(row.group, [])) < row.prefix:
            masters[row.group] = row.ids[: row.prefix].tolist()
    things: list[tuple[object, tuple[int, object]]] = []
    for group, ids in masters.items():
        if matching.chained:
            for domain in {row.domain for row in rows}:
                for end in range(UNIT, len(ids) + 1, UNIT):
                    things.append(((domain, tuple(ids[:end])), (0, group)))
        else:
            things += [(piece, (0, group)) for piece, _ in slow_pieces(ids, matching)]
    for row in rows:
        owner = (1 if row.warmup else 2, row.row)
        ids = row.ids.tolist()
        if matching.chained:
            if len(ids) >= row.prefix + UNIT:
                things.append(((row.domain, tuple(ids[: row.prefix + UNIT])), owner))
        else:
            things += [(piece, owner) for piece, end in slow_pieces(ids, matching) if end > row.prefix]
    bad = set()
    for thing in {thing for thing, _ in things}:
        owners = [owner for other, owner in things if other == thing]
        bad |= {o for o in owners if o != min(owners) or owners.count(o) > 1}
    return (
        sorted(o for k, o in bad if k == 2),  # type: ignore[type-var]
        sorted(o for k, o in bad if k == 1),  # type: ignore[type-var]
        sorted(o for k, o in bad if k == 0),  # type: ignore[type-var]
    )


@settings(max_examples=200, deadline=None)
@given(datasets(), st.sampled_from(MATCHINGS))
def test_equal_to_plain_tuples(rows: list[Placed], matching: Matching) -> None:
    rules = CollisionRules(matching, block=2, head=0, window_blocks=2)
    found = detected(rules, [rows])
    requests, warmup, groups = slow_detection(matching, rows)
    assert (found.requests, found.warmup) == (requests, warmup)
    assert found.report["cross_group_masters"]["colliding_groups"] == groups
    assert found.clean == (not (requests or warmup or groups))


@settings(max_examples=60, deadline=None)
@given(datasets(), st.sampled_from(MATCHINGS), st.integers(0, 100))
def test_parts_their_order_and_memory_do_not_matter(rows: list[Placed], matching: Matching, seed: int) -> None:
    rules = CollisionRules(matching, block=2, head=0, window_blocks=2)
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)
    parts = [shuffled[::2], shuffled[1::2]]
    assert detected(rules, [rows]) == detected(rules, parts, memory=1)


@settings(max_examples=100, deadline=None)
@given(datasets(), st.sampled_from([1, 2]), st.sampled_from([1, 2, 3]))
def test_windows_are_counted_as_tuples_are(rows: list[Placed], block: int, blocks: int) -> None:
    counts: Counter[tuple[int, ...]] = Counter()
    of_request: dict[int, set[tuple[int, ...]]] = {}
    for row in rows:
        if row.warmup:
            continue
        ids = row.ids.tolist()
        start = row.prefix // block * block + block
        own = [tuple(ids[at : at + block * blocks]) for at in range(start, len(ids) - block * blocks + 1, block)]
        counts.update(own)
        of_request[row.row] = set(own)
    report = detected(CollisionRules(MATCHINGS[0], block, 0, blocks), [rows]).report["windows"]
    repeated = {window for window, count in counts.items() if count > 1}
    assert report["windows"] == counts.total()
    assert report["repeated_windows"] == len(repeated)
    assert report["repeated_occurrences"] == sum(counts[w] for w in repeated)
    assert report["requests_with_repeats"] == sum(bool(own & repeated) for own in of_request.values())
    most = [row["count"] for row in report["most_repeated"]]
    assert most == sorted((counts[w] for w in repeated), reverse=True)[:5]


def test_window_hashes_name_the_window() -> None:
    ids = np.random.default_rng(0).integers(0, 9, 160).astype(np.int32)
    ids[96:128] = ids[32:64]
    keys = window_keys(ids, 16, 2, prefix=0)
    assert len(keys) == 8
    assert keys[1] == keys[5]
    assert len(set(keys.tolist())) == 7


def test_masters_that_share_more_than_the_head() -> None:
    shared = list(range(20))
    rows = [
        Placed(0, "a", 0, 16, np.array([*shared[:12], 90, 91, 92, 93, 7], dtype=np.int32)),
        Placed(1, "b", 0, 16, np.array([*shared[:12], 80, 81, 82, 83, 8], dtype=np.int32)),
    ]
    found = detected(CollisionRules(Matching(CHAINED, 4), 4, head=8, window_blocks=2), [rows])
    cross = found.report["cross_group_masters"]
    assert cross == {
        "checked_groups": 2,
        "colliding_groups": ["b"],
        "longest_common_prefix_tokens": 12,
        "shared_head_tokens": 8,
    }
    alone = detected(CollisionRules(Matching(CHAINED, 4), 4, head=12, window_blocks=2), [rows])
    assert alone.clean


@pytest.mark.parametrize("matching", MATCHINGS, ids=lambda m: m.semantics)
def test_nothing_to_look_at(matching: Matching, tmp_path: Path) -> None:
    rows = [Placed(0, "a", 0, 0, np.array([5], dtype=np.int32))]
    found = detected(CollisionRules(matching, 4, 0, 2), [rows, []])
    assert found.clean
    assert found.report["cross_group_masters"]["longest_common_prefix_tokens"] is None
