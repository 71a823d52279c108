"""What would make an unreachable target reachable: for each lever of RFC 3.3.6 the smallest change that suffices.

Every figure comes from re-planning the changed workload's maximum, not from a formula about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.lengths import ExplicitLength
from prefixcache.errors import PrefixCacheError
from prefixcache.workload.groups import assign_groups, largest_remainder
from prefixcache.workload.lanes import Lanes
from prefixcache.workload.lengths import draw_lengths
from prefixcache.workload.ordering import send_order
from prefixcache.workload.plan import Shape, ceilings_of
from prefixcache.workload.routing import route

MOST_REQUESTS = 1_000_000
Suggestion = dict[str, Any]


@dataclass(frozen=True)
class _Scene:
    """A workload whose maximum can be computed: every field is a lever."""

    lengths: NDArray[np.int64]
    groups: NDArray[np.int32]
    unit: int
    non_shared: int
    domains: int
    cold: bool

    def maximum(self, config: PrefixCacheDatasetConfig) -> Fraction:
        within, across = config.order
        order = send_order(
            self.groups,
            self.lengths,
            self.lengths,
            within=within,
            across=across,
            preserve=config.request_order.preserve_group_dependency,
            seed=config.seed,
        )
        domains = route(self.groups, self.lengths, order, policy=config.policy, domains=self.domains)
        lanes = Lanes.of(self.groups, domains)
        ceilings = ceilings_of(self.lengths, self.unit, self.non_shared)
        hits = int(lanes.hits(ceilings, cold=self.cold).sum()) * self.unit
        return Fraction(hits, int(self.lengths.sum()))


def suggest(config: PrefixCacheDatasetConfig, shape: Shape, target: Fraction) -> list[Suggestion]:
    """One entry per lever: ``lever, current, needed, reachable_hit_ratio, text``; needed null = it cannot suffice."""
    scene = _Scene(
        shape.lengths,
        shape.groups,
        config.unit,
        config.non_shared,
        config.routing.domains,
        config.target_pass == "cold",
    )
    return [entry for lever in _LEVERS for entry in lever(config, scene, target)]


def _entry(lever: str, current: Any, needed: Any, ratio: Fraction, can: str, cannot: str) -> Suggestion:
    percent = f"{float(ratio) * 100:.2f} %"
    text = f"{can} (then {percent} can be reached)." if needed is not None else f"{cannot} (at best {percent})."
    return {
        "lever": lever,
        "current": current,
        "needed": needed,
        "reachable_hit_ratio": float(ratio),
        "text": text,
    }


def _first_that_reaches(
    options: list[Any], maximum: Callable[[Any], Fraction], target: Fraction
) -> tuple[Any | None, Fraction]:
    """The first option (mildest first) whose maximum reaches the target, else (None, best maximum)."""
    best = Fraction(0)
    for option in options:
        ratio = maximum(option)
        if ratio >= target:
            return option, ratio
        best = max(best, ratio)
    return None, best


def _more_requests(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    current = len(scene.lengths)
    explicit = isinstance(config.input_length, ExplicitLength)
    groups = config.prefix.groups
    weights = [1] * len(config.prefix.group_ids())
    if groups and groups[0].request_weight is not None:
        weights = [Fraction(group.request_weight or 0) for group in groups]  # type: ignore[misc]
    elif groups and groups[0].request_count is not None:
        weights = [group.request_count or 0 for group in groups]

    def maximum(count: int) -> Fraction:
        repeated = np.resize(scene.lengths, count) if explicit else None
        lengths = draw_lengths(config.input_length, count, config.seed) if repeated is None else repeated
        groups = assign_groups(largest_remainder(count, weights), config.seed)
        return replace(scene, lengths=lengths, groups=groups).maximum(config)

    try:
        low, high = current, current
        ratio = maximum(current)
        while ratio < target and high < MOST_REQUESTS:
            low, high = high, min(high * 2, MOST_REQUESTS)
            ratio = maximum(high)
    except PrefixCacheError:  # an empirical file without replacement has no more lengths
        return
    if ratio >= target:
        while high - low > max(1, low // 200):  # within half a percent of the smallest
            middle = (low + high) // 2
            found = maximum(middle)
            low, high, ratio = (low, middle, found) if found >= target else (middle, high, ratio)
    needed = high if ratio >= target else None
    yield _entry(
        "request_count",
        current,
        needed,
        ratio,
        f"Raise request_count from {current} to {high}",
        f"More requests alone do not suffice, not even {high}",
    )
    share = len(config.prefix.group_ids())
    if share > 1:
        yield _entry(
            "requests_per_group",
            current / share,
            None if needed is None else needed / share,
            ratio,
            f"Raise the requests per group from {current / share:.1f} to {high / share:.1f} on average",
            "More requests per group alone do not suffice",
        )


def _fewer_groups(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    current = len(config.prefix.group_ids())
    if current == 1:
        return
    count = len(scene.lengths)

    def maximum(number: int) -> Fraction:
        groups = assign_groups(largest_remainder(count, [1] * number), config.seed)
        return replace(scene, groups=groups).maximum(config)

    options = list(range(current - 1, 0, -1))
    if len(options) > 64:  # the maximum falls with the number of groups: halving finds the mildest change
        low, high = 1, current
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if maximum(middle) >= target else (low, middle)
        options = [low]
    needed, ratio = _first_that_reaches(options, maximum, target)
    yield _entry(
        "group_count",
        current,
        needed,
        ratio,
        f"Reduce the prefix groups from {current} to {needed} equal ones",
        "Fewer prefix groups alone do not suffice",
    )


def _narrower_lengths(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    longest = int(scene.lengths.max())
    if longest == int(scene.lengths.min()):
        return

    def maximum(cap: int) -> Fraction:
        return replace(scene, lengths=np.minimum(scene.lengths, cap)).maximum(config)

    caps = np.unique(np.percentile(scene.lengths, np.arange(99, -1, -1)).astype(np.int64))[::-1]
    needed, ratio = _first_that_reaches([int(cap) for cap in caps if cap < longest], maximum, target)
    yield _entry(
        "length_spread",
        longest,
        needed,
        ratio,
        f"Cap the longest request at {needed} tokens instead of {longest}",
        "A smaller length spread alone does not suffice",
    )


def _less_non_shared(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    current = scene.non_shared
    if current <= 1:
        return
    options = sorted({current * step // 32 for step in range(32)} | {1}, reverse=True)
    needed, ratio = _first_that_reaches(
        [max(option, 1) for option in options], lambda n: replace(scene, non_shared=n).maximum(config), target
    )
    yield _entry(
        "minimum_non_shared_length",
        current,
        needed,
        ratio,
        f"Lower prefix.minimum_non_shared_length from {current} to {needed}",
        "A smaller minimum_non_shared_length alone does not suffice",
    )


def _warm_cache(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    if not scene.cold:
        return
    ratio = replace(scene, cold=False).maximum(config)
    yield _entry(
        "warmup",
        config.mode,
        "warmup" if ratio >= target else None,
        ratio,
        "Use execution.mode: warmup, so that no request pays for the cold start",
        "Warming the cache up first does not suffice",
    )


def _fewer_domains(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    if scene.domains == 1:
        return
    needed, ratio = _first_that_reaches(
        list(range(scene.domains - 1, 0, -1)), lambda n: replace(scene, domains=n).maximum(config), target
    )
    yield _entry(
        "cache_domains",
        scene.domains,
        needed,
        ratio,
        f"Use {needed} cache domains instead of {scene.domains}",
        "Fewer cache domains alone do not suffice",
    )


def _smaller_unit(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    if scene.unit == 1:
        return
    options = []
    unit = scene.unit
    while unit > 1:
        unit //= 2
        options.append(unit)
    needed, ratio = _first_that_reaches(options, lambda n: replace(scene, unit=n).maximum(config), target)
    yield _entry(
        "hit_unit",
        scene.unit,
        needed,
        ratio,
        f"Use a server whose hit unit is {needed} tokens instead of {scene.unit}",
        "A smaller hit unit alone does not suffice",
    )


_LEVERS = (
    _more_requests,
    _fewer_groups,
    _narrower_lengths,
    _less_non_shared,
    _warm_cache,
    _fewer_domains,
    _smaller_unit,
)
