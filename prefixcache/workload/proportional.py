"""The `proportional` objective: one base ratio per group, exact to the unit (RFC 3.3.5; domain.md 3).

P_i = max(K, min(align_down(r * L_i), M_i)) with one r for the group, found by binary search over a grid fine enough to
tell all thresholds apart; then, of the requests that rise at the next threshold, evenly spread ones are raised by one
unit until the total is exact. That always works: raising one P by a unit adds exactly one unit of hits unless it is its
lane's maximum, ties with it, or lies below the engine's drop (domain.md 2, invariant 4).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from prefixcache.workload.lanes import HitRules, Lanes

Tokens = NDArray[np.int64]


def plan_units(
    lengths: Tokens, ceilings: Tokens, lanes: Lanes, budget: int, *, unit: int, rules: HitRules, calibrate: bool = True
) -> tuple[Tokens, int]:
    """Planned prefixes of one group, in units, and how many requests the calibration raised.

    Args:
        lengths: input tokens per request; the order decides which requests are "evenly spread".
        ceilings: M per request in units, at least K.
        lanes: the group's lanes over these requests.
        budget: hits the group shall have, in units; between what all P = K and all P = M give.
        unit: tokens per hit unit.
        rules: what prefixes are worth.
        calibrate: raise single requests until the total is exact; else stay below it.
    """
    bits = 62 - int(lengths.max()).bit_length()
    one = 1 << bits

    def prefixes(x: int) -> Tokens:
        units: Tokens = np.maximum(np.minimum((lengths * x >> bits) // unit, ceilings), rules.head)
        return units

    def hits(x: int) -> int:
        return int(rules.hits(lanes, prefixes(x)).sum())

    above = _first(lambda x: hits(x) > budget, one)
    x = above - 1
    reached = hits(x)
    if reached == budget or not calibrate:
        smallest = _first(lambda x: hits(x) >= reached, one)
        return prefixes(smallest), 0
    base = prefixes(x)
    # Below the drop a unit more is worth nothing.
    rises = (prefixes(above) > base) & (base >= rules.drop)
    raised = choose(base, rises, lanes, budget - reached, cold=rules.cold)
    base[raised] += 1
    return base, len(raised)


def _first(holds: Callable[[int], bool], one: int) -> int:
    """Smallest x in [0, one] for which a monotone condition holds; one + 1 if none does."""
    low, high = 0, one + 1
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def choose(base: Tokens, rises: NDArray[np.bool_], lanes: Lanes, need: int, *, cold: bool) -> Tokens:
    """Requests to raise by one unit so that the hits grow by exactly ``need``."""
    if not cold:
        return spread(np.flatnonzero(rises), need)
    is_top = base == lanes.top(base)[lanes.lane_of]
    plain = np.flatnonzero(rises & ~is_top)
    if need <= len(plain):
        return spread(plain, need)
    chosen = [plain]
    need -= len(plain)
    # Among requests tied at a lane's maximum the first one raised only moves the maximum; each further one counts.
    tied = rises & is_top
    for lane in np.flatnonzero(lanes.total(tied.astype(np.int64)) > 1):
        members = np.flatnonzero(tied & (lanes.lane_of == lane))
        take = min(need, len(members) - 1)
        if take:
            chosen.append(spread(members, take + 1))
            need -= take
    return np.concatenate(chosen)


def spread(candidates: Tokens, count: int) -> Tokens:
    """``count`` of the candidates, evenly spread over their order."""
    return candidates[(2 * np.arange(count) + 1) * len(candidates) // (2 * max(count, 1))]
