"""The hit unit and the hit drop from a few prompts: f(s) = u·max(0, ⌊s/u⌋ − d), s the shared leading tokens.

With h = f(S) the smallest s* that still hits h is s* = h + d·u, and one token less hits one unit less:
u = h − f(s* − 1).
The first step, at (d + 1)·u, and points drawn at random must then fit; one that does not makes the answer
"inconsistent", never a number. Nor does a single step make one: any one fits a unit of its own length.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from prefixcache.probe.reading import Reading

RUNGS = (512, 2048, 8192, 32768)
CHECKS = 9
MOST_DROP = 4
"""Units that an engine throws away at most; speculative decoding is known to cost one."""
AGAIN, ASKED_AGAIN = 2, 2048
"""How often a miss is looked at again, and up to which length: a router may have led elsewhere."""
FEW = 32
"""Tokens that a small unit's rules are tried with at least: a single token may be shared by chance."""

Measure = Callable[[int], Awaitable[Reading]]


@dataclass(slots=True)
class UnitFinding:
    """What the prompts showed.

    Args:
        outcome: ``found``; ``no_hit`` (nothing hit up to ``reach`` tokens); ``untold`` (neither answers nor counters
            tell hits); ``inconsistent`` (the readings contradict each other); ``one_step`` (hits rise once only up to
            ``reach``); ``coarse`` (told by a rate too rounded for a unit so small).
        unit, drop: hit unit in tokens, and dropped units; None unless found.
        reach: the most shared tokens that were tried.
        readings: all of them, in order.
        against: readings that fit no unit, with what they should have hit.
    """

    outcome: Literal["found", "no_hit", "untold", "inconsistent", "one_step", "coarse"]
    unit: int | None = None
    drop: int | None = None
    reach: int = 0
    readings: list[Reading] = field(default_factory=list)
    against: list[tuple[Reading, float]] = field(default_factory=list)


