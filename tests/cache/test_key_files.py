"""Keys in files, read depth by depth, against the same keys in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.cache.key_files import KeyFiles, by_depth, write_array
from prefixcache.cache.keyed import InMemory, OneAfterAnother
from prefixcache.cache.trie import leading_hits

KEYS = st.lists(st.lists(st.integers(0, 2), max_size=20), max_size=8)


def chained(row: list[int]) -> np.ndarray:
    key, found = 7, []
    for block in row:
        key = hash((key, block)) & ((1 << 63) - 1)
        found.append(key)
    return np.array(found, dtype=np.uint64)


@settings(max_examples=60, deadline=None)
@given(st.lists(KEYS, min_size=1, max_size=4))
def test_hits_do_not_depend_on_where_keys_are_kept(parts: list[list[list[int]]]) -> None:

    rows = [[chained(row) for row in part] for part in parts]
    flat = [row for part in rows for row in part]
    lengths = np.array([len(row) * 4 + 1 for row in flat], dtype=np.int64)
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, part in enumerate(rows):
            sizes = np.array([len(row) for row in part], dtype=np.int64)
            keys = np.concatenate([np.zeros(0, dtype=np.uint64), *part])
            paths.append(Path(folder) / f"{number}.npy")
            write_array(paths[-1], by_depth(keys, sizes))
        files = KeyFiles(paths, np.array([len(row) for row in flat], dtype=np.int64))
        expected = leading_hits(InMemory(flat), lengths, 4).tolist()
        assert leading_hits(files, lengths, 4).tolist() == expected
        split = OneAfterAnother([InMemory(flat[:3]), KeyFiles(paths, files.sizes)])
        again = leading_hits(split, np.concatenate([lengths[:3], lengths]), 4).tolist()
    assert again == leading_hits(InMemory([*flat[:3], *flat]), np.concatenate([lengths[:3], lengths]), 4).tolist()
