"""The domain's definitions in slow, obvious Python: one request at a time, exact fractions, no arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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


def simulate_cold(
    prefixes: Sequence[int],
    lanes: Sequence[int],
    order: Sequence[int],
    *,
    domains: Sequence[int] | None = None,
    head: int = 0,
    drop: int = 0,
) -> Simulation:
    """A lane's watermark starts at the head once any request of its domain has run, else at 0."""
    count = len(prefixes)
    result = Simulation([0] * count, [0] * count, [0] * count)
    watermark: dict[int, int] = {}
    run: set[int] = set()
    for request in order:
        domain = domains[request] if domains is not None else 0
        level = watermark.get(lanes[request], head if domain in run else 0)
        run.add(domain)
        result.before[request] = level
        result.hit[request] = max(0, min(prefixes[request], level) - drop)
        watermark[lanes[request]] = max(level, prefixes[request])
        result.after[request] = watermark[lanes[request]]
    return result


def simulate_warm(prefixes: Sequence[int], lanes: Sequence[int], *, drop: int = 0) -> Simulation:
    tops = {lane: max(p for p, other in zip(prefixes, lanes, strict=True) if other == lane) for lane in lanes}
    level = [tops[lane] for lane in lanes]
    return Simulation(level, [max(0, p - drop) for p in prefixes], list(level))


@dataclass(frozen=True)
class Cache:
    """What decides hits beside the prefixes: units throughout."""

    lanes: Sequence[int]
    order: Sequence[int]
    cold: bool
    domains: Sequence[int] | None = None
    head: int = 0
    drop: int = 0

    def each(self, prefixes: Sequence[int]) -> list[int]:
        """Hits per request by simulation."""
        if not self.cold:
            return simulate_warm(prefixes, self.lanes, drop=self.drop).hit
        return simulate_cold(prefixes, self.lanes, self.order, domains=self.domains, head=self.head, drop=self.drop).hit

    def total(self, prefixes: Sequence[int]) -> int:
        return sum(self.each(prefixes))

    def choices(self, ceilings: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Every choice of prefixes."""
        return product(*(range(self.head, top + 1) for top in ceilings))


def hits(prefixes: Sequence[int], lanes: Sequence[int], order: Sequence[int], *, cold: bool) -> int:
    """Total hits by simulation, without head and drop."""
    return Cache(lanes, order, cold).total(prefixes)


def ceiling(length: int, unit: int, non_shared: int, head: int = 0, tail: int = 0) -> int:
    """M in units: longest aligned prefix that leaves tail and non-shared tokens (one or more); at least the head."""
    longest = 0
    while (longest + 1) * unit <= length - tail - max(non_shared, 1):
        longest += 1
    return max(longest, head // unit)


def best_trajectory(
    cache: Cache, ceilings: Sequence[int], lengths: Sequence[int], goal: int, target: Fraction, unit: int
) -> tuple[Fraction, Fraction]:
    """(least maximum overshoot, least sum of |cumulative error| in tokens) of all plans with this total."""
    best = None
    for choice in cache.choices(ceilings):
        hit = cache.each(choice)
        if sum(hit) == goal:
            found = course(hit, cache.order, lengths, target, unit)
            best = found if best is None else min(best, found)
    assert best is not None
    return best


def course(
    hit: Sequence[int], order: Sequence[int], lengths: Sequence[int], target: Fraction, unit: int
) -> tuple[Fraction, Fraction]:
    """(maximum overshoot of the cumulative ratio, sum of |cumulative error| in tokens)."""
    served = sent = 0
    over = error = Fraction(0)
    for request in order:
        served += hit[request] * unit
        sent += lengths[request]
        over = max(over, Fraction(served, sent) - target)
        error += abs(served - target * sent)
    return over, error


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


def base_prefixes(
    ratio: Fraction, lengths: Sequence[int], ceilings: Sequence[int], unit: int, head: int = 0
) -> list[int]:
    """P = max(K, min(align_down(r L), M)) in units."""
    return [max(head, min(int(ratio * length) // unit, top)) for length, top in zip(lengths, ceilings, strict=True)]


def thresholds(lengths: Sequence[int], ceilings: Sequence[int], unit: int) -> list[Fraction]:
    """Every ratio at which some request's base prefix rises, and 0."""
    return sorted(
        {Fraction(0)}
        | {Fraction(k * unit, size) for size, top in zip(lengths, ceilings, strict=True) for k in range(1, top + 1)}
    )
