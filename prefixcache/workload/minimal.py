"""The `minimal_prefix` objective: the fewest shared tokens (smallest sum of P) that give the total (domain.md 3).

From a cold start a lane's hits are f of all its prefixes but the longest. With K at or above the engine's drop, f is
linear over all allowed prefixes, so the sum of P is the hits plus the lanes' longest prefixes: the sum of heights is to
be made small. At height h a lane can hit at most the sum of min(M_i, h), less h: concave in h, its marginal gain being
the number of requests with M_i > h, less one. So heights are raised where the gain is largest.

With the drop above K every request that shares more than the head also pays for what the engine drops, and the number
of such requests counts too; that is solved for single lanes by trying all numbers at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixcache.errors import InputError
from prefixcache.workload.lanes import HitRules, Lanes
from prefixcache.workload.proportional import plan_units, spread

Tokens = NDArray[np.int64]


def minimal_units(
    lengths: Tokens, ceilings: Tokens, lanes: Lanes, budget: int, *, unit: int, rules: HitRules
) -> Tokens:
    """Planned prefixes in units with exactly ``budget`` hits and the smallest sum.

    Args are those of :func:`prefixcache.workload.proportional.plan_units`, for one group or for all together.

    Raises:
        InputError: several cold lanes with a hit drop above the head.
    """
    base = np.full_like(ceilings, rules.head)
    need = budget - int(rules.hits(lanes, base).sum())
    if need <= 0:
        return base
    fees = rules.drop > rules.head
    if not rules.cold:
        if not fees:  # every plan with this total has the same sum
            return plan_units(lengths, ceilings, lanes, budget, unit=unit, rules=rules)[0]
        return _few_warm(ceilings, need, rules)
    if not fees:
        return _low_lanes(ceilings, lanes, need, rules)
    if len(lanes.group) > 1:
        raise InputError(
            f"minimal_prefix with a hit_drop of {rules.drop} units above the shared head of {rules.head} is planned "
            f"for one prefix group in one cache domain at a time, not for {len(lanes.group)} together",
            field="planning.objective",
            remedy="write objective: proportional, or target.scope: per_group with one cache domain.",
            stage="plan_prefixes",
        )
    return _few_cold(ceilings, need, rules)


def _low_lanes(ceilings: Tokens, lanes: Lanes, need: int, rules: HitRules) -> Tokens:
    """Cold, f linear: raise the lanes' heights by the largest marginal gain first; ``need``: hits above all P = K."""
    by_height = lanes.members[np.lexsort((-ceilings[lanes.members], lanes.lane_of[lanes.members]))]
    sizes = np.diff(np.append(lanes.starts, len(ceilings)))

    def heights(gain: int) -> Tokens:
        """Heights where every step still gains at least ``gain``: more than ``gain`` requests reach beyond."""
        place = np.minimum(lanes.starts + gain, len(ceilings) - 1)
        return np.where(sizes > gain, ceilings[by_height[place]], rules.head)

    def gained(height: Tokens) -> int:
        reached = np.minimum(ceilings, height[lanes.lane_of])
        return int(lanes.total(reached - rules.head).sum() - (height - rules.head).sum())

    low, high = 1, int(sizes.max())  # at gain 1 all that can be hit is, at the largest lane's size nothing
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gained(heights(middle)) >= need else (low, middle)
    height, further = heights(low + 1), heights(low)
    need -= gained(height)
    # The rest of the need in steps that gain exactly `low` each, lane after lane.
    steps, rest = divmod(need, low)
    room = np.cumsum(further - height)
    taken = np.diff(np.minimum(room, steps), prepend=0)
    height = height + taken
    prefixes = np.minimum(ceilings, height[lanes.lane_of])
    if rest:
        lane = int(np.flatnonzero(height < further)[0])
        beyond = np.flatnonzero((lanes.lane_of == lane) & (ceilings > height[lane]))
        prefixes[spread(beyond, rest + 1)] += 1  # the first only moves the height
    return prefixes


def _few_warm(ceilings: Tokens, need: int, rules: HitRules) -> Tokens:
    """Warm, drop above K: as few requests as possible, those with the longest ceilings; the last as long as needed."""
    order = np.argsort(-ceilings, kind="stable")
    worth = rules.worth(ceilings[order])
    count = int(np.searchsorted(np.cumsum(worth), need)) + 1
    prefixes = np.full_like(ceilings, rules.head)
    prefixes[order[:count]] = ceilings[order[:count]]
    prefixes[order[count - 1]] -= int(worth[:count].sum()) - need
    return prefixes


def _few_cold(ceilings: Tokens, need: int, rules: HitRules) -> Tokens:
    """One cold lane, drop above K: the best of all numbers of sharing requests, each with its lowest height.

    ``a`` requests with the longest ceilings, at height d + y, hit at most the sum of min(M_i - d, y) less y; their cost
    above all P = K is the hits + y + a (d - K).
    """
    order = np.argsort(-ceilings, kind="stable")
    room = rules.worth(ceilings[order])
    before = np.concatenate(([0], np.cumsum(room)))
    count = np.arange(2, int((room > 0).sum()) + 1)

    def capacity(y: Tokens) -> Tokens:
        full = np.minimum(np.searchsorted(-room, -y, side="right"), count)  # how many reach y
        most: Tokens = full * y + before[count] - before[full] - y
        return most

    low, high = np.ones_like(count), np.full_like(count, room[1])  # beyond the second longest nothing is gained
    possible = capacity(high) >= need
    while (low < high).any():
        middle = (low + high) // 2
        enough = capacity(middle) >= need
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
    cost = np.where(possible, high + count * (rules.drop - rules.head), np.iinfo(np.int64).max)
    best = int(np.argmin(cost))
    sharing, y = order[: count[best]], int(high[best])
    prefixes = np.full_like(ceilings, rules.head)
    prefixes[sharing] = np.minimum(ceilings[sharing], rules.drop + y)
    prefixes[sharing[-1]] -= int(capacity(high)[best]) - need
    return prefixes
