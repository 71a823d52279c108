"""What a repair changes, in the order of RFC 3.3.15: divergence block, samples, a request mark at a sample boundary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.seams import Seams

Array = NDArray[np.int64]
STEPS = ("none", "new_divergence", "other_samples", "request_mark")
NEW_DIVERGENCE, OTHER_SAMPLES, REQUEST_MARK = 1, 2, 3
APART = 1 << 16  # retries for other reasons have the numbers below
BY_CONSTRUCTION, REPAIRED, UNRESOLVED = "unique_by_construction", "repaired", "unresolved"
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
MARK = ("note", "case", "request")


def step_of(retry: int, most: int) -> int:
    """The step that retry number ``retry`` (from 1) of ``most`` is: the retries are spread over the three steps."""
    return min(REQUEST_MARK, 1 + (retry - 1) * REQUEST_MARK // max(most, 1)) if retry else 0


@dataclass(frozen=True)
class Repairs:
    """Per prompt: retries so far and whether the last one helped.

    ``entries``: (generated index, retries, unresolved), sorted; warmup prompts have negative indices as in the plan.
    ``most``: ``max_retries``.
    """

    entries: tuple[tuple[int, int, bool], ...] = ()
    most: int = 0

    @classmethod
    def of(cls, entries: Iterable[Iterable[int]], most: int) -> Repairs:
        rows = [tuple(entry) for entry in entries]
        return cls(tuple(sorted((int(index), int(retry), bool(open_)) for index, retry, open_ in rows)), most)

    def numbers(self, indices: Array) -> tuple[Array, Array, Array]:
        """Retry numbers of words and of samples, for content keys, and the steps; all 0 where nothing collided."""
        retries, steps = self.retries(indices), self.steps(indices)
        own = retries * APART
        return own, np.where(steps >= OTHER_SAMPLES, own, 0), steps

    def retries(self, indices: Array) -> Array:
        """Retries of these prompts, int64."""
        known = {index: retry for index, retry, _ in self.entries}
        return np.array([known.get(index, 0) for index in indices.tolist()], dtype=np.int64)

    def steps(self, indices: Array) -> Array:
        """The step each prompt was built with: a position in ``STEPS``."""
        return np.array([step_of(retry, self.most) for retry in self.retries(indices).tolist()], dtype=np.int64)

    def statuses(self, indices: Array) -> list[str]:
        """The collision status of each prompt."""
        known = {index: (retry, unresolved) for index, retry, unresolved in self.entries}
        found = [known.get(index, (0, False)) for index in indices.tolist()]
        return [UNRESOLVED if bad else REPAIRED if retry else BY_CONSTRUCTION for retry, bad in found]

    def names(self, indices: Array) -> list[str | None]:
        """The last step tried for each prompt, None where there was none."""
        return [STEPS[step] if step else None for step in self.steps(indices).tolist()]


def with_mark(words: Array, seams: Seams, index: int, end: int, keep: int) -> Array:
    """The words of a divergence block with the request's mark before place ``end``, where its first sample begins.

    Args:
        keep: words at the beginning that stay, since they tell siblings apart.
    """
    mark = request_mark(seams, index, end - keep)
    words[end - len(mark) : end] = mark
    return words


def request_mark(seams: Seams, index: int, room: int) -> Array:
    """The request's number in words, e.g. " note four eight two one", as positions of SAFE words.

    Where the tokenizer keeps too few of the digits apart, everyday words stand for them. Warmup prompts (negative
    indices) say the first word twice.

    Args:
        room: most words; the number's last digits are kept.
    """
    digits = seams.positions(DIGITS)
    if len(digits) < 2:
        digits = np.arange(min(max(seams.common, 2), 10))
    number = index if index >= 0 else -1 - index
    mark = seams.positions(MARK)[:1].tolist() or digits[:1].tolist()
    words: list[int] = []
    while number or not words:
        number, digit = divmod(number, len(digits))
        words.insert(0, int(digits[digit]))
    whole = [*mark, *(mark if index < 0 else ()), *words]
    return np.array(whole, dtype=np.int64)[-room:] if room > 0 else digits[:0]
