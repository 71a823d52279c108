"""What would make a target reachable in caches of a given size: for each lever the smallest change that, planned again
for the same caches, reaches it (RFC 3.3.6).

Every figure is simulated. What the unbounded planner suggests is used as a beginning only: fewer requests than a cache
that never evicts needs are not tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.help.suggestions import chinese
from prefixcache.workload import capacity_changes as changes
from prefixcache.workload.capacity_search import Search
from prefixcache.workload.capacity_trial import BLOCKS, CutShort, Workload, trial_of
from prefixcache.workload.plan import Plan

BLOCKS_LEVER = "planning.num_blocks"
GROUPED = ("grouped", "sequential")
Suggestion = dict[str, Any]


def suggest_within(
    config: PrefixCacheDatasetConfig, plan: Plan, ideal: Fraction, unbounded: Sequence[Suggestion], most_requests: int
) -> list[Suggestion]:
    """An entry per lever, as :func:`prefixcache.workload.suggestions.suggest` gives them.

    Args:
        ideal: what a cache that never evicts reaches at most.
        unbounded: the suggestions for such a cache; empty where it reaches the target as it is.
        most_requests: no more can be drawn.
    """
    tokens = int(plan.shape.lengths.sum())
    goal, least = plan.goal or 0, sum(plan.minimum)
    if goal < least:
        text = f"Raise target.hit_ratio to {least / tokens:.6f} at least: so much hits whatever is planned."
        current = float((config.target.hit_ratio if config.target is not None else None) or 0)
        entry = {"lever": "target.hit_ratio", "current": current, "needed": least / tokens,
                 "reachable_hit_ratio": sum(plan.maximum) / tokens, "text": text}  # fmt: skip
        return [entry | {"text_zh": chinese(entry)}]
    base = Workload(config, plan.shape, plan.frame)
    levers = _Levers(base, Fraction(sum(plan.maximum), tokens), ideal, list(unbounded), most_requests)
    return list(levers.entries())


class _Levers:
    def __init__(
        self, base: Workload, reached: Fraction, ideal: Fraction, unbounded: list[Suggestion], most_requests: int
    ) -> None:
        self.base, self.reached, self.ideal = base, reached, ideal
        self.unbounded = {entry["lever"]: entry["needed"] for entry in unbounded}
        self.most_requests = most_requests

    def entries(self) -> Iterator[Suggestion]:
        yield self._blocks()
        yield from self._requests()
        yield self._groups()
        yield self._lengths()
        yield self._non_shared()
        yield self._warm_cache()
        yield self._domains()
        yield self._unit()
        yield from self._order()

    def _search(self, change: Callable[[Workload, int], Workload]) -> Search:
        return Search(self.base, change, self.reached)

    def _blocks(self) -> Suggestion:
        current = self.base.config.planning.num_blocks or 0
        if self.unbounded:
            return self._blocks_and_more(current)
        search = self._search(changes.of_blocks)
        needed = _enough_blocks(search, current)
        can = f"Use a cache of {needed} blocks per domain instead of {current}"
        return _entry(BLOCKS_LEVER, current, needed, search, can, "No larger cache that was tried suffices")

    def _blocks_and_more(self, current: int) -> Suggestion:
        """Not even a cache that never evicts suffices: what it needs besides."""
        percent = f"{float(self.ideal) * 100:.2f} %"
        entry = {"lever": BLOCKS_LEVER, "current": current, "needed": None, "reachable_hit_ratio": float(self.ideal)}
        text = f"A larger cache alone does not suffice, not even one that never evicts (at best {percent})."
        chinese_text = f"仅增大缓存无法达到，即使缓存从不淘汰（至多 {percent}）。"
        for lever, change in _BESIDES.items():
            value = self.unbounded.get(lever)
            if value is None or (workload := change(self.base, value)).blocks > BLOCKS // 8:
                continue
            search = Search(workload, changes.of_blocks, self.reached)
            if (needed := _enough_blocks(search, current - 1)) is None:
                continue
            ratio = f"{float(search.reached()) * 100:.2f} %"
            text = (
                f"A larger cache alone does not suffice, not even one that never evicts (at best {percent}): with "
                f"{lever} {value} besides, {needed} blocks per domain do (then {ratio} can be reached)."
            )
            chinese_text = (
                f"仅增大缓存无法达到，即使缓存从不淘汰（至多 {percent}）：同时将 {lever} 改为 {value}，"
                f"每个缓存域 {needed} 个 Block 即可（可达 {ratio}）。"
            )
            break
        return entry | {"text": text, "text_zh": chinese_text}

    def _requests(self) -> Iterator[Suggestion]:
        current = len(self.base.shape.lengths)
        affordable = BLOCKS // 2 * current // max(self.base.blocks, 1)
        most = max(min(self.most_requests, affordable), current)
        begin = min(self.unbounded.get("request_count") or current + 1, most)
        search = self._search(changes.more_requests)
        needed = search.first_growing(range(begin, most + 1) if most > current else range(0))
        search.cut |= needed is None and affordable <= current
        highest = f", not even {search.strongest}" if search.strongest else ""
        yield _entry(
            "request_count", current, needed, search,
            f"Raise request_count from {current} to {needed}", f"More requests alone do not suffice{highest}",
        )  # fmt: skip
        share = len(self.base.config.prefix.group_ids())
        yield _entry(
            "requests_per_group", current / share, None if needed is None else needed / share, search,
            f"Raise the requests per group from {current / share:.1f} to {(needed or 0) / share:.1f} on average",
            "More requests per group alone do not suffice",
        )  # fmt: skip

    def _groups(self) -> Suggestion:
        current = len(self.base.config.prefix.group_ids())
        search = self._search(changes.fewer_groups)
        needed = search.first_of_spread(range(current - 1, 0, -1))
        cannot = "Fewer prefix groups alone do not suffice" if current > 1 else "There is one prefix group already"
        can = f"Reduce the prefix groups from {current} to {needed} of equal size"
        return _entry("group_count", current, needed, search, can, cannot)

    def _lengths(self) -> Suggestion:
        lengths = self.base.shape.lengths
        longest = int(lengths.max())
        search = self._search(changes.capped_lengths)
        needed = search.first_of_spread(range(longest - 1, int(lengths.min()) - 1, -1))
        equal = longest == int(lengths.min())
        cannot = "All lengths are equal already" if equal else "A smaller length spread alone does not suffice"
        can = f"Cap the longest request at {needed} tokens instead of {longest}"
        return _entry("length_spread", longest, needed, search, can, cannot)

    def _non_shared(self) -> Suggestion:
        current = self.base.config.non_shared
        search = self._search(changes.less_non_shared)
        needed = search.first(range(current - 1, 0, -1))
        least = "minimum_non_shared_length is as small as it can be"
        cannot = "A smaller minimum_non_shared_length alone does not suffice" if current > 1 else least
        can = f"Lower prefix.minimum_non_shared_length from {current} to {needed}"
        return _entry("minimum_non_shared_length", current, needed, search, can, cannot)

    def _warm_cache(self) -> Suggestion:
        cold = self.base.config.target_pass == "cold"
        search = self._search(lambda base, _: changes.warmed_up(base))
        needed = "warmup" if cold and search.first([1]) is not None else None
        can = (
            "Use execution.mode: warmup with target.semantics: static_prefix_ratio, so that no request pays for the "
            "cold start"
        )
        cannot = "Warming the cache up first does not suffice" if cold else "The cache is warm already"
        return _entry("warmup", self.base.config.mode, needed, search, can, cannot)

    def _domains(self) -> Suggestion:
        current = self.base.config.routing.domains
        search = self._search(changes.fewer_domains)
        needed = search.first_of_spread(range(current - 1, 0, -1))
        cannot = "Fewer cache domains alone do not suffice" if current > 1 else "There is one cache domain already"
        return _entry("cache_domains", current, needed, search,
                      f"Use {needed} cache domains instead of {current}", cannot)  # fmt: skip

    def _unit(self) -> Suggestion:
        current = self.base.config.unit
        small = [part for part in range(1, math.isqrt(current) + 1) if current % part == 0]
        parts = sorted({*small, *(current // part for part in small)} - {current}, reverse=True)
        search = self._search(changes.smaller_unit)
        needed = search.first(parts)
        cannot = (
            "A smaller hit unit alone, with as many blocks, does not suffice"
            if current > 1
            else "The hit unit is one token already"
        )
        can = f"Use a server whose blocks are {needed} tokens instead of {current}, with as many of them"
        return _entry("hit_unit", current, needed, search, can, cannot)

    def _order(self) -> Iterator[Suggestion]:
        """No lever on the total of a cache that never evicts: here a group's blocks are still there when it goes on."""
        across = self.base.config.order[1]
        if across in GROUPED or len(self.base.config.prefix.group_ids()) == 1:
            return
        search = self._search(lambda base, _: changes.group_after_group(base, GROUPED[0]))
        needed = GROUPED[0] if search.first([1]) is not None else None
        can = f"Send one group after the other: request_order.across_group {needed} instead of {across}"
        yield _entry("request_order", across, needed, search, can, "Another order of the groups does not suffice")


