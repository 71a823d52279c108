"""The domain's definitions in slow, obvious Python: one request at a time, exact fractions, no arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

WITHIN = ("generated", "shuffle", "input_len_asc", "input_len_desc", "prefix_len_asc", "prefix_len_desc")
MERGES = ("interleave", "grouped", "weighted_interleave")
GLOBAL = ("shuffle", "sequential", "input_len_asc", "input_len_desc", "prefix_len_asc", "prefix_len_desc")


@dataclass
class Simulation:
    """Per request in generated order: watermark before, hit, watermark after."""

    before: list[int]
    hit: list[int]
    after: list[int]


def simulate_cold(prefixes: Sequence[int], lanes: Sequence[int], order: Sequence[int]) -> Simulation:
    count = len(prefixes)
    result = Simulation([0] * count, [0] * count, [0] * count)
    watermark: dict[int, int] = {}
    for request in order:
        level = watermark.get(lanes[request], 0)
        result.before[request] = level
        result.hit[request] = min(prefixes[request], level)
        watermark[lanes[request]] = max(level, prefixes[request])
        result.after[request] = watermark[lanes[request]]
    return result


def simulate_warm(prefixes: Sequence[int], lanes: Sequence[int]) -> Simulation:
    tops = {lane: max(p for p, other in zip(prefixes, lanes, strict=True) if other == lane) for lane in lanes}
    level = [tops[lane] for lane in lanes]
    return Simulation(level, list(prefixes), list(level))


def hits(prefixes: Sequence[int], lanes: Sequence[int], order: Sequence[int], *, cold: bool) -> int:
    """Total hits by simulation."""
    return sum(simulate_cold(prefixes, lanes, order).hit) if cold else sum(prefixes)


def ceiling(length: int, unit: int, non_shared: int) -> int:
    """M in units: the longest aligned prefix that leaves the non-shared tokens, at least one."""
    longest = 0
    while (longest + 1) * unit <= length - max(non_shared, 1):
        longest += 1
    return longest


def reachable_totals(ceilings: Sequence[int], lanes: Sequence[int], order: Sequence[int], *, cold: bool) -> set[int]:
    """Every total that some choice of prefixes gives."""
    return {hits(choice, lanes, order, cold=cold) for choice in product(*(range(top + 1) for top in ceilings))}


def nearest(target: Fraction, tokens: int, unit: int) -> int:
    """The number of units nearest to target x tokens; ties up."""
    below = 0
    while (below + 1) * unit <= target * tokens:
        below += 1
    return below if target * tokens - below * unit < (below + 1) * unit - target * tokens else below + 1


def lanes_of(groups: Sequence[int], domains: Sequence[int]) -> list[int]:
    names = sorted(set(zip(groups, domains, strict=True)))
    return [names.index(pair) for pair in zip(groups, domains, strict=True)]


def largest_remainder(total: int, weights: Sequence[Fraction | int]) -> list[int]:
    whole = sum(Fraction(weight) for weight in weights)
    exact = [total * Fraction(weight) / whole for weight in weights]
    parts = [int(share) for share in exact]
    while sum(parts) < total:
        lost = [share - part for share, part in zip(exact, parts, strict=True)]
        parts[lost.index(max(lost))] += 1
    return parts


def key_of(
    name: str, lengths: Sequence[int], prefixes: Sequence[int], shuffled: Sequence[int]
) -> Callable[[int], tuple[int, int]]:
    """Sort key of a request; ties by generated order. ``shuffled``: the requests in a given random order."""
    values = {
        "generated": [0] * len(lengths),
        "sequential": [0] * len(lengths),
        "shuffle": [list(shuffled).index(request) for request in range(len(lengths))],
        "input_len_asc": list(lengths),
        "input_len_desc": [-length for length in lengths],
        "prefix_len_asc": list(prefixes),
        "prefix_len_desc": [-prefix for prefix in prefixes],
    }[name]
    return lambda request: (values[request], request)


def send_order(
    groups: Sequence[int],
    lengths: Sequence[int],
    prefixes: Sequence[int],
    *,
    within: str,
    across: str,
    preserve: bool,
    shuffled_within: Sequence[int],
    shuffled_across: Sequence[int],
) -> list[int]:
    inside = key_of(within, lengths, prefixes, shuffled_within)
    queues = {
        group: sorted((i for i in range(len(groups)) if groups[i] == group), key=inside)
        for group in sorted(set(groups))
    }
    if across == "grouped":
        return [request for group in queues for request in queues[group]]
    if across == "interleave":
        order = []
        while any(queues.values()):
            for group in queues:
                if queues[group]:
                    order.append(queues[group].pop(0))
        return order
    if across == "weighted_interleave":
        places = [
            (Fraction(2 * k + 1, 2 * len(queue)), group, request)
            for group, queue in queues.items()
            for k, request in enumerate(queue)
        ]
        return [request for _, _, request in sorted(places, key=lambda place: place[:2])]
    ranked = sorted(range(len(groups)), key=key_of(across, lengths, prefixes, shuffled_across))
    if not preserve:
        return ranked
    return [queues[groups[request]].pop(0) for request in ranked]


def route(
    groups: Sequence[int], lengths: Sequence[int], order: Sequence[int], *, policy: str, domains: int
) -> list[int]:
    result = [0] * len(groups)
    if policy == "round_robin":
        for k, request in enumerate(order):
            result[request] = k % domains
    elif policy == "group_round_robin":
        seen: dict[int, int] = {}
        for request in order:
            k = seen.get(groups[request], 0)
            result[request] = k % domains
            seen[groups[request]] = k + 1
    elif policy == "sticky":
        home: dict[int, int] = {}
        for request in order:
            home.setdefault(groups[request], len(home) % domains)
            result[request] = home[groups[request]]
    else:
        tokens = {g: sum(size for size, of in zip(lengths, groups, strict=True) if of == g) for g in set(groups)}
        load = [0] * domains
        members = [0] * domains
        home = {}
        for group in sorted(tokens, key=lambda g: (-tokens[g], g)):
            domain = min(range(domains), key=lambda d: (load[d], members[d], d))
            home[group] = domain
            load[domain] += tokens[group]
            members[domain] += 1
        result = [home[group] for group in groups]
    return result


def base_prefixes(ratio: Fraction, lengths: Sequence[int], ceilings: Sequence[int], unit: int) -> list[int]:
    """P = min(align_down(r L), M) in units."""
    return [min(int(ratio * length) // unit, top) for length, top in zip(lengths, ceilings, strict=True)]


def thresholds(lengths: Sequence[int], ceilings: Sequence[int], unit: int) -> list[Fraction]:
    """Every ratio at which some request's base prefix rises, and 0."""
    return sorted(
        {Fraction(0)}
        | {Fraction(k * unit, size) for size, top in zip(lengths, ceilings, strict=True) for k in range(1, top + 1)}
    )
