"""PASS, PASS_WITH_WARNING or FAIL of a plan, and why (RFC 3.3.6, 3.3.17; domain.md 2, 7)."""

from __future__ import annotations

import math
from fractions import Fraction

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.workload.plan import Plan

PASS, WARNING, FAIL = "PASS", "PASS_WITH_WARNING", "FAIL"
_RANK = (PASS, WARNING, FAIL)
MOST_NAMED = 5


def status_of(config: PrefixCacheDatasetConfig, deviation: Fraction, reachable: bool) -> str:
    """One target's status by RFC 3.3.17; unreachable is FAIL unless accepted on purpose."""
    accept = config.validation.on_failure == "accept_with_warning"
    if not reachable:
        return WARNING if accept else FAIL
    if abs(deviation) <= Fraction(config.validation.pass_tolerance):
        return PASS
    if abs(deviation) <= Fraction(config.validation.warning_tolerance) or accept:
        return WARNING
    return FAIL


def worst(statuses: list[str]) -> str:
    """The worst of several statuses; PASS of none."""
    return max(statuses, key=_RANK.index, default=PASS)


def target_ratio(config: PrefixCacheDatasetConfig, tokens: list[int]) -> Fraction | None:
    """The dataset's target: the one ratio, or the groups' ratios weighted by input tokens; None where there is none.

    Args:
        tokens: input tokens per group.
    """
    if (targets := config.group_targets) is not None:
        wanted = sum((Fraction(ratio) * own for ratio, own in zip(targets, tokens, strict=True)), Fraction(0))
        return wanted / sum(tokens)
    if config.target is None:
        return None
    return Fraction(config.target.hit_ratio or 0)


def group_statuses(
    config: PrefixCacheDatasetConfig, plan: Plan, hits: list[int], tokens: list[int]
) -> list[str | None]:
    """Per group with a target of its own and requests: its status; else None."""
    targets = config.group_targets
    if targets is None or plan.goals is None:
        return [None] * len(tokens)
    return [
        status_of(config, Fraction(hit, own) - Fraction(ratio), reachable) if own else None
        for ratio, hit, own, reachable in zip(targets, hits, tokens, plan.goals.reachable, strict=True)
    ]


def reason_of(config: PrefixCacheDatasetConfig, plan: Plan, status: str, tokens: list[int]) -> str | None:
    """Why the verdict is not PASS; None where it is."""
    if not plan.reachable:
        return _why_unreachable(config, plan, tokens)
    if status == PASS:
        return None
    if plan.search is not None:
        return (
            f"of {plan.search.tries} plans that were tried with caches of {config.planning.num_blocks} blocks none "
            "comes nearer to the target"
        )
    if not config.planning.block_residual_calibration:
        return "the target was missed by more than pass_tolerance; planning.block_residual_calibration is off"
    parts = tokens if config.group_targets is not None else [sum(tokens)]
    return _granularity(config, min(own for own in parts if own))


def _granularity(config: PrefixCacheDatasetConfig, tokens: int) -> str:
    """A reachable target is met to half a unit, so what is missed is smaller than that."""
    tolerance, half = Fraction(config.validation.pass_tolerance), Fraction(config.unit, 2)
    enough = f"{math.ceil(half / tolerance)} input tokens would pass" if tolerance else "no size passes tolerance 0"
    group = " of its smallest group" if config.group_targets is not None else ""
    return (
        f"granularity: half a unit of {config.unit} tokens is {float(half / tokens):.2%} of {tokens} input tokens"
        f"{group}, more than pass_tolerance {float(tolerance):.2%}; {enough}"
    )


def _why_unreachable(config: PrefixCacheDatasetConfig, plan: Plan, tokens: list[int]) -> str:
    assert plan.goals is not None
    if not plan.goals.of_groups:
        goal = plan.goals.total * plan.unit
        if plan.search is not None and goal > sum(plan.maximum):
            return _beyond_capacity(config, plan, goal, sum(tokens))
        if goal < sum(plan.minimum):
            return _below(plan, goal, sum(plan.minimum), sum(tokens))
        return _above(config, plan, goal, sum(plan.maximum), sum(tokens))
    rows = []
    for group, name in enumerate(config.prefix.group_ids()):
        goal, low, high = plan.goals.initial[group] * plan.unit, plan.minimum[group], plan.maximum[group]
        if goal < low:
            rows.append(f"group {name}: {_below(plan, goal, low, tokens[group])}")
        elif goal > high:
            rows.append(
                f"group {name}: {high} of {tokens[group]} input tokens can hit at most, its target needs {goal}"
            )
    more = f"; and {len(rows) - MOST_NAMED} more groups" if len(rows) > MOST_NAMED else ""
    return "; ".join(rows[:MOST_NAMED]) + more


def _beyond_capacity(config: PrefixCacheDatasetConfig, plan: Plan, goal: int, tokens: int) -> str:
    assert plan.search is not None
    return (
        f"with caches of {config.planning.num_blocks} blocks {sum(plan.maximum)} of {tokens} input tokens hit in "
        f"the best of {plan.search.tries} plans that were tried, the target needs {goal}"
    )


def _below(plan: Plan, goal: int, minimum: int, tokens: int) -> str:
    return (
        f"below the minimum: all prompts begin with the same {plan.rules.head * plan.unit} tokens, so {minimum} of "
        f"{tokens} input tokens hit whatever is planned, the target asks for {goal}"
    )


def _above(config: PrefixCacheDatasetConfig, plan: Plan, goal: int, maximum: int, tokens: int) -> str:
    lengths, head = plan.shape.lengths, plan.rules.head * plan.unit
    cannot_share = int((plan.ceilings == head).sum())
    if cannot_share == len(lengths) and not head:
        return (
            f"no request is long enough to share one unit of {config.unit} tokens and keep "
            f"{max(config.non_shared, 1)} of its own"
        )
    parts = [f"{maximum} of {tokens} input tokens can hit at most, the target needs {goal}"]
    kept = int((lengths - plan.ceilings).sum())
    parts.append(f"{kept} tokens stay unshared (own tokens and alignment to {config.unit})")
    if plan.rules.cold:
        lost = int(plan.rules.lost(plan.lanes, plan.ceilings // plan.unit).sum()) * plan.unit
        lanes = len(plan.lanes.group)
        parts.append(f"{lost} are lost to cold starts in {lanes} {'lane' if lanes == 1 else 'lanes'}")
    if plan.rules.drop:
        parts.append(f"of every match the engine drops {plan.rules.drop * plan.unit} tokens (hit_drop)")
    if cannot_share:
        parts.append(f"{cannot_share} requests are too short to share anything" + (" but the head" if head else ""))
    return "; ".join(parts)
