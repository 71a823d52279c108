"""The highest load that still meets an objective: growth by doubling, then bisection, over a grid of whole steps; or
given loads, each of which is measured.

Nothing is taken for monotone that was not measured: every point is kept, growth goes on past the first miss for
``confirm`` points more, and a point that meets the objective above one that misses it is reported, not hidden. The
answer is the highest load that met it with every measured lower load meeting it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Any, Literal

from prefixcache.errors import InputError

Limit = Literal["found", "above_high", "below_low"]
MOST_CONFIRM, MOST_LOADS = 1000, 1000
_NUMBER = re.compile(r"(\d{1,15}(\.\d{0,15})?|\.\d{1,15})", re.ASCII)
Measure = Callable[[Decimal], float | None]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is searched: the multiples of ``step`` from ``low`` to ``high``.

    Args:
        low, high: the range, both included where they are multiples of ``step``.
        step: the resolution; 1 for concurrency.
        attainment: share of good requests that a load must have, 0-1.
        confirm: points above the first miss that are measured before growth ends.

    Raises:
        InputError: an empty or impossible range.
    """

    low: Decimal
    high: Decimal
    step: Decimal = Decimal(1)
    attainment: float = 0.99
    confirm: int = 1

    def __post_init__(self) -> None:
        for name, value in (("--low", self.low), ("--high", self.high), ("--resolution", self.step)):
            if not (value.is_finite() and value > 0):
                raise InputError(f"{value} is not above 0", field=name, remedy="Give a number above 0.")
        low, high, step = (f"{value.normalize():f}" for value in (self.low, self.high, self.step))
        if self.low > self.high:
            raise InputError(f"--low {low} is above --high {high}", field="--low, --high", remedy="Swap them.")
        if self.first > self.last:
            raise InputError(
                f"there is no multiple of {step} from {low} to {high}",
                field="--low, --high",
                remedy="Give --high above --low, or a smaller --resolution.",
            )
        _check_attainment(self.attainment)
        if not 0 <= self.confirm <= MOST_CONFIRM:
            what = f"{self.confirm} is not 0 to {MOST_CONFIRM:,}"
            raise InputError(what, field="--confirm", remedy="Give 0 or more points.")

    @property
    def first(self) -> int:
        return int((self.low / self.step).to_integral_value(ROUND_CEILING))

    @property
    def last(self) -> int:
        return int((self.high / self.step).to_integral_value(ROUND_FLOOR))

    def value(self, place: int) -> Decimal:
        return place * self.step


@dataclass(frozen=True, slots=True)
class Loads:
    """Exactly these loads, in rising order: nothing is searched.

    Raises:
        InputError: none, one below another or twice, one that is not above 0, or an impossible share.
    """

    values: tuple[Decimal, ...]
    attainment: float = 0.99

    def __post_init__(self) -> None:
        if not self.values or any(not (value.is_finite() and value > 0) for value in self.values):
            raise _no_loads("a load is not above 0" if self.values else "no load is given")
        if len(self.values) > MOST_LOADS:
            raise _no_loads(f"{len(self.values):,} loads are more than {MOST_LOADS:,}")
        if any(a >= b for a, b in pairwise(self.values)):
            raise _no_loads("the loads do not rise, or one stands twice")
        _check_attainment(self.attainment)

    @property
    def low(self) -> Decimal:
        return self.values[0]

    @property
    def high(self) -> Decimal:
        return self.values[-1]

    def value(self, place: int) -> Decimal:
        return self.values[place]


def parse_loads(text: str) -> tuple[Decimal, ...]:
    """Read ``1,2,4,8``, in any order.

    Raises:
        InputError: a part is no number.
    """
    found = []
    for part in text.split(","):
        if not _NUMBER.fullmatch(part.strip()):
            raise _no_loads(f"{part.strip()!r} is no load")
        found.append(Decimal(part.strip()))
    return tuple(sorted(found))


def _no_loads(what: str) -> InputError:
    return InputError(what, field="--points", remedy="Write numbers above 0 with commas between them, e.g. 1,2,4,8.")


