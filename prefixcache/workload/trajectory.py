"""The `trajectory` objective: the cumulative hit ratio follows the target from below (domain.md 3).

Lexicographic: the exact total; the least maximum overshoot of the cumulative ratio over the target in send order; the
least sum of |cumulative error|, the error being hits so far less target x input tokens so far, in tokens.

Up to five requests are solved exactly (:mod:`prefixcache.workload.trajectory_exact`). Above, one walk in send order: a
request takes the hits that bring the sum nearest to the target's line, never above the line plus the allowed overshoot;
where its lane's watermark is no more than that, it takes all of it and raises the watermark to its ceiling. The allowed
overshoot begins at the least that any plan needs and is bisected upwards until the walk ends on the goal. One walk is
about 0.1 s for 100k requests, there are at most ``WALKS``. How far both objectives are from a bound that no plan can
beat is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.watermark import simulate_cold
from prefixcache.workload.lanes import HitRules
from prefixcache.workload.trajectory_exact import best_prefixes, is_small

Tokens = NDArray[np.int64]
WALKS = 14
WARM = 1 << 40  # a watermark above every ceiling


@dataclass(frozen=True)
class Route:
    """A line of requests in send order. Lengths in tokens, the rest in units.

    ``opens``: per lane, whether it holds its domain's first request. ``goal``: hits of all together.
    """

    lengths: Tokens
    ceilings: Tokens
    lanes: Tokens
    opens: NDArray[np.bool_]
    goal: int
    target: Fraction
    unit: int
    rules: HitRules

    def line(self, ratio: Fraction) -> Tokens:
        """Whole units below ratio x input tokens so far."""
        sent = np.cumsum(self.lengths)
        top, bottom = ratio.numerator, ratio.denominator * self.unit
        if int(sent[-1]) * top < 1 << 62 and bottom < 1 << 62:
            below: Tokens = sent * top // bottom
            return below
        return (sent.astype(object) * top // bottom).astype(np.int64)

    def hits(self, prefixes: Tokens) -> Tokens:
        """Hits per request, in units."""
        if not self.rules.cold:
            return self.rules.worth(prefixes)
        order = np.arange(len(prefixes))
        start = np.where(self.opens, 0, self.rules.head)  # the watermark that a lane's first request meets
        watermark = np.maximum(simulate_cold(prefixes, self.lanes, order).before, start[self.lanes])
        return self.rules.worth(np.minimum(prefixes, watermark))


@dataclass(frozen=True)
class Course:
    """How the cumulative ratio runs. Ratios 0-1, errors in tokens.

    ``max_overshoot_bound``: no plan with this total overshoots less; ``mean_absolute_error_bound``: none that
    overshoots no more than this one comes nearer.
    """

    method: str
    max_overshoot: float
    max_overshoot_bound: float
    mean_absolute_error: float
    mean_absolute_error_bound: float


def trajectory_units(route: Route) -> tuple[Tokens, Course]:
    """Planned prefixes in units in send order with exactly ``route.goal`` hits, and how the ratio runs."""
    low, high = _corridor(route)
    if is_small(route):
        prefixes, method = best_prefixes(route, high), "exact"
    else:
        prefixes, method = _walk_until_it_ends_on_the_goal(route, low, high), "walk"
    return prefixes, _course(route, prefixes, low, high, method)


def _corridor(route: Route) -> tuple[Tokens, Tokens]:
    """Least and most hits so far, per request, of any plan that ends on the goal."""
    most = np.cumsum(route.hits(route.ceilings))
    least = np.cumsum(route.hits(np.full_like(route.ceilings, route.rules.head)))
    low = np.maximum(least, route.goal - (most[-1] - most))
    high = np.minimum(most, route.goal - (least[-1] - least))
    return low, high


def _course(route: Route, prefixes: Tokens, low: Tokens, high: Tokens, method: str) -> Course:
    sent = np.cumsum(route.lengths)
    hit = np.cumsum(route.hits(prefixes))
    over = _overshoot(route, hit)
    error = _mean_error(route, hit)
    if method == "exact":
        return Course(method, over, over, error, error)
    # Whole units around the line, inside what can be reached and under this plan's own overshoot.
    excess = hit * route.unit / sent
    place = int(np.argmax(excess))
    own = Fraction(int(hit[place]) * route.unit, int(sent[place]))
    top = np.maximum(np.minimum(high, route.line(max(own, route.target))), low)
    below = np.clip(route.line(route.target), low, top)
    above = np.minimum(below + 1, top)
    line = float(route.target) * sent
    nearest = np.where(np.abs(above * route.unit - line) < np.abs(below * route.unit - line), above, below)
    return Course(method, over, _overshoot(route, low), error, _mean_error(route, nearest))


def _mean_error(route: Route, hits: Tokens) -> float:
    return float(np.abs(hits * route.unit - float(route.target) * np.cumsum(route.lengths)).mean())


def _overshoot(route: Route, hits: Tokens) -> float:
    """Largest excess of the cumulative ratio over the target."""
    return float(max(np.max(hits * route.unit / np.cumsum(route.lengths) - float(route.target)), 0.0))


def _walk_until_it_ends_on_the_goal(route: Route, low: Tokens, high: Tokens) -> Tokens:
    sent = np.cumsum(route.lengths)
    place = int(np.argmax(low * route.unit / sent))
    least = max(route.target, Fraction(int(low[place]) * route.unit, int(sent[place])))
    near = (route.line(2 * route.target) + 1) // 2  # nearest whole unit to the target's line
    walker = _Walker(route, near, low, high)
    found = walker.walk(route.line(least))
    if found is not None:
        return found
    most = max(Fraction(1), least)
    found = walker.walk(high)  # no limit: whatever can be raised is
    for _ in range(WALKS - 2):
        middle = (least + most) / 2
        middle = Fraction(round(middle * (1 << 20)), 1 << 20)
        trial = walker.walk(route.line(middle))
        if trial is None:
            least = middle
        else:
            found, most = trial, middle
    assert found is not None, "a walk without limit ends on the goal"
    return found


class _Walker:
    """The walk in send order, on plain lists: one pass of a few additions and comparisons per request."""

    def __init__(self, route: Route, near: Tokens, low: Tokens, high: Tokens) -> None:
        self.route = route
        self.near, self.low, self.high = near, low.tolist(), high.tolist()
        self.ceilings, self.lanes = route.ceilings.tolist(), route.lanes.tolist()

    def walk(self, limit: Tokens) -> Tokens | None:
        """Prefixes whose hits so far keep to ``limit`` where they can; None if they do not end on the goal."""
        rules, lanes = self.route.rules, len(self.route.opens)
        head, drop, least = rules.head, rules.drop, rules.head_worth
        watermark = [-1 if rules.cold else WARM] * lanes
        opens = self.route.opens.tolist()
        wanted = np.minimum(self.near, limit).tolist()
        matched: list[int] = []
        raised: list[int] = []
        total = 0
        rows = zip(self.ceilings, self.lanes, wanted, limit.tolist(), self.low, self.high, strict=True)
        for ceiling, lane, want, most, low, high in rows:
            level = watermark[lane]
            if level < 0:  # the lane's first request finds the head at most, whatever it shares
                level = 0 if opens[lane] else head
                watermark[lane] = ceiling
                matched.append(head)
                raised.append(ceiling)
                total += level - drop if level > drop else 0
                continue
            full = level - drop if level > drop else 0
            if ceiling > level and total + full <= most and total + full <= high:
                watermark[lane] = ceiling
                matched.append(level)
                raised.append(ceiling)
                total += full
                continue
            if ceiling < level:
                full = ceiling - drop if ceiling > drop else 0
            hit = max(want, low)
            hit = min(hit, high) - total
            hit = max(least, min(hit, full))
            match = hit + drop if hit else head
            matched.append(match)
            raised.append(match)
            total += hit
        if total != self.route.goal:
            return None
        return self._no_longer_than_used(np.array(matched), np.array(raised))

    def _no_longer_than_used(self, matched: Tokens, raised: Tokens) -> Tokens:
        """Cut every prefix to what it matches itself or a later request of its lane does; no hit changes."""
        if not self.route.rules.cold:
            return matched
        lanes = self.route.lanes
        by_lane = np.lexsort((-np.arange(len(lanes)), lanes))  # each lane from its last request to its first
        lift = lanes[by_lane] * (int(raised.max()) + 1)
        used = np.empty_like(matched)
        used[by_lane] = np.maximum.accumulate(matched[by_lane] + lift) - lift
        return np.minimum(raised, used)
