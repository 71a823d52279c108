"""The plan of a dataset: arrays per request and figures per group (RFC 3.3.4-3.3.8)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.bounded import PoolSize
from prefixcache.cache.watermark import WatermarkResult, simulate_cold, simulate_replay, simulate_warm
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.errors import InputError
from prefixcache.workload.budget import Goals, global_goals, group_goals, split_budget
from prefixcache.workload.capacity import Bounded, Found, Sent, plan_within, pool_of
from prefixcache.workload.frame import Frame
from prefixcache.workload.lanes import HitRules, Lanes
from prefixcache.workload.ordering import send_order
from prefixcache.workload.prefixes import plan_prefixes
from prefixcache.workload.routing import route_requests
from prefixcache.workload.shape import NO_FRAME, Shape, ceilings_of, draw_shape
from prefixcache.workload.trajectory import Course

Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """The whole plan. Arrays are per request in generated order, tokens; ``order`` lists requests as they are sent.

    ``goals``: in hit units, per group; None where there is no target. ``courses``: how the cumulative ratio runs, with
    objective `trajectory`: of the whole, or of every group that has requests and a target of its own.
    """

    shape: Shape
    frame: Frame
    unit: int
    rules: HitRules
    order: Tokens
    domains: NDArray[np.int32]
    lanes: Lanes
    ceilings: Tokens
    prefixes: Tokens
    passes: dict[str, WatermarkResult]
    goals: Goals | None
    minimum: list[int]
    """Per group: hit tokens with every prefix at its shortest, the head."""
    maximum: list[int]
    """Per group: hit tokens with every prefix at its ceiling."""
    adjusted_requests: int
    courses: list[tuple[int | None, Course]]
    search: Found | None = None
    """With `planning.assume: capacity`: how the plan was found. ``minimum`` and ``maximum`` are then those of the plans
    tried, and the hits those of the bounded cache; the watermarks are an unbounded cache's."""

    def of_pass(self, name: str) -> WatermarkResult:
        return self.passes[name]

    @property
    def reachable(self) -> bool:
        return self.goals is None or all(self.goals.reachable)

    @property
    def goal(self) -> int | None:
        """Target in tokens, a multiple of the unit; None where there is none."""
        return None if self.goals is None else self.goals.total * self.unit

    @property
    def initial_budgets(self) -> list[int] | None:
        """Hit tokens per group before shares were moved."""
        return None if self.goals is None else [units * self.unit for units in self.goals.initial]

    @property
    def budgets(self) -> list[int] | None:
        """Hit tokens that each group was planned for."""
        return None if self.goals is None else [units * self.unit for units in self.goals.budgets]


@dataclass(frozen=True)
class Ground:
    """What stands before prefixes are chosen. Arrays are per request in generated order.

    ``ceilings``, ``shortest``: units. ``minimum``, ``maximum``: units per group, of a cache that never evicts.
    """

    shape: Shape
    frame: Frame
    rules: HitRules
    order: Tokens
    domains: NDArray[np.int32]
    lanes: Lanes
    ceilings: Tokens
    shortest: Tokens
    minimum: list[int]
    maximum: list[int]
    goals: Goals | None

    def sent(self, config: PrefixCacheDatasetConfig, pool: PoolSize) -> Sent:
        """What is sent whatever the prefixes are."""
        return Sent(
            groups=self.shape.groups[self.order].astype(np.int64),
            lanes=self.lanes.lane_of[self.order].astype(np.int64),
            domains=self.domains[self.order].astype(np.int64),
            lengths=self.shape.lengths[self.order],
            outputs=self.shape.outputs[self.order],
            lane_group=self.lanes.group.astype(np.int64),
            lane_domain=self.lanes.domain.astype(np.int64),
            head=self.rules.head * config.unit,
            around=config.block_size + self.frame.tail,
            passes=config.passes,
            target_pass=config.target_pass,
            pool=pool,
        )

    def prefixes_for(self, config: PrefixCacheDatasetConfig, total: int | None) -> tuple[Tokens, int]:
        """Prefixes in units that an unbounded cache hits ``total`` units of, and how many requests were adjusted."""
        goals, shape = self.goals, self.shape
        if goals is None or total is None:
            return self.shortest, 0
        size = len(goals.minimum)
        tokens = np.bincount(shape.groups, weights=shape.lengths, minlength=size).astype(np.int64).tolist()
        budgets = split_budget(total, tokens, self.minimum, self.maximum)[1]
        asked = replace(goals, total=total, budgets=budgets)
        return plan_prefixes(config, shape, self.order, self.lanes, self.ceilings, self.rules, asked)[:2]