def hits_of(shared: int, length: int, unit: int, drop: int) -> int:
    """Tokens that a prompt of ``length`` hits which shares ``shared`` leading tokens with a cached one: the last token
    is always computed."""
    return unit * max(0, min(shared, length - 1) // unit - drop)


def rungs(most: int, wanted: Sequence[int] = RUNGS) -> list[int]:
    """Lengths of the base prompt to try, ascending, none above ``most`` tokens; ``most`` itself if a rung is above."""
    fitting = [rung for rung in wanted if rung <= most]
    if len(fitting) < len(wanted) and most > (fitting[-1] if fitting else 0) and most >= 2:
        fitting.append(most)
    return fitting


def units_tried(unit: int, drop: int) -> int:
    """Units of a prompt that a rule is tried with: so many that one is hit and one is not."""
    return max(drop + 2, -(-FEW // unit))


class UnitSearch:
    """Finds the unit with readings of ``measure``.

    Args:
        grow: makes the base prompt so long and sends it: it is cached afterwards.
        measure: sends a prompt that shares so many leading tokens with the base prompt and then leaves it.
        luck: draws the checked points.
    """

    def __init__(self, grow: Callable[[int], Awaitable[None]], measure: Measure, luck: random.Random) -> None:
        self._grow = grow
        self._measure = measure
        self._luck = luck
        self.found = UnitFinding("no_hit")
        self._seen: dict[int, Reading] = {}

    async def run(self, lengths: Sequence[int]) -> UnitFinding:
        """Try base prompts of these lengths until one is hit, then search. What a time-out interrupts stays in
        ``found``."""
        for length in lengths:
            await self._grow(length)
            self._seen.clear()
            top = await self._read(length)
            self.found.reach = length
            if top.hit is None:
                self.found.outcome = "untold"
                if length >= ASKED_AGAIN:
                    return self.found
                continue  # some tell no 0
            self.found.outcome = "no_hit"
            if top.hit > top.slack:
                found = await self._search(length, top)
                if found.outcome == "one_step" and length < max(lengths):
                    continue
                return found
            if length <= ASKED_AGAIN and (other := await self._again(length)) is not None:
                return self._inconsistent(other, 0.0)
        return self.found

    async def _again(self, length: int) -> Reading | None:
        """A reading that hits where the first one did not: then the address leads to several caches."""
        for _ in range(AGAIN):
            reading = await self._measure(length)
            self.found.readings.append(reading)
            if reading.hit is not None and reading.hit > reading.slack:
                return reading
        return None

    async def _search(self, length: int, top: Reading) -> UnitFinding:
        assert top.hit is not None
        full = top.hit
        edge = await self._edge(length, full)
        below = await self._read(edge - 1)
        unit = round(full - (below.hit or 0.0))
        if top.slack and unit <= 2 * top.slack:
            self.found.outcome = "coarse"
            return self.found
        if unit < 1 or edge < unit:
            return self._inconsistent(below, full)
        drop = round((edge - full) / unit)
        if abs(edge - drop * unit - full) > top.slack or not 0 <= drop <= MOST_DROP:
            return self._inconsistent(top, edge - drop * unit)
        if top.slack:  # a rounded rate tells the unit only nearly; the edge of a whole unit is a multiple of it
            unit = max(1, round(edge / max(1, round(edge / unit))))
        if round(full / unit) < 2:
            self.found.outcome = "one_step"
            return self.found
        for shared in self._points(length, edge, unit, drop):
            reading = await self._read(shared)
            wanted = hits_of(reading.shared, reading.length, unit, drop)
            if not reading.is_hit(wanted) and (wanted or reading.hit is not None):
                self.found.against.append((reading, wanted))
        if self.found.against:
            self.found.outcome = "inconsistent"
            return self.found
        self.found.outcome, self.found.unit, self.found.drop = "found", unit, drop
        return self.found

    async def stride(self, length: int) -> int | None:
        """Shared tokens between the last two steps, whatever number of hits each of them is told as."""
        top = await self._read(length)
        last = await self._edge(length, top.hit or 0.0, scaled=True)
        below = await self._read(last - 1)
        if not below.hit:
            return None
        return last - await self._edge(last - 1, below.hit, scaled=True)

    async def _edge(self, length: int, full: float, *, scaled: bool = False) -> int:
        """The least shared tokens that hit as many as ``length`` of them do.

        Args:
            length: shared tokens that hit ``full``.
            scaled: hits may be told in another unit than tokens.
        """
        slack = self._seen[length].slack
        # Fewer shared tokens than hits cannot be.
        low, high = 0 if scaled else max(0, round(full - slack) - 1), length
        guess = 0 if scaled else round(full)
        while high - low > 1:
            middle = guess if low < guess < high else (low + high) // 2
            guess = 0
            reading = await self._read(middle)
            if reading.hit is not None and reading.hit >= full - slack:
                high = middle
            else:
                low = middle
        return high

    def _points(self, length: int, edge: int, unit: int, drop: int) -> list[int]:
        """The first step, around the edge, and around and between multiples drawn at random; each once and none
        measured before."""
        most = max(1, length // unit)
        drawn = [self._luck.randint(1, most) * unit + step for step in (-1, 0, 1)]
        drawn += [self._luck.randint(1, length) for _ in range(2)]
        first = unit * (drop + 1)
        points = [first, first - 1, edge + 1, edge - unit, *drawn]
        kept = dict.fromkeys(point for point in points if 1 <= point <= length and point not in self._seen)
        chosen = list(kept)[:CHECKS]
        self._luck.shuffle(chosen)  # no router's turns are in step with them
        return chosen

    async def _read(self, shared: int) -> Reading:
        if shared not in self._seen:
            reading = await self._measure(shared)
            self._seen[shared] = reading
            self.found.readings.append(reading)
        return self._seen[shared]

    def _inconsistent(self, reading: Reading, wanted: float) -> UnitFinding:
        self.found.outcome = "inconsistent"
        self.found.against.append((reading, wanted))
        return self.found
