"""What would make an unreachable target reachable: for each lever of RFC 3.3.6 the smallest change that suffices.

Every figure comes from re-planning the changed workload's maximum, not from a formula about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.lengths import EmpiricalLength, ExplicitLength
from prefixcache.help.suggestions import chinese
from prefixcache.workload.budget import goal_units
from prefixcache.workload.capacity_suggestion import suggest_within
from prefixcache.workload.groups import assign_groups, group_weights, largest_remainder
from prefixcache.workload.length_files import read_lengths
from prefixcache.workload.lengths import draw_lengths
from prefixcache.workload.plan import Plan
from prefixcache.workload.scene import Reach, Scene, Wish
from prefixcache.workload.shape import Shape, with_overrides

MOST_REQUESTS = 1_000_000
TRIED_ONE_BY_ONE = 64
Suggestion = dict[str, Any]


def suggest(config: PrefixCacheDatasetConfig, plan: Plan) -> list[Suggestion]:
    """An entry per lever: ``lever, current, needed, reachable_hit_ratio, text, text_zh``; needed null: it alone cannot.

    ``reachable_hit_ratio`` is the maximum after the change, or the best that this lever gives. A target below what the
    common head alone hits has one entry, the smallest target that can be met.
    """
    targets = config.group_targets
    wish = Wish(
        Fraction((config.target.hit_ratio if config.target is not None else None) or 0),
        None if targets is None else [Fraction(target) for target in targets],
        Fraction(config.validation.pass_tolerance),
    )
    scene = Scene(
        plan.shape.lengths,
        plan.shape.groups,
        config.unit,
        config.non_shared,
        config.routing.domains,
        config.target_pass == "cold",
        plan.frame,
    )
    reach = scene.maximum(config)
    if plan.search is not None:
        unbounded = [] if reach.meets(wish) else [entry for lever in _LEVERS for entry in lever(config, scene, wish)]
        return suggest_within(config, plan, reach.ratio, unbounded, _most_requests(config))
    found = list(_higher_targets(config, reach, wish))
    if not _only_below(reach, wish):
        found += [entry for lever in _LEVERS for entry in lever(config, scene, wish)]
    return [entry | {"text_zh": chinese(entry)} for entry in found]


def _only_below(reach: Reach, wish: Wish) -> bool:
    """No target lies above its maximum."""
    rows = [(wish.ratio, sum(reach.input_tokens), sum(reach.maximum))]
    if wish.groups is not None:
        rows = list(zip(wish.groups, reach.input_tokens, reach.maximum, strict=True))
    return all(goal_units(ratio, tokens, reach.unit) <= high for ratio, tokens, high in rows)


def _higher_targets(config: PrefixCacheDatasetConfig, reach: Reach, wish: Wish) -> Iterator[Suggestion]:
    """Targets below what the head alone hits."""
    rows = [("target.hit_ratio", wish.ratio, sum(reach.input_tokens), sum(reach.minimum))]
    if wish.groups is not None:
        names = [f"target.groups[{name}].hit_ratio" for name in config.prefix.group_ids()]
        rows = list(zip(names, wish.groups, reach.input_tokens, reach.minimum, strict=True))
    for name, ratio, tokens, low in rows:
        if goal_units(ratio, tokens, reach.unit) < low:
            least = Fraction(low * reach.unit, tokens)
            yield {
                "lever": name,
                "current": float(ratio),
                "needed": float(least),
                "reachable_hit_ratio": float(reach.ratio),
                "text": f"Raise {name} to {float(least):.6f} at least: so much the common head hits alone.",
            }


def _entry(lever: str, current: Any, needed: Any, reach: Reach, can: str, cannot: str) -> Suggestion:
    percent = f"{float(reach.ratio) * 100:.2f} %"
    text = f"{can} (then {percent} can be reached)." if needed is not None else f"{cannot} (at best {percent})."
    return {
        "lever": lever,
        "current": current,
        "needed": needed,
        "reachable_hit_ratio": float(reach.ratio),
        "text": text,
    }


def _first_that_reaches(options: list[int], maximum: Callable[[int], Reach], target: Wish) -> tuple[int | None, Reach]:
    """The first option (mildest first) whose maximum meets the target, else (None, best maximum)."""
    best = None
    for option in options:
        reach = maximum(option)
        if reach.meets(target):
            return option, reach
        best = reach if best is None else max(best, reach, key=lambda found: found.ratio)
    assert best is not None
    return None, best


def _mildest(fails: int, meets: int, maximum: Callable[[int], Reach], target: Wish) -> tuple[int, Reach]:
    """Halving between an option that fails and one that meets the target: one that does while its neighbour fails."""
    while abs(fails - meets) > 1:
        middle = (fails + meets) // 2
        fails, meets = (fails, middle) if maximum(middle).meets(target) else (middle, meets)
    return meets, maximum(meets)


def _largest_that_reaches(current: int, maximum: Callable[[int], Reach], target: Wish) -> tuple[int | None, Reach]:
    """The largest number below ``current`` (which fails) that meets the target; few are tried one by one."""
    if current <= TRIED_ONE_BY_ONE:
        return _first_that_reaches(list(range(current - 1, 0, -1)), maximum, target)
    if not (reach := maximum(1)).meets(target):
        return None, reach
    return _mildest(current, 1, maximum, target)


def _more_requests(config: PrefixCacheDatasetConfig, scene: Scene, target: Wish) -> Iterator[Suggestion]:
    current = len(scene.lengths)
    weights = group_weights(config.prefix)
    most = max(_most_requests(config), current)

    def maximum(count: int) -> Reach:
        lengths, groups = _grown(config, scene, count, weights)
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


def _grown(
    config: PrefixCacheDatasetConfig, scene: Scene, count: int, weights: list[Fraction | int]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Lengths and groups of ``count`` requests by the same configuration; what is listed one by one starts again."""
    own = [group.input_length for group in config.prefix.groups or ()]
    listed = config.prefix.request_groups is not None
    if any(isinstance(model, ExplicitLength) for model in own):
        return np.resize(scene.lengths, count), np.resize(scene.groups, count)
    dealt = None if listed else assign_groups(largest_remainder(count, weights), config.seed)
    groups = np.resize(scene.groups, count) if dealt is None else dealt
    if isinstance(config.input_length, ExplicitLength):
        lengths = np.resize(scene.lengths, count)
    else:
        lengths = draw_lengths(config.input_length, count, config.seed, shortest=scene.frame.shortest)
    return with_overrides(
        config, Shape(lengths, np.ones_like(lengths), groups), scene.frame, inputs_only=True
    ).lengths, groups