# What may stand beside a larger cache, the unbounded planner's value of it given.
_BESIDES: dict[str, Callable[[Workload, Any], Workload]] = {
    "request_count": changes.more_requests,
    "group_count": changes.fewer_groups,
    "minimum_non_shared_length": changes.less_non_shared,
    "warmup": changes.warmed_up,
    "cache_domains": changes.fewer_domains,
    "length_spread": changes.capped_lengths,
    "hit_unit": changes.smaller_unit,
}


def _enough_blocks(search: Search, current: int) -> int | None:
    """The smallest number above ``current`` that does; twice what ever is in use evicts nothing."""
    shape = search.base.shape
    ample = int(((shape.lengths + shape.outputs) // search.base.config.unit + 2).sum()) * 2
    try:
        trial = trial_of(changes.of_blocks(search.base, max(ample, current + 1)), search.budget)
        guess = current if trial is None else trial.blocks_by_lru()
    except CutShort:
        guess = current
    return search.first_around(range(current + 1, max(ample, current + 1) + 1), guess - current - 1)


def _entry(lever: str, current: Any, needed: Any, search: Search, can: str, cannot: str) -> Suggestion:
    ratio = float(search.reached())
    percent = f"{ratio * 100:.2f} %"
    more = "; the search was cut short" if search.cut else ""
    more += ", less may do" if search.cut and needed is not None else ""
    target = search.base.config.target
    # Such as a cache that thrashes at one plan and keeps all at the next.
    far = needed is None and target is not None and ratio >= float(target.hit_ratio or 0)
    near = ", but no plan that was tried comes near the target" if far else ""
    text = f"{cannot} (at best {percent}{near}{more})."
    if needed is not None:
        text = f"{can} (then {percent} can be reached{more})."
    entry = {"lever": lever, "current": current, "needed": needed, "reachable_hit_ratio": ratio, "text": text}
    return entry | {"text_zh": chinese(entry, cut=search.cut, far=far)}
