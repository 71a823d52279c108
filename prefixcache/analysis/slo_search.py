"""The highest load that still meets an objective: growth by doubling, then bisection, over a grid of whole steps.

Nothing is taken for monotone that was not measured: every point is kept, growth goes on past the first miss for
``confirm`` points more, and a point that meets the objective above one that misses it is reported, not hidden. The
answer is the highest load that met it with every measured lower load meeting it too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Literal

from prefixcache.errors import InputError

Limit = Literal["found", "above_high", "below_low"]
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
        if self.first > self.last:
            raise InputError(
                f"there is no multiple of {self.step} from {self.low} to {self.high}",
                field="--low, --high",
                remedy="Give --high above --low, or a smaller --resolution.",
            )
        if not 0 < self.attainment <= 1:
            raise InputError(f"{self.attainment} is not above 0 and at most 1", field="--attainment",
                             remedy="Give a share of requests, e.g. 0.99.")  # fmt: skip
        if self.confirm < 0:
            raise InputError(f"{self.confirm} is below 0", field="--confirm", remedy="Give 0 or more points.")

    @property
    def first(self) -> int:
        return int((self.low / self.step).to_integral_value(ROUND_CEILING))

    @property
    def last(self) -> int:
        return int((self.high / self.step).to_integral_value(ROUND_FLOOR))

    def value(self, place: int) -> Decimal:
        return place * self.step


@dataclass(slots=True)
class Curve:
    """What was measured so far: place on the grid → attainment, None where it could not be told (a miss)."""

    bounds: Bounds
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


def search(bounds: Bounds, measure: Measure) -> dict[str, Any]:
    """Find the highest load that meets the objective.

    Args:
        bounds: where to look and what must be met.
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
