"""The three ways to choose prefixes for a number of hits (`planning.objective`; domain.md 3)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.workload.lanes import HitRules, Lanes
from prefixcache.workload.minimal import minimal_units
from prefixcache.workload.proportional import plan_units
from prefixcache.workload.trajectory import Course, Route, trajectory_units

Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """Requests that are planned together, in send order. Lengths in tokens, the rest in units.

    ``ratio``: their own target, None = the dataset's.
    """

    lengths: Tokens
    ceilings: Tokens
    lanes: Lanes
    budget: int
    unit: int
    rules: HitRules
    ratio: Decimal | None


def plan_task(config: PrefixCacheDatasetConfig, task: Task) -> tuple[Tokens, int, Course | None]:
    """Prefixes in units with exactly the budget as hits, requests moved by the calibration, and a trajectory's course.

    Raises:
        InputError: a minimal_prefix that cannot be planned exactly.
    """
    objective, unit, rules = config.planning.objective, task.unit, task.rules
    if objective == "minimal_prefix":
        units = minimal_units(task.lengths, task.ceilings, task.lanes, task.budget, unit=unit, rules=rules)
        return units, 0, None
    if objective == "trajectory":
        target = task.ratio if task.ratio is not None else config.target and config.target.hit_ratio
        route = Route(
            lengths=task.lengths,
            ceilings=task.ceilings,
            lanes=task.lanes.lane_of,
            opens=task.lanes.opens,
            goal=task.budget,
            target=Fraction(target or 0),
            unit=unit,
            rules=rules,
        )
        units, course = trajectory_units(route)
        return units, 0, course
    units, raised = plan_units(
        task.lengths,
        task.ceilings,
        task.lanes,
        task.budget,
        unit=unit,
        rules=rules,
        calibrate=config.planning.block_residual_calibration,
    )
    return units, raised, None