def _check_attainment(share: float) -> None:
    if not 0 < share <= 1:
        raise InputError(
            f"{share} is not above 0 and at most 1", field="--attainment", remedy="Give a share of requests, e.g. 0.99."
        )


@dataclass(slots=True)
class Curve:
    """What was measured so far: place on the grid (or among the loads) → attainment, None where it could not be told (a
    miss)."""

    bounds: Bounds | Loads
    points: dict[int, float | None] = field(default_factory=dict)

    def meets(self, place: int) -> bool:
        share = self.points[place]
        return share is not None and share >= self.bounds.attainment

    @property
    def lowest_miss(self) -> int | None:
        return min((p for p in self.points if not self.meets(p)), default=None)

    @property
    def best(self) -> int | None:
        """The highest place that met it, all measured lower ones too."""
        miss = self.lowest_miss
        return max((p for p in self.points if self.meets(p) and (miss is None or p < miss)), default=None)

    @property
    def highest_met(self) -> int | None:
        return max((p for p in self.points if self.meets(p)), default=None)


def search(bounds: Bounds | Loads, measure: Measure) -> dict[str, Any]:
    """Find the highest load that meets the objective.

    Args:
        bounds: where to look and what must be met; or all loads that are measured.
        measure: load → attainment; called at most once per load, in the order in which ``points`` lists them.

    Returns:
        ``best`` (None if even the lowest load misses), ``limit``: ``found``, ``above_high`` (the highest load meets
        it: the limit lies above) or ``below_low``; ``points[] {value, attainment, meets}`` in the order of measuring;
        ``monotone`` and ``exceptions[] {value, below}``: loads that met it above one that missed; ``highest_met``.
    """
    curve = Curve(bounds)

    def at(place: int) -> bool:
        if place not in curve.points:
            curve.points[place] = measure(bounds.value(place))
        return curve.meets(place)

    if isinstance(bounds, Loads):
        for place in range(len(bounds.values)):
            at(place)
    else:
        _grow(bounds, at)
        _bisect(curve, at)
    return _result(curve)


def _grow(bounds: Bounds, at: Callable[[int], bool]) -> None:
    """Double from the lowest load until ``confirm + 1`` loads in a row miss; a lowest load that misses ends it."""
    place, missed = bounds.first, 0
    while True:
        missed = 0 if at(place) else missed + 1
        if missed > bounds.confirm or place == bounds.last or (missed and place == bounds.first):
            return
        place = min(place * 2, bounds.last)


def _bisect(curve: Curve, at: Callable[[int], bool]) -> None:
    """Halve the gap below the lowest miss until it is one step wide; a miss further down moves the gap there."""
    while True:
        low, high = curve.best, curve.lowest_miss
        if low is None or high is None or high - low <= 1:
            return
        at((low + high) // 2)


def _result(curve: Curve) -> dict[str, Any]:
    bounds, best, miss = curve.bounds, curve.best, curve.lowest_miss
    limit: Limit = "below_low" if best is None else "above_high" if miss is None else "found"
    odd = [place for place in sorted(curve.points) if curve.meets(place) and miss is not None and place > miss]

    def shown(place: int | None) -> int | float | None:
        return None if place is None else number(bounds.value(place))

    return {
        "best": shown(best),
        "best_attainment": None if best is None else curve.points[best],
        "limit": limit,
        "highest_met": shown(curve.highest_met),
        "monotone": not odd,
        "exceptions": [{"value": shown(place), "below": shown(miss)} for place in odd],
        "points": [
            {"value": shown(place), "attainment": share, "meets": curve.meets(place)}
            for place, share in curve.points.items()
        ],
    }


def bound(value: float) -> Decimal:
    """A number as a user wrote it: 0.1 is one tenth."""
    return Decimal(repr(value))


def number(value: Decimal) -> int | float:
    """A load as JSON writes it: whole where it is."""
    return int(value) if value == value.to_integral_value() else float(value)
