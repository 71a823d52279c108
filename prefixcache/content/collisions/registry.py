"""Which keys occur more than once in a whole dataset, found shard by shard in bounded memory.

Each part (a shard) is kept as one run of (key, owner) pairs sorted by key. Runs stay in memory up to ``memory_pairs``
pairs and go to files beyond. To find repeated keys the 64-bit range is cut into equal ranges of about ``memory_pairs``
pairs, and of every range each run's slice is read and reduced to its distinct pairs, which are merged.

Memory: about 80 bytes x ``memory_pairs``, plus one part; the keys are hashes, so ranges fill evenly, and however often
an owner repeats a key, it counts once. The result depends on the pairs alone, not on the order of the parts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.files import forget_pages

U64 = NDArray[np.uint64]
Array = NDArray[np.int64]
MEMORY_PAIRS = 1 << 20
MASTERS, WARMUP = -(1 << 41), -(1 << 40)  # owners: MASTERS + group, WARMUP + row, requests from 0 on in send order


@dataclass(frozen=True)
class Repeated:
    """Keys of one range that occur more than once, ascending: how often, and the smallest owner of each.

    ``places``, ``owners``, ``twice``: every owner of each of these keys, by key: the key's place in ``keys``, the
    owner, and whether it has the key more than once itself.
    """

    keys: U64
    counts: Array
    first_owner: Array
    places: Array
    owners: Array
    twice: NDArray[np.bool_]


class BlockRegistry:
    """Use as a context manager: the files go with it.

    Args:
        memory_pairs: pairs held in memory before runs go to files.
        folder: where the files are; default the system's temporary folder.
    """

    def __init__(self, memory_pairs: int = MEMORY_PAIRS, folder: Path | None = None) -> None:
        self.memory_pairs = memory_pairs
        self._folder = folder
        self._files: tempfile.TemporaryDirectory[str] | None = None
        self._runs: dict[str, tuple[U64, Array]] = {}
        self._held = 0
        self._written = 0

    def __enter__(self) -> BlockRegistry:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._runs.clear()
        if self._files is not None:
            self._files.cleanup()

    def __len__(self) -> int:
        """Pairs of all parts."""
        return sum(len(keys) for keys, _ in self._runs.values())

    def add(self, part: str, keys: U64, owners: Array) -> None:
        """Register a part's pairs; a part of that name is replaced. An owner's pairs are all in one part."""
        self.add_sorted(part, *sorted_pairs(keys, owners))

    def add_sorted(self, part: str, keys: U64, owners: Array) -> None:
        """As :meth:`add`, for pairs that are sorted by key and then owner; maps of files stay where they are."""
        self._runs[part] = (keys, owners)
        if not isinstance(keys, np.memmap):
            self._held += len(keys)
        if self._held > self.memory_pairs:
            self._spill()

    def _spill(self) -> None:
        if self._files is None:
            self._files = tempfile.TemporaryDirectory(prefix="registry-", dir=self._folder)
        for part, (keys, owners) in self._runs.items():
            if not isinstance(keys, np.memmap):
                self._runs[part] = (self._file(keys), self._file(owners))
        self._held = 0

    def _file(self, array: NDArray[Any]) -> Any:
        assert self._files is not None
        path = Path(self._files.name) / f"{self._written}.npy"
        self._written += 1
        np.save(path, array)
        return np.load(path, mmap_mode="r") if len(array) else array

    def repeated(self) -> Iterator[Repeated]:
        """Keys that occur more than once, range by range in ascending order."""
        ranges = max(1, -(-len(self) // self.memory_pairs))
        bounds = [(number << 64) // ranges for number in range(ranges + 1)]
        for low, high in pairwise(bounds):
            found = self._repeated_between(low, high)
            for run in self._runs.values():
                for array in run:
                    forget_pages(array)
            if len(found.keys):
                yield found

    def _repeated_between(self, low: int, high: int) -> Repeated:
        found = [_distinct(*self._slice(part, low, high)) for part in self._runs]
        keys = np.concatenate([np.zeros(0, np.uint64), *(own for own, _, _ in found)])
        order = np.argsort(keys, kind="stable")  # merges the runs, which are sorted already
        keys = keys[order]
        owners = np.concatenate([np.zeros(0, np.int64), *(own for _, own, _ in found)])[order]
        times = np.concatenate([np.zeros(0, np.int64), *(own for _, _, own in found)])[order]
        del found, order
        begins = np.flatnonzero(np.concatenate((keys[:1] == keys[:1], keys[1:] != keys[:-1])))
        if not len(begins):
            none = np.zeros(0, dtype=np.int64)
            return Repeated(keys, none, none, none, none, none.astype(np.bool_))
        sizes = np.diff(np.append(begins, len(keys)))
        counts = np.add.reduceat(times, begins)
        more = counts > 1
        pairs = np.repeat(more, sizes)
        return Repeated(
            keys[begins][more],
            counts[more],
            np.minimum.reduceat(owners, begins)[more],
            np.repeat(np.arange(int(more.sum())), sizes[more]),
            owners[pairs],
            times[pairs] > 1,
        )

    def _slice(self, part: str, low: int, high: int) -> tuple[U64, Array]:
        keys, owners = self._runs[part]
        begin = int(np.searchsorted(keys, np.uint64(low)))
        end = len(keys) if high >> 64 else int(np.searchsorted(keys, np.uint64(high)))
        return np.asarray(keys[begin:end]), np.asarray(owners[begin:end])

    def colliding(self) -> Array:
        """Owners that have to change so that every key is unique, ascending.

        Of the owners of one key the smallest may keep it: masters before warmup prompts before requests in send order.
        An owner that has a key twice must change whoever it is.
        """
        found = [np.zeros(0, dtype=np.int64)]
        for repeated in self.repeated():
            first = repeated.owners == repeated.first_owner[repeated.places]
            found.append(np.unique(repeated.owners[~first | repeated.twice]))
        return np.unique(np.concatenate(found))


def sorted_pairs(keys: U64, owners: Array) -> tuple[U64, Array]:
    """Pairs sorted by key and then owner."""
    if len(owners) < 2 or (owners[1:] >= owners[:-1]).all():
        by_key = np.argsort(keys, kind="stable")
    else:
        by_key = np.lexsort((owners, keys))
    return keys[by_key], owners[by_key]


def _distinct(keys: U64, owners: Array) -> tuple[U64, Array, Array]:
    """Distinct pairs of a sorted run, and how often each is there."""
    other = np.ones(len(keys), dtype=np.bool_)
    other[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])
    begins = np.flatnonzero(other)
    return keys[begins], owners[begins], np.diff(np.append(begins, len(keys)))
