"""What is known of a dataset before prefixes are planned: lengths, output lengths, groups (RFC 3.3.1, 3.3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.lengths import ExplicitLength
from prefixcache.errors import InputError
from prefixcache.workload.frame import Frame
from prefixcache.workload.groups import groups_of_requests, listed_groups
from prefixcache.workload.lengths import draw_lengths
from prefixcache.workload.routing import listed_domains

Tokens = NDArray[np.int64]
NO_FRAME = Frame()


@dataclass(frozen=True)
class Shape:
    """Per request in generated order. Lengths in tokens."""

    lengths: Tokens
    outputs: Tokens
    groups: NDArray[np.int32]


def draw_shape(config: PrefixCacheDatasetConfig, frame: Frame = NO_FRAME) -> Shape:
    """Lengths, output lengths and groups.

    Raises:
        InputError: counts that disagree; a request shorter than its frame or longer than the model takes.
    """
    count = known_count(config)
    if count is None and not isinstance(config.input_length, ExplicitLength):
        count = len(draw_lengths(config.output_length, None, config.seed, field="output_length"))
    lengths = draw_lengths(config.input_length, count, config.seed, shortest=frame.shortest)
    outputs = draw_lengths(config.output_length, len(lengths), config.seed, field="output_length")
    groups = groups_of_requests(config.prefix, len(lengths), config.seed)
    shape = with_overrides(config, Shape(lengths, outputs, groups), frame)
    _check_lengths(config, shape, frame)
    return shape


def known_count(config: PrefixCacheDatasetConfig) -> int | None:
    """Number of requests where something else than a length list says it."""
    if config.request_count is not None:
        return config.request_count
    groups = config.prefix.groups
    if groups and groups[0].request_count is not None:
        return sum(group.request_count or 0 for group in groups)
    if config.prefix.request_groups is not None:
        return len(listed_groups(config.prefix.request_groups))
    if config.routing.request_domains is not None:
        return len(listed_domains(config.routing.request_domains))
    return None


def with_overrides(
    config: PrefixCacheDatasetConfig, shape: Shape, frame: Frame = NO_FRAME, *, inputs_only: bool = False
) -> Shape:
    """The shape with the lengths of groups that have a model of their own; other groups keep theirs."""
    own = [group for group in config.prefix.groups or () if group.input_length or group.output_length]
    if not own:
        return shape
    lengths, outputs = shape.lengths.copy(), shape.outputs.copy()
    by_group = np.argsort(shape.groups, kind="stable")
    bounds = np.searchsorted(shape.groups[by_group], np.arange(len(config.prefix.groups or ()) + 1))
    for number, group in enumerate(config.prefix.groups or ()):
        if group.input_length is None and group.output_length is None:
            continue
        members = by_group[bounds[number] : bounds[number + 1]]
        place = (number, group.id)
        if group.input_length is not None:
            lengths[members] = draw_lengths(
                group.input_length, len(members), config.seed, group=place, shortest=frame.shortest
            )
        if group.output_length is not None and not inputs_only:
            outputs[members] = draw_lengths(
                group.output_length, len(members), config.seed, field="output_length", group=place
            )
    return Shape(lengths, outputs, shape.groups)


def _check_lengths(config: PrefixCacheDatasetConfig, shape: Shape, frame: Frame) -> None:
    lengths, outputs = shape.lengths, shape.outputs
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
            group=config.prefix.group_ids()[shape.groups[first]],
        )
    if config.max_model_len is None:
        return
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
            group=config.prefix.group_ids()[shape.groups[first]],
        )


def ceilings_of(lengths: Tokens, unit: int, non_shared: int, frame: Frame = NO_FRAME) -> Tokens:
    """M_i in units: the longest prefix each request may share, at least the head.

    Engines recompute at least the last token.
    """
    longest = np.maximum(lengths - frame.tail - max(non_shared, 1), 0) // unit
    ceilings: Tokens = np.maximum(longest, frame.head // unit)
    return ceilings
