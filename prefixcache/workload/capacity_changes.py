"""What each lever changes in a workload that is planned for caches of a given size: the workload a user gets who
follows a suggestion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.execution import RequestDomains
from prefixcache.config.lengths import ExplicitLength
from prefixcache.config.order import OrderConfig
from prefixcache.workload.capacity_trial import Workload
from prefixcache.workload.groups import assign_groups, group_weights, largest_remainder
from prefixcache.workload.lengths import draw_lengths
from prefixcache.workload.routing import listed_domains
from prefixcache.workload.shape import Shape, with_overrides


def more_requests(base: Workload, count: int) -> Workload:
    """The same configuration with ``count`` requests; what is listed one by one starts again."""
    config, shape = base.config, base.shape
    repeated = Shape(np.resize(shape.lengths, count), np.resize(shape.outputs, count), np.resize(shape.groups, count))
    config = _with_routes(config.model_copy(update={"request_count": count}), count)
    groups = config.prefix.groups or ()
    if any(
        isinstance(model, ExplicitLength) for group in groups for model in (group.input_length, group.output_length)
    ):
        return replace(base, config=config, shape=repeated)
    lengths, outputs, members = repeated.lengths, repeated.outputs, repeated.groups
    if config.prefix.request_groups is None:
        members = assign_groups(largest_remainder(count, group_weights(config.prefix)), config.seed)
    if not isinstance(config.input_length, ExplicitLength):
        lengths = draw_lengths(config.input_length, count, config.seed, shortest=base.frame.shortest)
    if not isinstance(config.output_length, ExplicitLength):
        outputs = draw_lengths(config.output_length, count, config.seed, field="output_length")
    drawn = with_overrides(config, Shape(lengths, outputs, members), base.frame)
    return replace(base, config=config, shape=drawn)


def _with_routes(config: PrefixCacheDatasetConfig, count: int) -> PrefixCacheDatasetConfig:
    """Listed routes start again, and wrap around where there are fewer domains than before."""
    routing = config.routing
    if routing.request_domains is not None:
        routes = np.resize(listed_domains(routing.request_domains), count) % routing.domains
        listed = RequestDomains.model_construct(values=routes.tolist(), file=None, column=None)
        return _with(config, "routing", request_domains=listed)
    if routing.group_domains is not None:
        homes = {name: home % routing.domains for name, home in routing.group_domains.items()}
        return _with(config, "routing", group_domains=homes)
    return config


def fewer_groups(base: Workload, number: int) -> Workload:
    """``number`` equal groups."""
    config, count = base.config, len(base.shape.lengths)
    homes = config.routing.group_domains
    old = config.prefix.group_ids()
    shares = {"groups": None, "mode": None, "zipf_exponent": None, "request_groups": None}
    config = _with(config, "prefix", group_count=number, **shares)
    if homes is not None:
        names = config.prefix.group_ids()
        config = _with(config, "routing", group_domains={new: homes[old[k]] for k, new in enumerate(names)})
    members = assign_groups(largest_remainder(count, [1] * number), config.seed)
    return replace(base, config=config, shape=replace(base.shape, groups=members))


def capped_lengths(base: Workload, longest: int) -> Workload:
    return replace(base, shape=replace(base.shape, lengths=np.minimum(base.shape.lengths, longest)))


def less_non_shared(base: Workload, kept: int) -> Workload:
    return replace(base, config=_with(base.config, "prefix", minimum_non_shared_length=kept))


def warmed_up(base: Workload, mode: str = "warmup") -> Workload:
    config = _with(base.config, "execution", mode=mode, warmup_rounds=None)
    return replace(base, config=_with(config, "target", semantics="static_prefix_ratio"))


def fewer_domains(base: Workload, number: int) -> Workload:
    config = _with(base.config, "routing", dp_size=number)
    return replace(base, config=_with_routes(config, len(base.shape.lengths)))


def smaller_unit(base: Workload, unit: int) -> Workload:
    """As many blocks as before, each smaller."""
    config = _with(base.config, "prefix", minimum_non_shared_length=base.config.non_shared)
    return replace(base, config=config.model_copy(update={"block_size": unit, "hit_unit": None}))


def group_after_group(base: Workload, across: str) -> Workload:
    """The order inside groups as before."""
    within = base.config.order[0]
    preserve = base.config.request_order.preserve_group_dependency
    order = OrderConfig.model_validate(
        {"within_group": within, "across_group": across, "preserve_group_dependency": preserve}
    )
    return replace(base, config=base.config.model_copy(update={"request_order": order}))


def of_blocks(base: Workload, blocks: int) -> Workload:
    return replace(base, config=_with(base.config, "planning", num_blocks=blocks))


def _with(config: PrefixCacheDatasetConfig, part: str, **changes: Any) -> PrefixCacheDatasetConfig:
    return config.model_copy(update={part: getattr(config, part).model_copy(update=changes)})
