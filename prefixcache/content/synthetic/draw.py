"""Choices that depend only on a seed and a counter, so that any sample can be made alone, on any machine."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

_T = TypeVar("_T")
# Part of every hash: raise it when the texts are meant to change.
_PERSON = b"synthetic-v1"
_UNPACK = struct.Struct("<16I").unpack


class Draw:
    """A stream of choices for one (seed, index), sixteen 32-bit words per BLAKE2b block.

    A choice among n scales a word by n, in integers: uneven by less than n / 2**32, the same everywhere. Floats and
    library distributions are avoided because their results may change with version and platform.
    """

    __slots__ = ("_block", "_key", "_words")

    def __init__(self, seed: int, index: int) -> None:
        self._key = f"{seed}|{index}|"
        self._block = 0
        self._words: list[int] = []

    def below(self, bound: int) -> int:
        """An integer from 0 to ``bound`` - 1."""
        if not self._words:
            digest = blake2b(f"{self._key}{self._block}".encode(), person=_PERSON).digest()
            self._words = list(_UNPACK(digest))
            self._block += 1
        return (self._words.pop() * bound) >> 32

    def between(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def pick(self, choices: Sequence[_T]) -> _T:
        return choices[self.below(len(choices))]

    def two(self, choices: Sequence[_T]) -> tuple[_T, _T]:
        """Two choices at different positions."""
        first = self.below(len(choices))
        second = (first + 1 + self.below(len(choices) - 1)) % len(choices)
        return choices[first], choices[second]
