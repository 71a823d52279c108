"""Lengths, groups, reachability and prefixes as functions over plan objects (RFC 3.5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.api.objects import PrefixGroupPlan, PrefixPlanningResult, ReachabilityResult, RequestPlan
from prefixcache.config.lengths import LengthConfig
from prefixcache.config.prefix import PrefixConfig
from prefixcache.config.target import TargetConfig
from prefixcache.errors import InputError
from prefixcache.workload.budget import Goals, global_goals, group_goals
from prefixcache.workload.frame import Frame
from prefixcache.workload.groups import groups_of_requests
from prefixcache.workload.lanes import HitRules, Lanes
from prefixcache.workload.lengths import draw_lengths
from prefixcache.workload.proportional import plan_units
from prefixcache.workload.shape import NO_FRAME, ceilings_of

Tokens = NDArray[np.int64]
Groups = dict[str, PrefixGroupPlan]


def generate_request_lengths(config: LengthConfig, request_count: int, seed: int, *, shortest: int = 1) -> list[int]:
    """Input lengths in generated order, tokens; the same as `prefixcache generate` draws.

    Widened: ``shortest``, the least length, for tokenizers that put tokens around a text.

    Raises:
        InputError: no request or a negative seed; a list of another length, a file without usable values, a law below
            ``shortest``.
    """
    for name, value, least in (("request_count", request_count, 1), ("seed", seed, 0)):
        if value < least:
            raise InputError(
                f"{value} is below {least}", field=name, remedy=f"write a number that is at least {least}."
            )
    return [int(length) for length in draw_lengths(config, request_count, seed, shortest=shortest)]


def allocate_prefix_groups(requests: list[RequestPlan], config: PrefixConfig, *, seed: int = 0) -> Groups:
    """Give every request its group; a group with an input length of its own draws its requests' lengths anew.

    Widened: ``seed``, of the shuffle that deals out requests.

    Returns:
        Group id → plan, in the configuration's order; ``requests`` in generated order.

    Raises:
        InputError: no requests, counts that disagree, an id that is no group.
    """
    if not requests:
        raise InputError("there is no request", field="requests", remedy="create requests from lengths first.")
    names = config.group_ids()
    groups = {name: PrefixGroupPlan(name) for name in names}
    labels = groups_of_requests(config, len(requests), seed)
    for request, label in zip(requests, labels.tolist(), strict=True):
        request.prefix_group_id = names[label]
        groups[names[label]].requests.append(request)
    for number, own in enumerate(config.groups or ()):
        if own.input_length is not None:
            members = groups[own.id].requests
            lengths = draw_lengths(own.input_length, len(members), seed, group=(number, own.id))
            for request, length in zip(members, lengths.tolist(), strict=True):
                request.input_len = length
    for group in groups.values():
        group.request_count = len(group.requests)
    return groups


@dataclass(frozen=True)
class Arrays:
    """Requests in generated order as arrays. ``order``: request indices as they are sent."""

    requests: list[RequestPlan]
    lengths: Tokens
    groups: NDArray[np.int32]
    domains: NDArray[np.int32]
    order: Tokens

    @property
    def lanes(self) -> Lanes:
        return Lanes.of(self.groups, self.domains, self.order)


def arrays_of(groups: Groups) -> Arrays:
    """Where no order across groups is set, groups are sent one after the other.

    Raises:
        InputError: no requests.
    """
    sent = [(request, number) for number, group in enumerate(groups.values()) for request in group.requests]
    if not sent:
        raise InputError("the groups have no requests", field="groups", remedy="allocate requests first.")
    place = sorted(range(len(sent)), key=lambda at: sent[at][0].index)
    requests = [sent[at][0] for at in place]
    rank = np.empty(len(sent), dtype=np.int64)
    rank[place] = np.arange(len(sent))  # listed place → generated place
    if all(request.order_index is not None for request in requests):
        rank = np.argsort([request.order_index or 0 for request in requests], kind="stable").astype(np.int64)
    return Arrays(
        requests,
        np.array([request.input_len for request in requests], dtype=np.int64),
        np.array([sent[at][1] for at in place], dtype=np.int32),
        np.array([request.planned_dp_id or 0 for request in requests], dtype=np.int32),
        rank,
    )


def planned_prefixes(requests: Sequence[RequestPlan]) -> Tokens:
    """Planned prefixes in tokens, in the order given.

    Raises:
        InputError: a request has none, or one that leaves it no token of its own: the last one is always computed.
    """
    for request in requests:
        prefix = request.planned_prefix_len
        place: dict[str, Any] = {
            "request_id": request.request_id,
            "group": request.prefix_group_id,
            "stage": "plan_prefixes",
        }
        if prefix is None:
            raise InputError("is missing", field="planned_prefix_len", remedy="plan prefixes first.", **place)
        if not 0 <= prefix < request.input_len:
            raise InputError(
                f"a prefix of {prefix} tokens does not fit into the request's {request.input_len}",
                field="planned_prefix_len",
                remedy=f"plan 0 to {request.input_len - 1} tokens, or a longer request.",
                **place,
            )
    return np.array([request.planned_prefix_len for request in requests], dtype=np.int64)


@dataclass(frozen=True)
class _Scene:
    """What the planners need, in hit units."""

    arrays: Arrays
    lanes: Lanes
    rules: HitRules
    ceilings: Tokens
    goals: Goals
    unit: int


def _scene(
    groups: Groups, target: TargetConfig, block: int, own: int | None, hit_unit: int | None, drop: int, frame: Frame
) -> _Scene:
    unit = hit_unit or block
    arrays = arrays_of(groups)
    rules = HitRules(frame.shared(unit) // unit, drop, cold=target.semantics != "static_prefix_ratio")
    lanes = arrays.lanes
    ceilings = ceilings_of(arrays.lengths, unit, block if own is None else own, frame)
    limits = (np.full_like(ceilings, rules.head), ceilings)
    low, high = (_per_group(rules.hits(lanes, units), lanes.group, len(groups)) for units in limits)
    tokens = _per_group(arrays.lengths, arrays.groups, len(groups))
    if target.scope == "per_group":
        goals = group_goals(_ratios(groups, target), tokens, unit, low, high)
    else:
        goals = global_goals(target.hit_ratio or Decimal(0), tokens, unit, low, high)
    return _Scene(arrays, lanes, rules, ceilings, goals, unit)


def _ratios(groups: Groups, target: TargetConfig) -> Sequence[Decimal]:
    known = {entry.id: entry.hit_ratio for entry in target.groups or ()}
    if missing := [name for name in groups if name not in known]:
        raise InputError(
            f"group {missing[0]!r} has no target",
            field="target.groups",
            remedy="list every group there, or use PrefixPlanner with config=.",
        )
    return [known[name] for name in groups]


def _per_group(values: Tokens, group: NDArray[np.integer], count: int) -> list[int]:
    return [int(total) for total in np.bincount(group, weights=values, minlength=count)]


def validate_target_reachability(
    groups: Groups,
    target: TargetConfig,
    block_size: int,
    minimum_non_shared_length: int | None,
    *,
    hit_unit: int | None = None,
    hit_drop: int = 0,
    frame: Frame = NO_FRAME,
) -> ReachabilityResult:
    """Can the target be hit, and what is the most? Fills in each group's ``max_reachable_hit_ratio``.

    Cold start, unless ``target.semantics`` is static_prefix_ratio. Widened: ``minimum_non_shared_length`` None is one
    block; ``hit_unit`` in tokens (default block_size); ``hit_drop`` in units; ``frame``: tokens around every prompt.

    Raises:
        InputError: no requests; a group without a target where each has its own.
    """
    scene = _scene(groups, target, block_size, minimum_non_shared_length, hit_unit, hit_drop, frame)
    goals, unit = scene.goals, scene.unit
    for group, most in zip(groups.values(), goals.maximum, strict=True):
        group.max_reachable_hit_ratio = most * unit / group.input_tokens if group.requests else None
    tokens = int(scene.arrays.lengths.sum())
    return ReachabilityResult(
        reachable=all(goals.reachable),
        target_hit_tokens=goals.total * unit,
        min_reachable_hit_tokens=sum(goals.minimum) * unit,
        max_reachable_hit_tokens=sum(goals.maximum) * unit,
        max_reachable_hit_ratio=sum(goals.maximum) * unit / tokens,
        input_tokens=tokens,
        max_reachable_of_groups={name: most * unit for name, most in zip(groups, goals.maximum, strict=True)},
    )


def plan_prefix_lengths(
    groups: Groups,
    target: TargetConfig,
    block_size: int,
    minimum_non_shared_length: int | None,
    *,
    hit_unit: int | None = None,
    hit_drop: int = 0,
    frame: Frame = NO_FRAME,
) -> PrefixPlanningResult:
    """Plan prefixes for the target by objective `proportional`, into the requests; an unreachable one: the best plan.

    Widened as :func:`validate_target_reachability`; other objectives: ``PrefixPlanner.plan(..., config=)``.

    Raises:
        InputError: as there.
    """
    scene = _scene(groups, target, block_size, minimum_non_shared_length, hit_unit, hit_drop, frame)
    arrays, lanes = scene.arrays, scene.lanes
    prefixes, raised = np.full_like(scene.ceilings, scene.rules.head), 0
    for number, budget in enumerate(scene.goals.budgets):
        members = arrays.order[arrays.groups[arrays.order] == number]
        if len(members):
            own = lanes.of_group(number, members)
            prefixes[members], moved = plan_units(
                arrays.lengths[members], scene.ceilings[members], own, budget, unit=scene.unit, rules=scene.rules
            )
            raised += moved
    hits = int(scene.rules.hits(lanes, prefixes).sum()) * scene.unit
    loss = _per_group(scene.rules.lost(lanes, prefixes) * scene.unit, lanes.group, len(groups))
    write_plan(groups, arrays, prefixes * scene.unit, [units * scene.unit for units in scene.goals.budgets], loss)
    return PrefixPlanningResult(
        planned_prefix_len={request.request_id: request.planned_prefix_len or 0 for request in arrays.requests},
        expected_hit_tokens=hits,
        designed_hit_ratio=hits / int(arrays.lengths.sum()),
        target_hit_tokens=scene.goals.total * scene.unit,
        reachable=all(scene.goals.reachable),
        adjusted_requests=raised,
    )


def write_plan(groups: Groups, arrays: Arrays, prefixes: Tokens, budgets: list[int] | None, loss: list[int]) -> None:
    """Prefixes (tokens, generated order) into the requests, budgets and losses into the groups."""
    for request, prefix in zip(arrays.requests, prefixes.tolist(), strict=True):
        request.planned_prefix_len = prefix
    for number, group in enumerate(groups.values()):
        group.master_prefix_len = max((request.planned_prefix_len or 0 for request in group.requests), default=0)
        group.target_hit_tokens = None if budgets is None else budgets[number]
        group.cold_start_loss = loss[number]
