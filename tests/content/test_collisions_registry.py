"""The registry against a dictionary: in memory, spilled to files, in any order of parts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.content.collisions.registry import MASTERS, WARMUP, BlockRegistry

PAIRS = st.lists(st.tuples(st.sampled_from([0, 1, 7, 1 << 40, (1 << 63) + 5, (1 << 64) - 1]), st.integers(0, 9)))


def registered(parts: list[list[tuple[int, int]]], memory: int, order: list[int] | None = None) -> BlockRegistry:
    registry = BlockRegistry(memory)
    for number in order or range(len(parts)):
        keys = np.array([key for key, _ in parts[number]], dtype=np.uint64)
        registry.add(str(number), keys, np.array([owner for _, owner in parts[number]], dtype=np.int64))
    return registry


def slow_colliding(pairs: list[tuple[int, int]]) -> list[int]:
    found = set()
    for key in {key for key, _ in pairs}:
        owners = [owner for other, owner in pairs if other == key]
        found |= {o for o in owners if o != min(owners) or owners.count(o) > 1}
    return sorted(found)


@settings(max_examples=150, deadline=None)
@given(st.lists(PAIRS, max_size=5), st.sampled_from([1, 3, 1000]), st.randoms(use_true_random=False))
def test_equal_to_a_dictionary(parts: list[list[tuple[int, int]]], memory: int, random: object) -> None:
    parts = [[(key, 10 * number + owner) for key, owner in part] for number, part in enumerate(parts)]
    pairs = [pair for part in parts for pair in part]
    order = sorted(range(len(parts)), key=lambda _: random.random())  # type: ignore[attr-defined]
    with registered(parts, memory, order) as registry:
        assert len(registry) == len(pairs)
        counts = Counter(key for key, _ in pairs)
        found = {}
        for row in registry.repeated():
            found |= dict(zip(row.keys.tolist(), row.counts.tolist(), strict=True))
        assert found == {key: count for key, count in counts.items() if count > 1}
        assert registry.colliding().tolist() == slow_colliding(pairs)


def test_a_part_given_again_is_replaced() -> None:
    registry = registered([[(5, 0)], [(5, 1)]], 10)
    assert registry.colliding().tolist() == [1]
    registry.add("1", np.array([6], dtype=np.uint64), np.array([1]))
    assert registry.colliding().tolist() == []


def test_masters_and_warmup_prompts_keep_what_they_share_with_requests() -> None:
    registry = BlockRegistry()
    keys = np.array([9, 9, 9, 8, 8], dtype=np.uint64)
    registry.add("x", keys, np.array([4, WARMUP + 1, MASTERS, 3, 2]))
    assert registry.colliding().tolist() == [WARMUP + 1, 3, 4]


def test_memory_stays_bounded_and_files_go_away(tmp_path: Path) -> None:
    """Far more pairs than may be held, among them one key in every place of a part."""
    random = np.random.default_rng(0)
    with BlockRegistry(1000, tmp_path) as registry:
        for part in range(40):
            keys = random.integers(0, 1 << 63, 500, dtype=np.uint64)
            keys[:200] = 12345
            registry.add(str(part), keys, np.arange(part * 500, part * 500 + 500))
            held = sum(len(k) for k, _ in registry._runs.values() if not isinstance(k, np.memmap))
            assert held <= 1000
        assert list(tmp_path.rglob("*.npy"))
        found = list(registry.repeated())
        assert [(row.keys.tolist(), row.counts.tolist()) for row in found] == [([12345], [8000])]
        assert len(registry.colliding()) == 8000 - 1
    assert not list(tmp_path.iterdir())
