"""The plan as figures: what `plan --json` prints and the validation report is made of (RFC 3.3.6, 3.3.17)."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.lengths import HistogramLength
from prefixcache.workload.lengths import summarize
from prefixcache.workload.plan import Plan
from prefixcache.workload.suggestions import suggest
from prefixcache.workload.verdict import (
    FAIL,
    PASS,
    WARNING,
    group_statuses,
    reason_of,
    status_of,
    target_ratio,
    worst,
)

__all__ = ["FAIL", "PASS", "WARNING", "group_rows", "overall_status", "plan_report"]
MOST_LISTED = 20


def plan_report(config: PrefixCacheDatasetConfig, plan: Plan) -> dict[str, Any]:
    """All figures of a plan as plain data. Ratios are 0-1, lengths and hits in tokens, null = not available."""
    groups = group_rows(config, plan)
    tokens = [row["input_tokens"] for row in groups]
    input_tokens, hits = sum(tokens), sum(row["expected_hit_tokens"] for row in groups)
    target, designed = target_ratio(config, tokens), Fraction(hits, input_tokens)
    deviation = None if target is None else designed - target
    status = overall_status(config, plan, groups, deviation)
    alone = np.flatnonzero(plan.ceilings == plan.rules.head * plan.unit)
    return {
        "dataset_id": config.dataset_id,
        "request_count": len(plan.shape.lengths),
        "input_tokens": input_tokens,
        "output_tokens": int(plan.shape.outputs.sum()),
        "target_scope": None if config.target is None else config.target.scope,
        "target_hit_ratio": None if target is None else float(target),
        "target_hit_tokens": plan.goal,
        "expected_hit_tokens": hits,
        "designed_hit_ratio": float(designed),
        "signed_deviation": None if deviation is None else float(deviation),
        "absolute_deviation": None if deviation is None else float(abs(deviation)),
        "max_reachable_hit_ratio": sum(plan.maximum) / input_tokens,
        "max_reachable_hit_tokens": sum(plan.maximum),
        "min_reachable_hit_ratio": sum(plan.minimum) / input_tokens,
        "min_reachable_hit_tokens": sum(plan.minimum),
        "reachable": plan.reachable,
        "status": status,
        "reason": reason_of(config, plan, status, tokens),
        "suggestions": [] if plan.reachable else suggest(config, plan),
        "semantics": config.semantics,
        "execution_mode": config.mode,
        **_capacity(config, plan),
        "objective": None if plan.goals is None else config.planning.objective,
        "block_size": config.block_size,
        "hit_unit": config.unit,
        "hit_drop": config.hit_drop,
        "minimum_non_shared_length": config.non_shared,
        "head_tokens": plan.frame.head,
        "tail_tokens": plan.frame.tail,
        "shared_head_tokens": plan.rules.head * plan.unit,
        "cache_domains": config.routing.domains,
        "lanes": len(plan.lanes.group),
        "cannot_share": len(alone),
        "cannot_share_requests": alone[:MOST_LISTED].tolist(),
        "adjusted_requests": plan.adjusted_requests,
        "trajectories": _courses(config, plan),
        "passes": [_pass_row(name, plan, input_tokens) for name in config.passes],
        "groups": groups,
        "domains": _domain_rows(config, plan),
        "input_length": summarize(plan.shape.lengths, _bins(config)),
        "output_length": summarize(plan.shape.outputs),
    }


def overall_status(
    config: PrefixCacheDatasetConfig, plan: Plan, groups: list[dict[str, Any]], deviation: Fraction | None
) -> str:
    """The worst group's where groups have targets of their own, else the whole's; PASS without a target."""
    if plan.goals is not None and plan.goals.of_groups:
        return worst([row["status"] for row in groups if row["status"] is not None])
    return PASS if deviation is None else status_of(config, deviation, plan.reachable)


def _capacity(config: PrefixCacheDatasetConfig, plan: Plan) -> dict[str, Any]:
    """What was planned for, where it is a cache that evicts: beside the hits there those of a cache that does not."""
    if config.planning.assume == "unbounded":
        return {}
    unbounded = None if plan.search is None else plan.search.asked * plan.unit
    return {
        "capacity": {
            "num_blocks": config.planning.num_blocks,
            "plans_tried": None if plan.search is None else plan.search.tries,
            "unbounded_hit_tokens": unbounded,
        }
    }


def _courses(config: PrefixCacheDatasetConfig, plan: Plan) -> list[dict[str, Any]]:
    """How the cumulative ratio runs under objective `trajectory`, with bounds that no plan can beat."""
    names = config.prefix.group_ids()
    return [{"group_id": None if group is None else names[group], **asdict(course)} for group, course in plan.courses]


def _bins(config: PrefixCacheDatasetConfig) -> list[tuple[int, int]] | None:
    model = config.input_length
    return [item.range for item in model.bins] if isinstance(model, HistogramLength) else None


def _pass_row(name: str, plan: Plan, input_tokens: int) -> dict[str, Any]:
    hits = int(plan.of_pass(name).hit.sum())
    return {
        "name": name,
        "input_tokens": input_tokens,
        "expected_hit_tokens": hits,
        "designed_hit_ratio": hits / input_tokens,
    }


def group_rows(config: PrefixCacheDatasetConfig, plan: Plan) -> list[dict[str, Any]]:
    """Figures per group in configuration order."""
    names, targets = config.prefix.group_ids(), config.group_targets
    groups, lanes = plan.shape.groups, plan.lanes
    size = len(names)

    def per_group(values: np.ndarray[Any, Any], index: np.ndarray[Any, Any] = groups) -> list[int]:
        return np.bincount(index, weights=values, minlength=size).astype(np.int64).tolist()  # type: ignore[no-any-return]

    counts = np.bincount(groups, minlength=size).tolist()
    tokens = per_group(plan.shape.lengths)
    hits = per_group(plan.of_pass(config.target_pass).hit)
    loss = per_group(plan.rules.lost(lanes, plan.prefixes // plan.unit) * plan.unit, lanes.group)
    master = np.zeros(size, dtype=np.int64)
    np.maximum.at(master, groups, plan.prefixes)
    statuses = group_statuses(config, plan, hits, tokens)
    initial, budgets = plan.initial_budgets, plan.budgets
    reachable = plan.goals.reachable if plan.goals is not None and plan.goals.of_groups else None
    rows = []
    for g in range(size):
        own = targets is not None and tokens[g]
        deviation = Fraction(hits[g], tokens[g]) - Fraction(targets[g]) if targets is not None and own else None
        rows.append(
            {
                "group_id": names[g],
                "request_count": counts[g],
                "input_tokens": tokens[g],
                "target_hit_ratio": None if targets is None else float(targets[g]),
                "initial_target_hit_tokens": None if initial is None else initial[g],
                "target_hit_tokens": None if budgets is None else budgets[g],
                "expected_hit_tokens": hits[g],
                "designed_hit_ratio": hits[g] / tokens[g] if tokens[g] else None,
                "signed_deviation": None if deviation is None else float(deviation),
                "absolute_deviation": None if deviation is None else float(abs(deviation)),
                "reachable": None if reachable is None else reachable[g],
                "status": statuses[g],
                "master_prefix_len": int(master[g]),
                "cold_start_loss": loss[g],
                "max_reachable_hit_tokens": plan.maximum[g],
                "max_reachable_hit_ratio": plan.maximum[g] / tokens[g] if tokens[g] else None,
                "min_reachable_hit_tokens": plan.minimum[g],
            }
        )
    return rows


def _domain_rows(config: PrefixCacheDatasetConfig, plan: Plan) -> list[dict[str, Any]]:
    hits = plan.of_pass(config.target_pass).hit
    rows = []
    for domain in range(config.routing.domains):
        here = plan.domains == domain
        tokens = int(plan.shape.lengths[here].sum())
        rows.append(
            {
                "domain": domain,
                "request_count": int(here.sum()),
                "input_tokens": tokens,
                "expected_hit_tokens": int(hits[here].sum()),
                "designed_hit_ratio": int(hits[here].sum()) / tokens if tokens else None,
            }
        )
    return rows
