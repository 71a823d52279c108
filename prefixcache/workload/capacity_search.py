"""The smallest change of one lever that reaches the target in caches of a given size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from prefixcache.workload.capacity_trial import BLOCKS, Budget, CutShort, Trial, Workload, trial_of

SMALL = 200_000
"""Blocks up to which every option must find a plan within the tolerance; above, only the one that is suggested."""
LEVEL = Fraction(1, 1000)
"""Gain of twice the change below which a lever that grows without end is given up, the second time in a row."""
SPREAD = 16
FURTHER = 8
"""Options looked at beyond one that is reachable but that no plan comes near enough."""


@dataclass
class Search:
    """Options of one lever, mildest first.

    ``best``: the most that any option tried reaches, to begin with what is reached without a change. ``cut``: the
    budget ended before the smallest was found. ``strongest``: the last option looked at that fails.
    """

    base: Workload
    change: Callable[[Workload, int], Workload]
    best: Fraction
    budget: Budget = field(default_factory=Budget)
    cut: bool = False
    strongest: int | None = None
    found: Trial | None = None
    nearest: Trial | None = None
    """Of the options that fail, the one whose plans hit most as far as they were looked at."""
    last: Trial | None = None
    """The option looked at last."""

    def first(self, options: Sequence[int]) -> int | None:
        """The smallest option that works where stronger ones never do worse, else one that works beside one that fails.

        By steps that double, then by halving; of a large workload from the strongest on. None: none of those tried
        works.
        """
        return self._answer(options, _last(options) if self._is_large else _doubling(len(options), 1))

    def first_of_spread(self, options: Sequence[int]) -> int | None:
        """As :meth:`first`, where stronger options may do worse again: some from everywhere are tried before halving.

        Not of a large workload.
        """
        if self._is_large:
            return self.first(options)
        places = np.unique(np.linspace(0, max(len(options) - 1, 0), min(len(options), SPREAD)).astype(np.int64))
        return self._answer(options, places.tolist())

    def first_growing(self, options: range) -> int | None:
        """As :meth:`first`, where options cost more and more: given up where twice as much gains nothing, twice."""
        return self._answer(options, _doubling(len(options), max(options.start, 1)), endless=True)

    def first_around(self, options: Sequence[int], guess: int) -> int | None:
        """As :meth:`first`, beginning at a place in ``options``."""
        guess = min(max(guess, 0), len(options) - 1)
        step = max(guess // 16, 1)
        known = guess
        try:
            if self._works(options[guess]):
                for place in _doubling(guess + 1, step):
                    if place and not self._works(options[guess - place]):
                        return self._found(options, self._halved(options, guess - place, known))
                    known = guess - place
                return self._found(options, known)
        except CutShort:
            self.cut = True
            return self._found(options, known)
        above = [guess + place for place in _doubling(len(options) - guess, step)][1:]
        return self._answer(options, above, fails=guess)

    @property
    def _is_large(self) -> bool:
        return self.base.cost * SPREAD > BLOCKS // 8

    def _answer(
        self, options: Sequence[int], places: Iterable[int], *, endless: bool = False, fails: int = -1
    ) -> int | None:
        """``places``: those looked at first. ``fails``: a place that is known to."""
        meets, level, last = None, 0, Fraction(0)
        try:
            for place in places:
                if self._works(options[place]):
                    meets = place
                    break
                self.strongest = options[place]
                fails = max(fails, place)
                if endless:
                    ratio = self._completed(self.last)
                    level, last = level + 1 if ratio - last < LEVEL else 0, max(last, ratio)
                    if level > 1:
                        break
        except CutShort:
            self.cut = True
        return self._found(options, None if meets is None else self._halved(options, fails, meets))

    def _halved(self, options: Sequence[int], fails: int, meets: int) -> int:
        try:
            while meets - fails > 1:
                middle = (fails + meets) // 2
                fails, meets = (fails, middle) if self._works(options[middle]) else (middle, meets)
        except CutShort:
            self.cut = True
        return meets

    def _works(self, option: int) -> bool:
        workload = self.change(self.base, option)
        self.last = trial = trial_of(workload, self.budget)
        if trial is None:
            return False
        works = trial.passes() if workload.blocks <= SMALL else trial.reaches()
        if not works and (self.nearest is None or trial.seen >= self.nearest.seen):
            self.nearest = trial
        return works

    def _found(self, options: Sequence[int], needed: int | None) -> int | None:
        """Of a large workload only reachability was looked at so far; a plan must also come near the target."""
        for place in range(needed, min(needed + FURTHER, len(options))) if needed is not None else ():
            trial = trial_of(self.change(self.base, options[place]), Budget())
            if trial is not None and self._is_good(trial):
                self.found = trial
                return options[place]
        return None

    def _is_good(self, trial: Trial) -> bool:
        try:
            return trial.passes()
        except CutShort:
            return trial.seen >= trial.ratio_of(trial.goal)

    def reached(self) -> Fraction:
        """What the option found reaches at most, or the best of all tried."""
        if self.found is not None:
            try:
                return self.found.ratio_as_planned()
            except CutShort:
                return self.found.seen
        return max(self.best, self._completed(self.nearest))

    def _completed(self, trial: Trial | None) -> Fraction:
        if trial is None:
            return self.best
        try:
            return trial.ratio()
        except CutShort:
            self.cut = True
            return trial.seen


def _last(options: Sequence[int]) -> list[int]:
    return [len(options) - 1] if options else []


def _doubling(count: int, step: int) -> Iterator[int]:
    """Places 0, step, 3 step, 7 step, …, and the last."""
    place = 0
    while place < count - 1:
        yield place
        place, step = place + step, step * 2
    if count:
        yield count - 1
