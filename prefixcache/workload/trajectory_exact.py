"""The best trajectory of up to five requests, by a table over (watermark, hits so far).

Of five requests at most one lane has three or more, and only such a lane has a choice of watermark: a lane's first
request hits the same whatever it shares, so where one more follows it shares all it may. Each step moves the table in
whole-array operations: a request stays at or below the watermark and hits any amount up to it, or hits all of it and
raises it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from prefixcache.workload.trajectory import Route

Tokens = NDArray[np.int64]
Table = NDArray[np.float64]
MOST_REQUESTS = 5
MOST_CELLS = 1 << 22  # 32 MB per table


def is_small(route: Route) -> bool:
    """Few enough requests, and prefixes short enough for the table."""
    if len(route.lengths) > MOST_REQUESTS:
        return False
    return (int(route.ceilings.max()) - route.rules.head + 1) * (route.goal + 1) <= MOST_CELLS


@dataclass(frozen=True)
class _Step:
    """One request: hits any of [low, high per row]; ``rises``: may raise the watermark up to row ``top``; ``starts``:
    the first of the big lane, which sets it to any row up to ``top``."""

    low: int
    high: Tokens
    rises: bool
    starts: bool
    top: int


def best_prefixes(route: Route, high: Tokens) -> Tokens:
    """Planned prefixes in units, in send order. ``high``: most hits so far of any plan that ends on the goal."""
    steps, levels = _steps(route)
    sent = np.cumsum(route.lengths).astype(np.float64)
    hits = np.arange(route.goal + 1)
    line = [float(route.target * int(total)) for total in np.cumsum(route.lengths)]
    over = []
    for place, total in enumerate(sent):
        ratio = hits * route.unit / total
        ratio[: route.line(route.target)[place] + 1] = 0.0  # at or below the line there is no overshoot
        ratio[high[place] + 1 :] = np.inf
        over.append(ratio)
    least = _run(route, steps, levels, over, np.maximum)[-1][:, route.goal].min()
    error = [
        np.where(ratio <= least, np.abs(hits * route.unit - at), np.inf) for ratio, at in zip(over, line, strict=True)
    ]
    return _trace(route, steps, levels, _run(route, steps, levels, error, np.add))


def _steps(route: Route) -> tuple[list[_Step], Tokens]:
    """The requests as moves of the table, and the watermark of each row."""
    rules = route.rules
    counts = np.bincount(route.lanes)
    big = int(np.argmax(counts)) if rules.cold and counts.max() > 2 else -1
    top = int(route.ceilings[route.lanes == big].max()) if big >= 0 else rules.head
    levels = np.arange(rules.head, top + 1)
    first: dict[int, int] = {}
    steps = []
    for lane, ceiling in zip(route.lanes.tolist(), route.ceilings.tolist(), strict=True):
        if rules.cold and lane not in first:
            met = 0 if route.opens[lane] else rules.head_worth
            last_row = ceiling - rules.head if lane == big else 0
            steps.append(_Step(met, np.full(len(levels), met), False, lane == big, last_row))
            first[lane] = ceiling
        elif lane == big:
            reach = rules.worth(np.minimum(levels, ceiling))
            steps.append(_Step(rules.head_worth, reach, True, False, ceiling - rules.head))
        else:
            reach = rules.worth(np.array(min(ceiling, first.get(lane, ceiling))))
            steps.append(_Step(rules.head_worth, np.full(len(levels), int(reach)), False, False, 0))
    return steps, levels


def _run(route: Route, steps: list[_Step], levels: Tokens, cost: list[Table], join: np.ufunc) -> list[Table]:
    """Least cost of being at (row, hits so far) after each step; the table before the first one comes first."""
    table = np.full((len(levels), route.goal + 1), np.inf)
    table[0, 0] = 0.0
    tables = [table]
    worth = route.rules.worth(levels)
    for step, own in zip(steps, cost, strict=True):
        moved = _stay(table, step)
        if step.starts:
            moved[: step.top + 1] = moved[0]
        if step.rises:
            np.minimum(moved, _rise(table, worth, step.top), out=moved)
        table = join(moved, own)
        tables.append(table)
    return tables


def _stay(table: Table, step: _Step) -> Table:
    """new[row, s] = least of table[row, s - x] for x in [low, high of the row]."""
    moved = np.full_like(table, np.inf)
    for row, high in enumerate(step.high.tolist()):
        if high >= step.low and np.isfinite(table[row]).any():
            moved[row, step.low :] = _window(table[row, : table.shape[1] - step.low], high - step.low + 1)
    return moved


def _window(values: Table, width: int) -> Table:
    """Least of the last ``width`` values at each place, by windows of doubled size."""
    result, size = values.copy(), 1
    while size < width:
        shift = min(size, width - size)
        result[shift:] = np.minimum(result[shift:], result[:-shift].copy())
        size += shift
    return result


def _rise(table: Table, worth: Tokens, top: int) -> Table:
    """new[row, s] = least of table[lower row, s - worth of that row], for rows up to ``top``."""
    moved = np.full_like(table, np.inf)
    for row in range(min(top, len(table) - 1)):
        hit = int(worth[row])
        if hit < table.shape[1]:
            moved[row + 1, hit:] = table[row, : table.shape[1] - hit]
    np.minimum.accumulate(moved, axis=0, out=moved)
    moved[top + 1 :] = np.inf
    return moved


def _trace(route: Route, steps: list[_Step], levels: Tokens, tables: list[Table]) -> Tokens:
    """The prefixes on a cheapest way to the goal, from the last request to the first."""
    rules = route.rules
    worth = rules.worth(levels)
    hits = route.goal
    row = int(np.argmin(tables[-1][:, hits]))
    prefixes = np.empty(len(steps), dtype=np.int64)
    last_of_lane = {lane: place for place, lane in enumerate(route.lanes.tolist())}
    for place in range(len(steps) - 1, -1, -1):
        step, before = steps[place], tables[place]
        source = 0 if step.starts else row
        span = np.arange(step.low, min(int(step.high[source]), hits) + 1)
        stay = before[source, hits - span]
        lower = np.arange(min(row, len(levels))) if step.rises and row <= step.top else np.arange(0)
        lower = lower[worth[lower] <= hits]
        rise = before[lower, hits - worth[lower]]
        best_stay, best_rise = stay.min(initial=np.inf), rise.min(initial=np.inf)
        if best_stay <= best_rise:
            hit = int(span[int(np.argmin(stay))])
            prefixes[place] = hit + rules.drop if hit else rules.head
            if step.starts:
                prefixes[place], row = levels[row], 0
            elif rules.cold and place == int(np.flatnonzero(route.lanes == route.lanes[place])[0]):
                alone = last_of_lane[int(route.lanes[place])] == place
                prefixes[place] = rules.head if alone else route.ceilings[place]
        else:
            prefixes[place] = levels[row]
            row = int(lower[int(np.argmin(rise))])
            hit = int(worth[row])
        hits -= hit
    return prefixes
