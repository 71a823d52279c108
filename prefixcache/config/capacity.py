"""What a dataset must be like to be planned against a cache of a given size (`planning.assume: capacity`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prefixcache.config.base import RuleError

if TYPE_CHECKING:
    from prefixcache.config.dataset import PrefixCacheDatasetConfig

WITH_CAPACITY = "planning.assume is capacity"


def check_capacity_rules(config: PrefixCacheDatasetConfig) -> None:
    """Refuse what a vLLM pool does not know, or what the search for a plan cannot promise.

    Raises:
        RuleError: with the field's path from the top.
    """
    planning = config.planning
    if planning.assume == "unbounded":
        if planning.num_blocks is not None:
            raise RuleError(
                "is given, but planning.assume is unbounded",
                field="planning.num_blocks",
                remedy="write planning.assume: capacity, or leave it out",
            )
        return
    if planning.num_blocks is None:
        raise RuleError(
            f"is missing: {WITH_CAPACITY}",
            field="planning.num_blocks",
            remedy="write the blocks of one cache domain, as the server tells them (num_gpu_blocks)",
        )
    matching = config.suffix.collision_detection
    rules = (
        (config.unit != config.block_size, "hit_unit", f"is not block_size: {WITH_CAPACITY}", "leave it out"),
        (config.group_targets is not None, "target.scope", f"is per_group: {WITH_CAPACITY}", "write global"),
        (planning.objective != "proportional", "planning.objective",
         f"is {planning.objective}: {WITH_CAPACITY}", "write proportional"),
        (not planning.block_residual_calibration, "planning.block_residual_calibration",
         f"is false: {WITH_CAPACITY}", "leave it out"),
        (matching.cache_match_semantics != "chained_prefix",
         "suffix.collision_detection.cache_match_semantics",
         f"is {matching.cache_match_semantics}: {WITH_CAPACITY}", "write chained_prefix"),
        (any(name.startswith("prefix_len") for name in config.order), "request_order",
         f"is an order by prefix length: {WITH_CAPACITY}", "order by input length"),
    )  # fmt: skip
    for broken, field, found, remedy in rules:
        if broken:
            raise RuleError(found, field=field, remedy=remedy)