def ground_of(config: PrefixCacheDatasetConfig, shape: Shape, frame: Frame = NO_FRAME) -> Ground:
    """Order, routes, ceilings and goals of these requests.

    Raises:
        InputError: inputs that disagree.
    """
    unit = config.unit
    rules = HitRules(frame.shared(unit) // unit, config.hit_drop, cold=config.target_pass == "cold")
    _refuse_moving_heads(config, rules)
    order, domains, lanes = _sent(config, shape, np.zeros_like(shape.lengths))
    ceilings = ceilings_of(shape.lengths, unit, config.non_shared, frame)
    _refuse_lone_requests(config, ceilings, rules)
    shortest = np.full_like(ceilings, rules.head)
    minimum, maximum = (_per_group(rules.hits(lanes, units), lanes, config) for units in (shortest, ceilings))
    goals = _goals(config, shape, minimum, maximum)
    return Ground(shape, frame, rules, order, domains, lanes, ceilings, shortest, minimum, maximum, goals)


def plan_dataset(config: PrefixCacheDatasetConfig, shape: Shape | None = None, frame: Frame = NO_FRAME) -> Plan:
    """Plan prefixes so that the hits of the target's pass are the multiple of the unit nearest to the target.

    An unreachable target gives the best plan, with ``reachable`` false.

    Raises:
        InputError: inputs that disagree, or an objective that cannot be planned exactly here.
    """
    ground = ground_of(config, shape or draw_shape(config, frame), frame)
    shape, rules, unit, ceilings, goals = ground.shape, ground.rules, config.unit, ground.ceilings, ground.goals
    order, domains, lanes, shortest = ground.order, ground.domains, ground.lanes, ground.shortest
    minimum, maximum = ground.minimum, ground.maximum
    prefixes, adjusted, courses = shortest, 0, list[tuple[int | None, Course]]()
    if goals is not None:
        prefixes, adjusted, courses = plan_prefixes(config, shape, order, lanes, ceilings, rules, goals)
    bounded = None
    if (pool := pool_of(config)) is not None:
        bounded = plan_within(ground.sent(config, pool), shape, order, goals, partial(ground.prefixes_for, config))
        prefixes, adjusted, goals = bounded.prefixes, bounded.adjusted, bounded.goals
        if goals is not None:
            minimum, maximum = goals.minimum, goals.maximum
    if any(name.startswith("prefix_len") for name in config.order):
        # Groups keep to one domain under the policies allowed here, so this moves no request to another lane.
        order, domains, lanes = _sent(config, shape, prefixes)
        before = minimum
        minimum, maximum = (_per_group(rules.hits(lanes, units), lanes, config) for units in (shortest, ceilings))
        goals = None if goals is None else _with_moved_heads(goals, before, minimum, maximum)
    tokens = prefixes * unit
    return Plan(
        shape=shape,
        frame=frame,
        unit=unit,
        rules=rules,
        order=order,
        domains=domains,
        lanes=lanes,
        ceilings=ceilings * unit,
        prefixes=tokens,
        passes={
            name: _simulate(name, shape, tokens, lanes, order, domains, unit, rules, bounded) for name in config.passes
        },
        goals=goals,
        minimum=[units * unit for units in minimum],
        maximum=[units * unit for units in maximum],
        adjusted_requests=adjusted,
        courses=courses,
        search=None if bounded is None else bounded.found,
    )


def _sent(config: PrefixCacheDatasetConfig, shape: Shape, prefixes: Tokens) -> tuple[Tokens, NDArray[np.int32], Lanes]:
    """Send order, routes and lanes for these prefixes."""
    within, across = config.order
    order = send_order(
        shape.groups,
        shape.lengths,
        prefixes,
        within=within,
        across=across,
        preserve=config.request_order.preserve_group_dependency,
        seed=config.seed,
    )
    domains = route_requests(config, shape.groups, shape.lengths, order)
    return order, domains, Lanes.of(shape.groups, domains, order)


def _refuse_moving_heads(config: PrefixCacheDatasetConfig, rules: HitRules) -> None:
    """Which group meets a cold head must not depend on the prefixes where every group has a target of its own."""
    groups = len(config.prefix.group_ids())
    across = config.order[1]
    if config.group_targets is None or groups == 1 or not rules.cold or not rules.head_worth:
        return
    if across.startswith("prefix_len"):
        raise InputError(
            f"with a shared head the group that sends first pays for it, and with across_group {across} that depends "
            "on the prefixes being planned, so single groups' targets cannot be met exactly",
            field="request_order",
            remedy="order by input length, interleave or grouped, or write target.scope: global.",
            stage="plan_prefixes",
            dataset_id=config.dataset_id,
        )


def _refuse_lone_requests(config: PrefixCacheDatasetConfig, ceilings: Tokens, rules: HitRules) -> None:
    """Only where the configuration asks for it; else they are listed."""
    alone = np.flatnonzero(ceilings == rules.head)
    if config.validation.on_cannot_share == "error" and len(alone):
        raise InputError(
            f"{len(alone)} requests are too short to share one unit of {config.unit} tokens"
            + (" beyond the head" if rules.head else "")
            + f" and keep {max(config.non_shared, 1)} of their own; the first is request {alone[0]}",
            field="validation.on_cannot_share",
            remedy="ask for longer requests, lower prefix.minimum_non_shared_length, or write on_cannot_share: list.",
            stage="plan_prefixes",
            dataset_id=config.dataset_id,
        )


def _with_moved_heads(goals: Goals, before: list[int], minimum: list[int], maximum: list[int]) -> Goals:
    """An order by prefix length may let another group send first: the head's hits move from one budget to another."""
    moved = [budget + now - was for budget, now, was in zip(goals.budgets, minimum, before, strict=True)]
    return Goals(goals.total, goals.initial, moved, minimum, maximum, goals.of_groups)


def _per_group(per_lane: Tokens, lanes: Lanes, config: PrefixCacheDatasetConfig) -> list[int]:
    count = len(config.prefix.group_ids())
    return [int(hits) for hits in np.bincount(lanes.group, weights=per_lane, minlength=count)]


def _goals(config: PrefixCacheDatasetConfig, shape: Shape, minimum: list[int], maximum: list[int]) -> Goals | None:
    tokens = np.bincount(shape.groups, weights=shape.lengths, minlength=len(maximum)).astype(np.int64).tolist()
    if (targets := config.group_targets) is not None:
        return group_goals(targets, tokens, config.unit, minimum, maximum)
    if config.target is None or config.target.hit_ratio is None:
        return None
    return global_goals(config.target.hit_ratio, tokens, config.unit, minimum, maximum)


def _simulate(
    name: str,
    shape: Shape,
    prefixes: Tokens,
    lanes: Lanes,
    order: Tokens,
    domains: NDArray[np.int32],
    unit: int,
    rules: HitRules,
    bounded: Bounded | None,
) -> WatermarkResult:
    """Watermarks of an unbounded cache; the hits too, unless a bounded one was planned for."""
    drop = rules.drop * unit
    if name == "cold":
        head = rules.head * unit
        found = simulate_cold(prefixes, lanes.lane_of, order, domains=domains, head=head, drop=drop)
    elif name == "hot":
        found = simulate_warm(prefixes, lanes.lane_of, drop=drop)
    else:
        found = simulate_replay(shape.lengths, prefixes, lanes.lane_of, unit=unit, drop=drop)
    return found if bounded is None else replace(found, hit=bounded.hits[name])
