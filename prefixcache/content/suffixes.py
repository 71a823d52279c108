"""Natural suffixes: runs of source samples, cut where text may be cut, filled up to the exact length (RFC 3.3.13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.mixing import combine
from prefixcache.content.selection import Picker

Array = NDArray[np.int64]


@dataclass(frozen=True)
class SuffixRuns:
    """Per request, int64 (n,): the run ``[first, first + run)`` of corpus tokens, a second run behind it, filler words
    before the separator and closing words behind the text. Where there is no run the whole suffix is filler."""

    first: Array
    run: Array
    second: Array
    rerun: Array
    fill: Array
    close: Array

    def pieces(self, request: int) -> list[tuple[int, int]]:
        found = [
            (int(self.first[request]), int(self.run[request])),
            (int(self.second[request]), int(self.rerun[request])),
        ]
        return [(start, start + size) for start, size in found if size]


def suffix_runs(
    picker: Picker, lengths: Array, numbers: Array, keys: NDArray[np.uint64], *, closing: bool
) -> SuffixRuns:
    """Choose the runs of many requests at once.

    A run ends where text may end; what is missing to the exact length are neutral words before the separator.

    Args:
        lengths: tokens of each suffix. numbers: generated index of each request. keys: content key of each request.
        closing: the text has to end with a SAFE word.

    Raises:
        EnvironmentFailure: the source is smaller than a suffix.
    """
    corpus = picker.corpus
    gap = len(corpus.separator_ids)
    close = np.where(lengths > gap + 1, 1, 0) if closing else np.zeros_like(lengths)
    wanted = np.maximum(lengths - gap - close, 0)
    choice = combine(keys, -1)
    none = np.zeros_like(lengths)
    if picker.selection == "fixed":
        first, run, second, rerun = _after_listed(picker, wanted, numbers, choice)
    else:
        first = picker.begin(wanted, numbers, choice)
        run = _legal(picker, first, wanted)
        second = rerun = none
    total = run + rerun
    fill = np.where(total > 0, wanted - total, lengths)
    return SuffixRuns(first, run, second, rerun, fill, np.where(total > 0, close, 0))


def _legal(picker: Picker, first: Array, wanted: Array) -> Array:
    """Tokens from ``first`` on up to the last legal end within ``wanted``."""
    last = picker.corpus.keep[np.maximum(first + wanted - 1, 0)]
    return np.where(wanted > 0, np.maximum(last - first + 1, 0), 0)


def _after_listed(
    picker: Picker, wanted: Array, numbers: Array, keys: NDArray[np.uint64]
) -> tuple[Array, Array, Array, Array]:
    """The listed samples, then a run of any others."""
    listed = picker.listed_tokens
    rest = np.maximum(wanted - listed, 0)
    second = np.zeros_like(wanted)
    if (more := rest > 0).any():
        second[more] = picker.begin(rest[more], numbers[more], keys[more])
    rerun = _legal(picker, second, rest)
    first = np.zeros_like(wanted)
    # Where nothing follows, the listed samples have to end where text may end.
    run = np.where(rerun > 0, listed, _legal(picker, first, np.minimum(wanted, listed)))
    return first, run, second, rerun
