"""What would make an unreachable target reachable: for each lever of RFC 3.3.6 the smallest change that suffices.

Every figure comes from re-planning the changed workload's maximum, not from a formula about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.lengths import EmpiricalLength, ExplicitLength
from prefixcache.workload.budget import goal_units
from prefixcache.workload.groups import assign_groups, largest_remainder
from prefixcache.workload.lanes import Lanes
from prefixcache.workload.length_files import read_lengths
from prefixcache.workload.lengths import draw_lengths
from prefixcache.workload.ordering import send_order
from prefixcache.workload.plan import Shape, ceilings_of
from prefixcache.workload.routing import route

MOST_REQUESTS = 1_000_000
TRIED_ONE_BY_ONE = 64
Suggestion = dict[str, Any]


class _Reach(NamedTuple):
    """The most that a workload can hit, in units."""

    units: int
    unit: int
    input_tokens: int

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.units * self.unit, self.input_tokens)

    def meets(self, target: Fraction) -> bool:
        """The same rule as the plan's: the goal is the multiple of the unit nearest to the target."""
        return goal_units(target, self.input_tokens, self.unit) <= self.units


@dataclass(frozen=True)
class _Scene:
    """A workload whose maximum can be computed: every field is a lever."""

    lengths: NDArray[np.int64]
    groups: NDArray[np.int32]
    unit: int
    non_shared: int
    domains: int
    cold: bool

    def maximum(self, config: PrefixCacheDatasetConfig) -> _Reach:
        within, across = config.order
        order = np.arange(len(self.lengths))
        if self.domains > 1:  # else it decides nothing
            order = send_order(
                self.groups,
                self.lengths,
                np.zeros_like(self.lengths),
                within=within,
                across=across,
                preserve=config.request_order.preserve_group_dependency,
                seed=config.seed,
            )
        domains = route(self.groups, self.lengths, order, policy=config.policy, domains=self.domains)
        lanes = Lanes.of(self.groups, domains)
        ceilings = ceilings_of(self.lengths, self.unit, self.non_shared)
        return _Reach(int(lanes.hits(ceilings, cold=self.cold).sum()), self.unit, int(self.lengths.sum()))


def suggest(config: PrefixCacheDatasetConfig, shape: Shape, target: Fraction) -> list[Suggestion]:
    """An entry per lever: ``lever, current, needed, reachable_hit_ratio, text``; needed null = it alone cannot suffice.

    ``reachable_hit_ratio`` is the maximum after the change, or the best that this lever gives.
    """
    scene = _Scene(
        shape.lengths,
        shape.groups,
        config.unit,
        config.non_shared,
        config.routing.domains,
        config.target_pass == "cold",
    )
    return [entry for lever in _LEVERS for entry in lever(config, scene, target)]


def _entry(lever: str, current: Any, needed: Any, reach: _Reach, can: str, cannot: str) -> Suggestion:
    percent = f"{float(reach.ratio) * 100:.2f} %"
    text = f"{can} (then {percent} can be reached)." if needed is not None else f"{cannot} (at best {percent})."
    return {
        "lever": lever,
        "current": current,
        "needed": needed,
        "reachable_hit_ratio": float(reach.ratio),
        "text": text,
    }


def _first_that_reaches(
    options: list[int], maximum: Callable[[int], _Reach], target: Fraction
) -> tuple[int | None, _Reach]:
    """The first option (mildest first) whose maximum meets the target, else (None, best maximum)."""
    best = None
    for option in options:
        reach = maximum(option)
        if reach.meets(target):
            return option, reach
        best = reach if best is None else max(best, reach, key=lambda found: found.ratio)
    assert best is not None
    return None, best


def _mildest(fails: int, meets: int, maximum: Callable[[int], _Reach], target: Fraction) -> tuple[int, _Reach]:
    """Halving between an option that fails and one that meets the target: one that does while its neighbour fails."""
    while abs(fails - meets) > 1:
        middle = (fails + meets) // 2
        fails, meets = (fails, middle) if maximum(middle).meets(target) else (middle, meets)
    return meets, maximum(meets)


def _largest_that_reaches(
    current: int, maximum: Callable[[int], _Reach], target: Fraction
) -> tuple[int | None, _Reach]:
    """The largest number below ``current`` (which fails) that meets the target; few are tried one by one."""
    if current <= TRIED_ONE_BY_ONE:
        return _first_that_reaches(list(range(current - 1, 0, -1)), maximum, target)
    if not (reach := maximum(1)).meets(target):
        return None, reach
    return _mildest(current, 1, maximum, target)


