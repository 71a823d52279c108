"""Block keys of a dataset's shards, one file per shard, read back depth by depth.

A file is an uint64 array of shape (depths, prompts): row d holds the prompts' keys at depth d, 0 beyond their ends. All
prompts at one depth stand together, so a simulation that goes down depth by depth reads each file once from front to
back and holds a few rows of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.files import replacing

U64 = NDArray[np.uint64]
Counts = NDArray[np.int64]


def by_depth(keys: U64, sizes: Counts) -> U64:
    """Keys of prompts one after the other, as a (depths, prompts) array."""
    depths = int(sizes.max(initial=0))
    table = np.zeros((depths, len(sizes)), dtype=np.uint64)
    prompt = np.repeat(np.arange(len(sizes)), sizes)
    depth = np.arange(len(keys)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    table[depth, prompt] = keys
    return table


def write_array(path: Path, table: NDArray[Any]) -> None:
    """Written aside and renamed; not synced, since what is lost in a power failure is computed again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, sync=False) as file:
        np.save(file, table)


class KeyFiles:
    """A :class:`prefixcache.cache.keyed.KeyRows` over files; prompts arrive file by file.

    Args:
        paths: files of :func:`by_depth` tables.
        sizes: keys of each prompt, over all files.
    """

    def __init__(self, paths: Sequence[Path], sizes: Counts) -> None:
        self._paths = list(paths)
        self._sizes = sizes
        counts = [np.load(path, mmap_mode="r").shape[1] for path in self._paths]
        self._ends = np.cumsum(counts, dtype=np.int64)
        if int(self._ends[-1] if len(counts) else 0) != len(sizes):
            raise ValueError(f"{len(sizes)} prompts, the files hold {self._ends[-1] if len(counts) else 0}")

    @property
    def sizes(self) -> Counts:
        return self._sizes

    def slab(self, start: int, stop: int, prompts: Counts) -> U64:
        found = np.zeros((stop - start, len(prompts)), dtype=np.uint64)
        bounds = np.searchsorted(prompts, self._ends)
        begin, first = 0, 0
        for path, end, last in zip(self._paths, bounds.tolist(), self._ends.tolist(), strict=True):
            if begin < end:
                # Opened anew for each slab, so that pages already read do not stay mapped.
                rows = np.load(path, mmap_mode="r")[start:stop]
                found[: len(rows), begin:end] = rows[:, prompts[begin:end] - first]
            begin, first = end, last
        return found
