"""Prefixes whose hits are the groups' budgets: group by group, or all groups in step (RFC 3.3.5-3.3.8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.workload.budget import Goals
from prefixcache.workload.lanes import HitRules, Lanes
from prefixcache.workload.many_groups import Batch, plan_batch
from prefixcache.workload.objectives import Task, plan_task
from prefixcache.workload.shape import Shape
from prefixcache.workload.static_formula import static_formula
from prefixcache.workload.trajectory import Course

Tokens = NDArray[np.int64]
FEW_GROUPS = 2_000
"""Up to here group by group is quicker than all in step."""


def plan_prefixes(
    config: PrefixCacheDatasetConfig,
    shape: Shape,
    order: Tokens,
    lanes: Lanes,
    ceilings: Tokens,
    rules: HitRules,
    goals: Goals,
) -> tuple[Tokens, int, list[tuple[int | None, Course]]]:
    """Prefixes in units, how many requests the calibration moved, and the courses of trajectories."""
    formula = None if rules.cold else static_formula(config, shape, ceilings, rules)
    if formula is not None and not config.planning.block_residual_calibration:
        return formula, 0, []
    if config.planning.objective == "proportional" and len(goals.budgets) > FEW_GROUPS:
        prefixes, moved = _plan_batch(config, shape, order, lanes, ceilings, rules, goals)
        return prefixes, moved if formula is None else int((prefixes != formula).sum()), []
    prefixes = np.full_like(ceilings, rules.head)
    moved, courses = 0, []
    for group, members, own, budget in _parts(config, shape, order, lanes, goals):
        ratio = None if group is None or config.group_targets is None else config.group_targets[group]
        task = Task(shape.lengths[members], ceilings[members], own, budget, config.unit, rules, ratio)
        units, raised, course = plan_task(config, task)
        prefixes[members] = units
        moved += raised
        if course is not None:
            courses.append((group, course))
    adjusted = moved if formula is None else int((prefixes != formula).sum())
    return prefixes, adjusted, courses


def _plan_batch(
    config: PrefixCacheDatasetConfig,
    shape: Shape,
    order: Tokens,
    lanes: Lanes,
    ceilings: Tokens,
    rules: HitRules,
    goals: Goals,
) -> tuple[Tokens, int]:
    """All groups in step: the same prefixes as group by group."""
    members = order[np.argsort(shape.groups[order], kind="stable")]
    own = replace(lanes, lane_of=lanes.lane_of[members])
    groups, budgets = shape.groups[members].astype(np.int64), np.array(goals.budgets, dtype=np.int64)
    batch = Batch.of(shape.lengths[members], ceilings[members], groups, own, budgets, config.unit, rules)
    units, moved = plan_batch(batch, calibrate=config.planning.block_residual_calibration)
    prefixes = np.empty_like(ceilings)
    prefixes[members] = units
    return prefixes, moved


def _parts(
    config: PrefixCacheDatasetConfig, shape: Shape, order: Tokens, lanes: Lanes, goals: Goals
) -> Iterator[tuple[int | None, Tokens, Lanes, int]]:
    """(group, requests in send order, their lanes, budget in units) of what is planned together.

    Group by group, except where only the dataset's total counts.
    """
    if config.planning.objective != "proportional" and not goals.of_groups:
        everyone = Lanes(
            lanes.lane_of[order],
            lanes.group,
            lanes.domain,
            lanes.opens,
            np.argsort(lanes.lane_of[order], kind="stable"),
            lanes.starts,
        )
        yield None, order, everyone, sum(goals.budgets)
        return
    by_group = order[np.argsort(shape.groups[order], kind="stable")]
    counts = np.bincount(shape.groups, minlength=len(goals.budgets))
    for group, members in enumerate(np.split(by_group, np.cumsum(counts)[:-1])):
        if len(members):
            yield group, members, lanes.of_group(group, members), goals.budgets[group]
