"""Keys of many prompts, looked at depth by depth, wherever they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
Counts = NDArray[np.int64]


class KeyRows(Protocol):
    """Chained block keys of prompts in arrival order."""

    @property
    def sizes(self) -> Counts:
        """Keys per prompt, shape (n,)."""
        ...

    def slab(self, start: int, stop: int, prompts: Counts) -> U64:
        """Keys at depths [start, stop) of these prompts (ascending), shape (stop - start, len(prompts)).

        What stands beyond a prompt's end is of no meaning.
        """
        ...


@dataclass(frozen=True)
class InMemory:
    """Keys held as one array per prompt."""

    rows: Sequence[U64]

    @property
    def sizes(self) -> Counts:
        return np.array([len(row) for row in self.rows], dtype=np.int64)

    def slab(self, start: int, stop: int, prompts: Counts) -> U64:
        found = np.zeros((len(prompts), stop - start), dtype=np.uint64)
        for row, prompt in zip(found, prompts.tolist(), strict=True):
            part = self.rows[prompt][start:stop]
            row[: len(part)] = part
        return np.ascontiguousarray(found.T)


@dataclass(frozen=True)
class OneAfterAnother:
    """Prompts of several collections as one: the second's arrive after the first's."""

    parts: Sequence[KeyRows]

    @property
    def sizes(self) -> Counts:
        return np.concatenate([np.zeros(0, dtype=np.int64), *(part.sizes for part in self.parts)])

    def slab(self, start: int, stop: int, prompts: Counts) -> U64:
        found = np.zeros((stop - start, len(prompts)), dtype=np.uint64)
        first = 0
        for part in self.parts:
            count = len(part.sizes)
            begin, end = np.searchsorted(prompts, (first, first + count))
            if begin < end:
                found[:, begin:end] = part.slab(start, stop, prompts[begin:end] - first)
            first += count
        return found