def _most_requests(config: PrefixCacheDatasetConfig) -> int:
    """A file of lengths without replacement has no more than it holds."""
    most = MOST_REQUESTS
    for field, length in (("input_length", config.input_length), ("output_length", config.output_length)):
        if isinstance(length, EmpiricalLength) and not length.replacement:
            most = min(most, len(read_lengths(length.file, length.column or field, field=field)))
    for group in config.prefix.groups or ():
        for own in (group.input_length, group.output_length):
            if isinstance(own, EmpiricalLength) and not own.replacement:
                return 0  # how many of its rows more requests take is not known beforehand: no more are tried
    return most


def _fewer_groups(config: PrefixCacheDatasetConfig, scene: Scene, target: Wish) -> Iterator[Suggestion]:
    current = len(config.prefix.group_ids())

    def maximum(number: int) -> Reach:
        groups = assign_groups(largest_remainder(len(scene.lengths), [1] * number), config.seed)
        return replace(scene, groups=groups).maximum(config)

    if current == 1:
        yield _entry("group_count", 1, None, maximum(1), "", "There is one prefix group already")
        return
    if target.groups is not None:
        cannot = "Groups with targets of their own cannot be merged"
        yield _entry("group_count", current, None, scene.maximum(config), "", cannot)
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


def _narrower_lengths(config: PrefixCacheDatasetConfig, scene: Scene, target: Wish) -> Iterator[Suggestion]:
    longest = int(scene.lengths.max())

    def maximum(cap: int) -> Reach:
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


def _less_non_shared(config: PrefixCacheDatasetConfig, scene: Scene, target: Wish) -> Iterator[Suggestion]:
    current = scene.non_shared

    def maximum(kept: int) -> Reach:
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


def _warm_cache(config: PrefixCacheDatasetConfig, scene: Scene, target: Wish) -> Iterator[Suggestion]:
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


def _fewer_domains(config: PrefixCacheDatasetConfig, scene: Scene, target: Wish) -> Iterator[Suggestion]:
    def maximum(number: int) -> Reach:
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


def _smaller_unit(config: PrefixCacheDatasetConfig, scene: Scene, target: Wish) -> Iterator[Suggestion]:
    def maximum(unit: int) -> Reach:
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
