"""The plan of a dataset: arrays per request and figures per group (RFC 3.3.4-3.3.8)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.watermark import WatermarkResult, simulate_cold, simulate_warm
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.lengths import ExplicitLength
from prefixcache.errors import InputError
from prefixcache.workload.budget import goal_units, split_budget
from prefixcache.workload.frame import Frame
from prefixcache.workload.groups import assign_groups, group_counts
from prefixcache.workload.lanes import Lanes
from prefixcache.workload.lengths import draw_lengths
from prefixcache.workload.ordering import send_order
from prefixcache.workload.proportional import plan_units
from prefixcache.workload.routing import route

Tokens = NDArray[np.int64]
NO_FRAME = Frame()


@dataclass(frozen=True)
class Shape:
    """What is known before prefixes are planned, per request in generated order."""

    lengths: Tokens
    outputs: Tokens
    groups: NDArray[np.int32]


@dataclass(frozen=True)
class Plan:
    """The whole plan. Arrays are per request in generated order, tokens; ``order`` lists requests as they are sent."""

    shape: Shape
    order: Tokens
    domains: NDArray[np.int32]
    lanes: Lanes
    ceilings: Tokens
    prefixes: Tokens
    cold: WatermarkResult | None
    hot: WatermarkResult | None
    goal: int
    """Target in tokens, a multiple of the unit."""
    initial_budgets: list[int]
    budgets: list[int]
    group_maximum: list[int]
    reachable: bool
    adjusted_requests: int

    def of_pass(self, name: str) -> WatermarkResult:
        result = self.cold if name == "cold" else self.hot
        assert result is not None
        return result


def draw_shape(config: PrefixCacheDatasetConfig, frame: Frame = NO_FRAME) -> Shape:
    """Lengths, output lengths and groups.

    Raises:
        InputError: counts that disagree; a request longer than the model takes.
    """
    count = _known_count(config)
    if count is None and not isinstance(config.input_length, ExplicitLength):
        count = len(draw_lengths(config.output_length, None, config.seed, field="output_length"))
    lengths = draw_lengths(config.input_length, count, config.seed)
    outputs = draw_lengths(config.output_length, len(lengths), config.seed, field="output_length")
    groups = assign_groups(group_counts(config.prefix, len(lengths)), config.seed)
    short = np.flatnonzero(lengths < frame.shortest)
    if len(short):
        first = int(short[0])
        raise InputError(
            f"{len(short)} requests are shorter than the {frame.shortest} tokens that head, tail and one token of "
            f"their own take; the first, request {first}, has {lengths[first]}",
            field="input_length",
            remedy=f"ask for at least {frame.shortest} tokens.",
            stage="plan_lengths",
            dataset_id=config.dataset_id,
        )
    if config.max_model_len is not None:
        over = np.flatnonzero(lengths + outputs > config.max_model_len)
        if len(over):
            first = int(over[0])
            raise InputError(
                f"{len(over)} requests are longer than max_model_len {config.max_model_len}; the first, "
                f"request {first}, has {lengths[first]} input + {outputs[first]} output tokens",
                field="max_model_len",
                remedy="lower input_length or output_length, or raise max_model_len to the server's real limit.",
                stage="plan_lengths",
                dataset_id=config.dataset_id,
            )
    return Shape(lengths, outputs, groups)


def _known_count(config: PrefixCacheDatasetConfig) -> int | None:
    if config.request_count is not None:
        return config.request_count
    groups = config.prefix.groups
    if groups and groups[0].request_count is not None:
        return sum(group.request_count or 0 for group in groups)
    return None


def ceilings_of(lengths: Tokens, unit: int, non_shared: int) -> Tokens:
    """M_i in units: the longest prefix each request may share. Engines recompute at least the last token."""
    return np.maximum(lengths - max(non_shared, 1), 0) // unit


def plan_dataset(config: PrefixCacheDatasetConfig, shape: Shape | None = None, frame: Frame = NO_FRAME) -> Plan:
    """Plan prefixes so that the hits of the target's pass are the multiple of the unit nearest to the target.

    An unreachable target gives the best plan, with ``reachable`` false.

    Raises:
        InputError: a target that this version cannot plan.
    """
    if config.target.scope == "per_group" or config.target.hit_ratio is None:
        raise InputError(
            "per_group targets are not yet supported", field="target.scope", remedy="use scope: global for now."
        )
    shape = shape or draw_shape(config, frame)
    lengths, groups, unit = shape.lengths, shape.groups, config.unit
    cold = config.target_pass == "cold"
    order = _order(config, shape, np.zeros_like(lengths))
    domains = route(groups, lengths, order, policy=config.policy, domains=config.routing.domains)
    lanes = Lanes.of(groups, domains)
    ceilings = ceilings_of(lengths, unit, config.non_shared)

    maximum = _per_group(lanes.hits(ceilings, cold=cold), lanes, config)
    tokens = np.bincount(groups, weights=lengths, minlength=len(maximum)).astype(np.int64).tolist()
    goal = goal_units(config.target.hit_ratio, int(lengths.sum()), unit)
    reachable = goal <= sum(maximum)
    initial, budgets = split_budget(goal, tokens, [0] * len(maximum), maximum)
    prefixes, adjusted = _plan_groups(config, shape, order, domains, ceilings, budgets, cold)

    if any(name.startswith("prefix_len") for name in config.order):
        # Groups keep to one domain under the policies allowed here, so this moves no request to another lane.
        order = _order(config, shape, prefixes)
        domains = route(groups, lengths, order, policy=config.policy, domains=config.routing.domains)
        lanes = Lanes.of(groups, domains)
    return Plan(
        shape=shape,
        order=order,
        domains=domains,
        lanes=lanes,
        ceilings=ceilings * unit,
        prefixes=prefixes,
        cold=simulate_cold(prefixes, lanes.lane_of, order) if "cold" in config.passes else None,
        hot=simulate_warm(prefixes, lanes.lane_of) if "hot" in config.passes else None,
        goal=goal * unit,
        initial_budgets=[units * unit for units in initial],
        budgets=[units * unit for units in budgets],
        group_maximum=[units * unit for units in maximum],
        reachable=reachable,
        adjusted_requests=adjusted,
    )


def _order(config: PrefixCacheDatasetConfig, shape: Shape, prefixes: Tokens) -> Tokens:
    within, across = config.order
    return send_order(
        shape.groups,
        shape.lengths,
        prefixes,
        within=within,
        across=across,
        preserve=config.request_order.preserve_group_dependency,
        seed=config.seed,
    )


def _per_group(per_lane: Tokens, lanes: Lanes, config: PrefixCacheDatasetConfig) -> list[int]:
    count = len(config.prefix.group_ids())
    return [int(hits) for hits in np.bincount(lanes.group, weights=per_lane, minlength=count)]


def _plan_groups(
    config: PrefixCacheDatasetConfig,
    shape: Shape,
    order: Tokens,
    domains: NDArray[np.int32],
    ceilings: Tokens,
    budgets: list[int],
    cold: bool,
) -> tuple[Tokens, int]:
    """Prefixes in tokens and the number of requests that the residual calibration moved."""
    unit, calibrate = config.unit, config.planning.block_residual_calibration
    prefixes = np.zeros_like(shape.lengths)
    formula = _static_formula(config.target.hit_ratio or Decimal(0), shape.lengths, unit, ceilings)
    if not cold and not calibrate:
        return formula * unit, 0
    raised = 0
    in_order = shape.groups[order]
    for group, budget in enumerate(budgets):
        members = order[in_order == group]
        if not len(members):
            continue
        lanes = Lanes.of(np.zeros(len(members), dtype=np.int32), domains[members])
        units, moved = plan_units(
            shape.lengths[members], ceilings[members], lanes, budget, unit=unit, cold=cold, calibrate=calibrate
        )
        prefixes[members] = units
        raised += moved
    adjusted = raised if cold else int((prefixes != formula).sum())
    return prefixes * unit, adjusted


def _static_formula(ratio: Decimal, lengths: Tokens, unit: int, ceilings: Tokens) -> Tokens:
    """RFC A.1: align_down(L x T), in units, at most M; exact whatever the number of decimals."""
    exact = Fraction(ratio)
    if int(lengths.max()) * exact.numerator < 1 << 62 and exact.denominator * unit < 1 << 62:
        units = lengths * exact.numerator // (exact.denominator * unit)
    else:
        whole = lengths.astype(object) * exact.numerator  # integers without bounds
        units = (whole // (exact.denominator * unit)).astype(np.int64)
    return np.minimum(units, ceilings)
