"""The plan as figures: what `plan --json` prints and the validation report is made of (RFC 3.3.6, 3.3.17)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.lengths import HistogramLength
from prefixcache.workload.lengths import summarize
from prefixcache.workload.plan import Plan
from prefixcache.workload.suggestions import suggest

PASS, WARNING, FAIL = "PASS", "PASS_WITH_WARNING", "FAIL"


def status_of(config: PrefixCacheDatasetConfig, deviation: Fraction, reachable: bool) -> str:
    """PASS, PASS_WITH_WARNING or FAIL by RFC 3.3.17; unreachable is FAIL unless accepted on purpose."""
    accept = config.validation.on_failure == "accept_with_warning"
    if not reachable:
        return WARNING if accept else FAIL
    if abs(deviation) <= Fraction(config.validation.pass_tolerance):
        return PASS
    if abs(deviation) <= Fraction(config.validation.warning_tolerance) or accept:
        return WARNING
    return FAIL


def plan_report(config: PrefixCacheDatasetConfig, plan: Plan) -> dict[str, Any]:
    """All figures of a plan as plain data. Ratios are 0-1, lengths and hits in tokens, null = not available."""
    lengths = plan.shape.lengths
    input_tokens = int(lengths.sum())
    result = plan.of_pass(config.target_pass)
    hits = int(result.hit.sum())
    target = Fraction(config.target.hit_ratio or 0)
    designed = Fraction(hits, input_tokens)
    maximum = sum(plan.group_maximum)
    status = status_of(config, designed - target, plan.reachable)
    cannot_share = int((plan.ceilings == 0).sum())
    return {
        "dataset_id": config.dataset_id,
        "request_count": len(lengths),
        "input_tokens": input_tokens,
        "output_tokens": int(plan.shape.outputs.sum()),
        "target_hit_ratio": float(target),
        "target_hit_tokens": plan.goal,
        "expected_hit_tokens": hits,
        "designed_hit_ratio": float(designed),
        "signed_deviation": float(designed - target),
        "absolute_deviation": float(abs(designed - target)),
        "max_reachable_hit_ratio": maximum / input_tokens,
        "max_reachable_hit_tokens": maximum,
        "reachable": plan.reachable,
        "status": status,
        "reason": _reason(config, plan, maximum, cannot_share, status),
        "suggestions": [] if plan.reachable else suggest(config, plan.shape, target),
        "semantics": config.semantics,
        "execution_mode": config.mode,
        "block_size": config.block_size,
        "hit_unit": config.unit,
        "minimum_non_shared_length": config.non_shared,
        "head_tokens": 0,
        "tail_tokens": 0,
        "cache_domains": config.routing.domains,
        "lanes": len(plan.lanes.group),
        "cannot_share": cannot_share,
        "adjusted_requests": plan.adjusted_requests,
        "passes": [_pass_row(name, plan, input_tokens) for name in config.passes],
        "groups": _group_rows(config, plan),
        "domains": _domain_rows(config, plan),
        "input_length": summarize(lengths, _bins(config)),
        "output_length": summarize(plan.shape.outputs),
    }


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


def _group_rows(config: PrefixCacheDatasetConfig, plan: Plan) -> list[dict[str, Any]]:
    names = config.prefix.group_ids()
    groups, lanes = plan.shape.groups, plan.lanes
    size = len(names)

    def per_group(values: np.ndarray[Any, Any], index: np.ndarray[Any, Any] = groups) -> list[int]:
        return np.bincount(index, weights=values, minlength=size).astype(np.int64).tolist()  # type: ignore[no-any-return]

    counts = np.bincount(groups, minlength=size).tolist()
    tokens = per_group(plan.shape.lengths)
    hits = per_group(plan.of_pass(config.target_pass).hit)
    cold = config.target_pass == "cold"
    loss = per_group(lanes.top(plan.prefixes), lanes.group) if cold else [0] * size
    master = np.zeros(size, dtype=np.int64)
    np.maximum.at(master, groups, plan.prefixes)
    return [
        {
            "group_id": names[g],
            "request_count": counts[g],
            "input_tokens": tokens[g],
            "initial_target_hit_tokens": plan.initial_budgets[g],
            "target_hit_tokens": plan.budgets[g],
            "expected_hit_tokens": hits[g],
            "designed_hit_ratio": hits[g] / tokens[g] if tokens[g] else None,
            "master_prefix_len": int(master[g]),
            "cold_start_loss": loss[g],
            "max_reachable_hit_tokens": plan.group_maximum[g],
            "max_reachable_hit_ratio": plan.group_maximum[g] / tokens[g] if tokens[g] else None,
        }
        for g in range(size)
    ]


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


def _reason(config: PrefixCacheDatasetConfig, plan: Plan, maximum: int, cannot_share: int, status: str) -> str | None:
    """Why the verdict is not PASS; None where it is."""
    if not plan.reachable:
        return _why_unreachable(config, plan, maximum, cannot_share)
    if status == PASS:
        return None
    tolerance, tokens = Fraction(config.validation.pass_tolerance), int(plan.shape.lengths.sum())
    half = Fraction(config.unit, 2)
    if half > tolerance * tokens:
        enough = f"{math.ceil(half / tolerance)} input tokens would pass" if tolerance else "no size passes tolerance 0"
        return (
            f"granularity: half a unit of {config.unit} tokens is {float(half / tokens):.2%} of {tokens} input tokens, "
            f"more than pass_tolerance {float(tolerance):.2%}; {enough}"
        )
    return "the target was missed by more than pass_tolerance; planning.block_residual_calibration is off"


def _why_unreachable(config: PrefixCacheDatasetConfig, plan: Plan, maximum: int, cannot_share: int) -> str:
    lengths = plan.shape.lengths
    if cannot_share == len(lengths):
        return (
            f"no request is long enough to share one unit of {config.unit} tokens and keep "
            f"{max(config.non_shared, 1)} of its own"
        )
    parts = [f"{maximum} of {int(lengths.sum())} input tokens can hit at most, the target needs {plan.goal}"]
    kept = int((lengths - plan.ceilings).sum())
    parts.append(f"{kept} tokens stay unshared (own tokens and alignment to {config.unit})")
    if config.target_pass == "cold":
        parts.append(
            f"{int(plan.lanes.top(plan.ceilings).sum())} are lost to cold starts in {len(plan.lanes.group)} lanes"
        )
    if cannot_share:
        parts.append(f"{cannot_share} requests are too short to share anything")
    return "; ".join(parts)
