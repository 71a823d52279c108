"""The classes of RFC 3.5.1's planning sequence, each a name for functions of this package."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prefixcache.api.objects import PrefixPlanningResult, ReachabilityResult, RequestPlan
from prefixcache.api.planning import (
    Groups,
    allocate_prefix_groups,
    arrays_of,
    generate_request_lengths,
    plan_prefix_lengths,
    write_plan,
)
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.lengths import LengthConfig
from prefixcache.config.order import OrderConfig, WithinGroup
from prefixcache.config.prefix import PrefixConfig
from prefixcache.config.target import TargetConfig
from prefixcache.errors import InputError
from prefixcache.workload.frame import Frame
from prefixcache.workload.ordering import send_order
from prefixcache.workload.plan import Plan, plan_dataset
from prefixcache.workload.plan_report import group_rows
from prefixcache.workload.shape import NO_FRAME, Shape


class LengthGenerator:
    @staticmethod
    def generate(config: LengthConfig, request_count: int, seed: int) -> list[int]:
        """See :func:`generate_request_lengths`."""
        return generate_request_lengths(config, request_count, seed)


class RequestPlanner:
    @staticmethod
    def create(
        lengths: Sequence[int], *, dataset_id: str = "request", output_lengths: Sequence[int] | None = None
    ) -> list[RequestPlan]:
        """One request per length, named as a dataset of that id names them. Widened: both keywords."""
        width = len(str(max(len(lengths) - 1, 0)))
        requests = [
            RequestPlan(f"{dataset_id}-{index:0{width}d}", int(length), index) for index, length in enumerate(lengths)
        ]
        if output_lengths is not None:
            for request, length in zip(requests, output_lengths, strict=True):
                request.output_len = int(length)
        return requests


class PrefixGroupAllocator:
    @staticmethod
    def allocate(requests: list[RequestPlan], config: PrefixConfig, *, seed: int = 0) -> Groups:
        """See :func:`allocate_prefix_groups`."""
        return allocate_prefix_groups(requests, config, seed=seed)


class RequestOrderPlanner:
    """Both methods are widened by ``seed`` (of shuffles) and ``default_within`` (where the order names none)."""

    @staticmethod
    def sort_within_groups(
        groups: Groups, config: OrderConfig, *, seed: int = 0, default_within: WithinGroup = "input_len_asc"
    ) -> None:
        """Sort each group's requests as they will be sent."""
        sent = _order(groups, config, "grouped", seed, default_within)
        for name, group in groups.items():
            group.requests = [request for request in sent if request.prefix_group_id == name]

    @staticmethod
    def merge_groups(
        groups: Groups, config: OrderConfig, *, seed: int = 0, default_within: WithinGroup = "input_len_asc"
    ) -> list[RequestPlan]:
        """All requests as they are sent; fills in ``order_index``."""
        sent = _order(groups, config, config.resolved(default_within)[1], seed, default_within)
        for position, request in enumerate(sent):
            request.order_index = position
        return sent


def _order(
    groups: Groups, config: OrderConfig, across: str, seed: int, default_within: WithinGroup
) -> list[RequestPlan]:
    arrays = arrays_of(groups)
    order = send_order(
        arrays.groups,
        arrays.lengths,
        np.array([request.planned_prefix_len or 0 for request in arrays.requests], dtype=np.int64),
        within=config.resolved(default_within)[0],
        across=across,
        preserve=config.preserve_group_dependency,
        seed=seed,
    )
    return [arrays.requests[place] for place in order.tolist()]


def _plan(groups: Groups, config: PrefixCacheDatasetConfig, frame: Frame) -> Plan:
    """The plan that `prefixcache plan` makes of these requests; their order and routes are filled in."""
    arrays = arrays_of(groups)
    outputs = np.array([request.output_len for request in arrays.requests], dtype=np.int64)
    if config.planning.assume == "capacity":
        raise InputError(
            "is capacity: the steps of this interface simulate caches that never evict",
            field="planning.assume",
            remedy="call generate_prefix_cache_dataset(config, ...), which plans and proves for a capacity.",
            dataset_id=config.dataset_id,
        )
    plan = plan_dataset(config, Shape(arrays.lengths, outputs, arrays.groups), frame)
    for position, place in enumerate(plan.order.tolist()):
        arrays.requests[place].order_index = position
    for request, domain in zip(arrays.requests, plan.domains.tolist(), strict=True):
        request.planned_dp_id = domain
    return plan


class ReachabilityValidator:
    @staticmethod
    def validate(groups: Groups, config: PrefixCacheDatasetConfig, *, frame: Frame = NO_FRAME) -> ReachabilityResult:
        """Reachability under the whole configuration; fills in order and routes. Widened: ``frame``.

        Raises:
            InputError: no requests, inputs that disagree, a dataset without a target.
        """
        plan = _plan(groups, config, frame)
        tokens = int(plan.shape.lengths.sum())
        for group, most in zip(groups.values(), plan.maximum, strict=True):
            group.max_reachable_hit_ratio = most / group.input_tokens if group.requests else None
        return ReachabilityResult(
            reachable=plan.reachable,
            target_hit_tokens=plan.goal or 0,
            min_reachable_hit_tokens=sum(plan.minimum),
            max_reachable_hit_tokens=sum(plan.maximum),
            max_reachable_hit_ratio=sum(plan.maximum) / tokens,
            input_tokens=tokens,
            max_reachable_of_groups=dict(zip(groups, plan.maximum, strict=True)),
        )


class PrefixPlanner:
    @staticmethod
    def plan(
        groups: Groups,
        target: TargetConfig,
        block_size: int,
        minimum_non_shared_length: int | None,
        *,
        config: PrefixCacheDatasetConfig | None = None,
        frame: Frame = NO_FRAME,
    ) -> PrefixPlanningResult:
        """Plan the prefixes into the requests. Widened: ``config`` plans by the whole configuration (objective,
        hit_unit, hit_drop, order, routes), of which the other arguments are parts; ``frame``.

        Raises:
            InputError: see :func:`plan_prefix_lengths` and ``plan_dataset``.
        """
        if config is None:
            return plan_prefix_lengths(groups, target, block_size, minimum_non_shared_length, frame=frame)
        plan = _plan(groups, config, frame)
        arrays = arrays_of(groups)
        loss = [row["cold_start_loss"] for row in group_rows(config, plan)]
        write_plan(groups, arrays, plan.prefixes, plan.budgets, loss)
        hits = int(plan.of_pass(config.target_pass).hit.sum())
        return PrefixPlanningResult(
            planned_prefix_len={request.request_id: request.planned_prefix_len or 0 for request in arrays.requests},
            expected_hit_tokens=hits,
            designed_hit_ratio=hits / int(arrays.lengths.sum()),
            target_hit_tokens=plan.goal,
            reachable=plan.reachable,
            adjusted_requests=plan.adjusted_requests,
        )


__all__ = [
    "LengthGenerator",
    "PrefixGroupAllocator",
    "PrefixPlanner",
    "ReachabilityValidator",
    "RequestOrderPlanner",
    "RequestPlanner",
]
