"""Planning against a cache that evicts: the simulated structure against token lists in a plain pool, and the search."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.errors import InputError
from prefixcache.workload.capacity import MOST_TRIES, nearest_plan
from prefixcache.workload.plan import Plan, plan_dataset
from prefixcache.workload.plan_report import plan_report
from tests.support.datasets import config_of

UNIT = 16


class SlowPool:
    """vLLM's pool from its rules: a free queue in the order of eviction, blocks by the tokens up to their end."""

    def __init__(self, blocks: int) -> None:
        self.free: OrderedDict[int, None] = OrderedDict.fromkeys(range(1, blocks))
        self.held: dict[int, tuple[Any, ...]] = {}

    def serve(self, prompt: list[Any], generated: int) -> int:
        written = prompt + [object() for _ in range(generated - 1)]
        hit: list[int] = []
        for end in range(UNIT, len(prompt), UNIT):  # never the whole prompt: the last token is computed
            owner = next((block for block, key in self.held.items() if key == tuple(prompt[:end])), None)
            if owner is None:
                break
            hit.append(owner)
        for block in hit:
            del self.free[block]
        mine = list(hit)
        for _ in range(-(-len(written) // UNIT) - len(hit)):
            block, _ = self.free.popitem(last=False)
            self.held.pop(block, None)
            mine.append(block)
        for place, block in enumerate(mine):
            if (place + 1) * UNIT <= len(written) and place >= len(hit):
                self.held[block] = tuple(written[: (place + 1) * UNIT])
        for block in reversed(mine):
            self.free[block] = None
            self.free.move_to_end(block, last=block in self.held)
        return len(hit) * UNIT


def slow_hits(config: PrefixCacheDatasetConfig, plan: Plan, name: str) -> list[int]:
    """Prompts as lists of names of tokens, in send order through one pool per domain."""
    pools = [SlowPool(config.planning.num_blocks or 0) for _ in range(config.routing.domains)]
    prompts = [_prompt(plan, int(request)) for request in plan.order]
    if name == "hot":
        top: dict[tuple[int, int], int] = {}
        for request in plan.order.tolist():
            lane = int(plan.lanes.lane_of[request])
            key = lane, int(plan.domains[request])
            top[key] = max(top.get(key, 0), int(plan.prefixes[request]))
        for (lane, domain), longest in sorted(top.items()):
            if longest:
                group = int(plan.lanes.group[lane])
                pools[domain].serve(
                    [("master", group, i) for i in range(longest)] + [("warm", lane, i) for i in range(UNIT)], 1
                )
    found = []
    for request, prompt in zip(plan.order.tolist(), prompts, strict=True):
        found.append(pools[plan.domains[request]].serve(prompt, int(plan.shape.outputs[request])))
    return found


def _prompt(plan: Plan, request: int) -> list[Any]:
    prefix, length = int(plan.prefixes[request]), int(plan.shape.lengths[request])
    group = int(plan.shape.groups[request])
    return [("master", group, i) for i in range(prefix)] + [("own", request, i) for i in range(length - prefix)]


def tight(blocks: int, **changes: Any) -> PrefixCacheDatasetConfig:
    shape: dict[str, Any] = {
        "request_count": 30,
        "input_length": {"mode": "uniform", "min": 40, "max": 320},
        "output_length": {"mode": "uniform", "min": 1, "max": 40},
        "prefix": {"group_count": 3},
        "planning": {"assume": "capacity", "num_blocks": blocks},
    }
    return config_of(**{**shape, **changes})


@pytest.mark.parametrize("blocks", [24, 30, 45, 70, 400])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"execution": {"mode": "compare"}},
        {"execution": {"mode": "warmup"}, "target": {"hit_ratio": 0.5, "semantics": "static_prefix_ratio"}},
        {"routing": {"cache_scope": "dp_local", "dp_size": 2}},
        {"request_order": {"mode": "shuffle"}},
    ],
    ids=["cold", "compare", "warmup", "two-domains", "shuffled"],
)
def test_hits_are_those_of_a_plain_pool(blocks: int, changes: dict[str, Any]) -> None:
    config = tight(blocks, **changes)
    plan = plan_dataset(config)
    for name in config.passes:
        assert plan.of_pass(name).hit[plan.order].tolist() == slow_hits(config, plan, name), name
    assert plan.search is not None
    if blocks < 31:  # it must matter, or nothing was tested
        asked = plan.search.asked * UNIT
        assert int(plan.of_pass(config.target_pass).hit.sum()) < asked or not plan.reachable


