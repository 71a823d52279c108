"""Of a target that a cache's capacity does not allow: how many blocks would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.workload.plan import Plan, plan_dataset

LEVER = "planning.num_blocks"
MOST_BLOCKS = 3_000_000
"""Input blocks up to which other capacities are planned for; each takes some dozens of simulations."""
STEPS = 6
"""Halvings between a capacity that fails and twice it: needed to 2 %."""


def more_blocks(config: PrefixCacheDatasetConfig, plan: Plan) -> dict[str, Any] | None:
    """The entry of ``suggestions[]``; None where no number of blocks is enough."""
    current = config.planning.num_blocks or 0
    tokens = int(plan.shape.lengths.sum())
    entry: dict[str, Any] = {"lever": LEVER, "current": current}
    if tokens // config.unit > MOST_BLOCKS:
        text = "Use a larger cache; `prefixcache simulate --sweep` on a dataset that was written tells how large."
        return entry | {"needed": None, "reachable_hit_ratio": sum(plan.maximum) / tokens, "text": text}

    def planned(blocks: int) -> Plan:
        planning = config.planning.model_copy(update={"num_blocks": blocks})
        return plan_dataset(config.model_copy(update={"planning": planning}), plan.shape, plan.frame)

    enough = int(((plan.shape.lengths + plan.shape.outputs) // config.unit + 2).sum()) * 2  # nothing is ever evicted
    low, high = current, min(current * 2, enough)
    while not planned(high).reachable:
        if high >= enough:
            return None
        low, high = high, min(high * 2, enough)
    low, high = _halved(low, high, lambda blocks: planned(blocks).reachable)
    ratio = sum(planned(high).maximum) / tokens
    text = f"Use a cache of {high} blocks per domain instead of {current} (then {ratio * 100:.2f} % can be reached)."
    return entry | {"needed": high, "reachable_hit_ratio": ratio, "text": text}


def _halved(low: int, high: int, enough: Callable[[int], bool]) -> tuple[int, int]:
    for _ in range(STEPS):
        middle = (low + high) // 2
        if middle in (low, high):
            break
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low, high