def _more_requests(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    current = len(scene.lengths)
    weights = _weights(config)
    most = max(_most_requests(config), current)

    def maximum(count: int) -> _Reach:
        if isinstance(config.input_length, ExplicitLength):
            lengths = np.resize(scene.lengths, count)
        else:
            lengths = draw_lengths(config.input_length, count, config.seed)
        groups = assign_groups(largest_remainder(count, weights), config.seed)
        return replace(scene, lengths=lengths, groups=groups).maximum(config)

    low, high = current, min(current * 2, most)
    while not (reach := maximum(high)).meets(target) and high < most:
        low, high = high, min(high * 2, most)
    needed = None
    if reach.meets(target):
        needed, reach = _mildest(low, high, maximum, target)
    yield _entry(
        "request_count",
        current,
        needed,
        reach,
        f"Raise request_count from {current} to {needed}",
        f"More requests alone do not suffice, not even {high}",
    )
    share = len(weights)
    yield _entry(
        "requests_per_group",
        current / share,
        None if needed is None else needed / share,
        reach,
        f"Raise the requests per group from {current / share:.1f} to {(needed or 0) / share:.1f} on average",
        "More requests per group alone do not suffice",
    )


def _weights(config: PrefixCacheDatasetConfig) -> list[Fraction | int]:
    groups = config.prefix.groups
    if groups and groups[0].request_weight is not None:
        return [Fraction(group.request_weight or 0) for group in groups]
    if groups and groups[0].request_count is not None:
        return [group.request_count or 0 for group in groups]
    return [1] * len(config.prefix.group_ids())


def _most_requests(config: PrefixCacheDatasetConfig) -> int:
    """A file of lengths without replacement has no more than it holds."""
    most = MOST_REQUESTS
    for field, length in (("input_length", config.input_length), ("output_length", config.output_length)):
        if isinstance(length, EmpiricalLength) and not length.replacement:
            most = min(most, len(read_lengths(length.file, length.column, field=field)))
    return most


def _fewer_groups(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    current = len(config.prefix.group_ids())

    def maximum(number: int) -> _Reach:
        groups = assign_groups(largest_remainder(len(scene.lengths), [1] * number), config.seed)
        return replace(scene, groups=groups).maximum(config)

    if current == 1:
        yield _entry("group_count", 1, None, maximum(1), "", "There is one prefix group already")
        return
    needed, reach = _largest_that_reaches(current, maximum, target)
    yield _entry(
        "group_count",
        current,
        needed,
        reach,
        f"Reduce the prefix groups from {current} to {needed} of equal size",
        "Fewer prefix groups alone do not suffice",
    )


def _narrower_lengths(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    longest = int(scene.lengths.max())

    def maximum(cap: int) -> _Reach:
        return replace(scene, lengths=np.minimum(scene.lengths, cap)).maximum(config)

    if longest == int(scene.lengths.min()):
        yield _entry("length_spread", longest, None, maximum(longest), "", "All lengths are equal already")
        return
    caps = np.unique(np.percentile(scene.lengths, np.arange(99, -1, -1)).astype(np.int64))[::-1]
    options = [int(cap) for cap in caps if cap < longest]
    needed, reach = _first_that_reaches(options, maximum, target)
    if needed is not None:
        before = options.index(needed) - 1
        needed, reach = _mildest(options[before] if before >= 0 else longest, needed, maximum, target)
    yield _entry(
        "length_spread",
        longest,
        needed,
        reach,
        f"Cap the longest request at {needed} tokens instead of {longest}",
        "A smaller length spread alone does not suffice",
    )


def _less_non_shared(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    current = scene.non_shared

    def maximum(kept: int) -> _Reach:
        return replace(scene, non_shared=kept).maximum(config)

    if current <= 1:
        cannot = "minimum_non_shared_length is as small as it can be"
        yield _entry("minimum_non_shared_length", current, None, maximum(current), "", cannot)
        return
    needed, reach = _largest_that_reaches(current, maximum, target)
    yield _entry(
        "minimum_non_shared_length",
        current,
        needed,
        reach,
        f"Lower prefix.minimum_non_shared_length from {current} to {needed}",
        "A smaller minimum_non_shared_length alone does not suffice",
    )


def _warm_cache(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    reach = replace(scene, cold=False).maximum(config)
    yield _entry(
        "warmup",
        config.mode,
        "warmup" if scene.cold and reach.meets(target) else None,
        reach,
        "Use execution.mode: warmup with target.semantics: static_prefix_ratio, so that no request pays for the cold "
        "start",
        "Warming the cache up first does not suffice" if scene.cold else "The cache is warm already",
    )


def _fewer_domains(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    def maximum(number: int) -> _Reach:
        return replace(scene, domains=number).maximum(config)

    if scene.domains == 1:
        yield _entry("cache_domains", 1, None, maximum(1), "", "There is one cache domain already")
        return
    needed, reach = _largest_that_reaches(scene.domains, maximum, target)
    yield _entry(
        "cache_domains",
        scene.domains,
        needed,
        reach,
        f"Use {needed} cache domains instead of {scene.domains}",
        "Fewer cache domains alone do not suffice",
    )


def _smaller_unit(config: PrefixCacheDatasetConfig, scene: _Scene, target: Fraction) -> Iterator[Suggestion]:
    def maximum(unit: int) -> _Reach:
        return replace(scene, unit=unit).maximum(config)

    current, block = scene.unit, config.block_size
    if current == 1:
        yield _entry("hit_unit", 1, None, maximum(1), "", "The hit unit is one token already")
        return
    small = [part for part in range(1, math.isqrt(current) + 1) if current % part == 0]
    parts = sorted({*small, *(current // part for part in small)} - {current}, reverse=True)
    # Parts of the unit, so that every prefix stays aligned: whole blocks, or parts of a block.
    options = [part for part in parts if part % block == 0 or block % part == 0]
    needed, reach = _first_that_reaches(options, maximum, target)
    yield _entry(
        "hit_unit",
        current,
        needed,
        reach,
        f"Use a server whose hit unit is {needed} tokens instead of {current}"
        + (f" and whose blocks are no larger than that, instead of {block}" if needed and needed < block else ""),
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