def test_an_ample_cache_gives_the_plan_of_an_unbounded_one() -> None:
    ample, unbounded = plan_dataset(tight(5000)), plan_dataset(tight(5000, planning={}))
    assert np.array_equal(ample.prefixes, unbounded.prefixes)
    assert np.array_equal(ample.of_pass("cold").hit, unbounded.of_pass("cold").hit)
    assert (ample.goal, ample.reachable) == (unbounded.goal, True)
    assert sum(ample.maximum) == sum(unbounded.maximum)


def test_an_evicting_cache_needs_longer_prefixes_for_the_same_target() -> None:
    bounded, unbounded = plan_dataset(tight(45)), plan_dataset(tight(45, planning={}))
    assert bounded.reachable
    assert int(bounded.of_pass("cold").hit.sum()) == bounded.goal == unbounded.goal
    assert bounded.prefixes.sum() > unbounded.prefixes.sum()
    assert bounded.search is not None and bounded.search.tries > 2


def test_a_target_that_the_capacity_does_not_allow_names_one_that_does() -> None:
    config = tight(24)
    report = plan_report(config, plan_dataset(config))
    assert (report["reachable"], report["status"]) == (False, "FAIL")
    assert "caches of 24 blocks" in report["reason"]
    entry = next(entry for entry in report["suggestions"] if entry["lever"] == "planning.num_blocks")
    assert (entry["lever"], entry["current"]) == ("planning.num_blocks", 24)
    assert "Block 数从 24 增加到" in entry["text_zh"]
    followed = tight(entry["needed"])
    assert plan_report(followed, plan_dataset(followed))["status"] == "PASS"
    shy = tight(entry["needed"] - 1)
    assert not plan_dataset(shy).reachable


def test_an_ample_cache_has_the_suggestions_of_an_unbounded_one() -> None:
    """And says that more blocks alone do not help."""
    figures = []
    for planning in ({"assume": "capacity", "num_blocks": 5000}, {}):
        config = tight(5000, target={"hit_ratio": 0.9}, planning=planning)
        found = plan_report(config, plan_dataset(config))["suggestions"]
        figures.append({entry["lever"]: entry["needed"] for entry in found})
    bounded, unbounded = figures
    assert bounded.pop("planning.num_blocks") is None
    assert bounded.pop("request_order") is None
    assert bounded == unbounded


def test_a_request_larger_than_the_pool_is_told() -> None:
    with pytest.raises(InputError, match=r"needs \d+ blocks") as caught:
        plan_dataset(tight(12))
    assert caught.value.field == "planning.num_blocks"


def test_what_is_reached_at_most_does_not_depend_on_the_target() -> None:
    """A pool that thrashes may hit more of a smaller plan."""
    shape: dict[str, Any] = {
        "seed": 8128,
        "request_count": 6,
        "input_length": {"mode": "uniform", "min": 115, "max": 515},
        "output_length": {"mode": "fixed", "value": 1},
        "prefix": {"group_count": 5},
        "execution": {"mode": "warmup"},
    }
    plans = [
        plan_dataset(tight(65, **shape, target={"hit_ratio": ratio, "semantics": "static_prefix_ratio"}))
        for ratio in (0.6, 0.7, 0.9)
    ]
    assert len({sum(plan.maximum) for plan in plans}) == 1
    assert not any(plan.reachable for plan in plans)
    for plan in plans:
        assert int(plan.of_pass("hot").hit.sum()) == sum(plan.maximum) > 0


@given(st.lists(st.integers(0, 60), min_size=2, max_size=60), st.integers(0, 60))
@settings(max_examples=300)
def test_the_nearest_of_those_tried(cut: list[int], goal: int) -> None:
    """Hits may fall while totals rise."""
    hits = [min(total, most) for total, most in enumerate(cut)]
    asked: list[int] = []

    def hits_of(total: int) -> int:
        asked.append(total)
        return hits[total]

    found = nearest_plan(goal, 0, len(hits) - 1, hits_of)
    assert len(asked) == len(set(asked)) == found.tries <= MOST_TRIES + 2
    assert abs(hits[found.asked] - goal) == min(abs(hits[total] - goal) for total in asked)
    assert hits[found.most] == max(hits[total] for total in asked)
    assert found.hits == hits[found.asked]


@given(st.lists(st.integers(0, 9), min_size=2, max_size=400), st.integers(0, 900))
@settings(max_examples=300)
def test_where_hits_never_fall_the_best_of_all_is_found(steps: list[int], goal: int) -> None:
    hits = np.cumsum(steps).tolist()
    found = nearest_plan(goal, 0, len(hits) - 1, hits.__getitem__)
    assert abs(found.hits - goal) == min(abs(value - goal) for value in hits)
