"""A plan that misses its target as one error: what cannot be reached, how much can, what helps (RFC 3.3.6)."""

from __future__ import annotations

from typing import Any

from prefixcache.errors import VerdictError


def refusal(report: dict[str, Any]) -> VerdictError:
    """The error of a report of :func:`prefixcache.workload.plan_report.plan_report` whose status is not good."""
    message = _found(report)
    if report["reason"]:
        message += f": {report['reason']}."
    return VerdictError(
        message,
        field="target.hit_ratio" if report["target_scope"] != "per_group" else "target.groups",
        stage="plan_prefixes",
        dataset_id=report["dataset_id"],
        remedy=_remedy(report),
    )


def _found(report: dict[str, Any]) -> str:
    if report["reachable"]:
        return f"the plan misses the target by {report['absolute_deviation_pp']:.2f} percentage points"
    if missed := sum(row.get("reachable") is False for row in report["groups"]):
        return f"the targets of {missed} of {len(report['groups'])} prefix groups cannot be reached"
    bound, ratio = ("least", "min") if _below(report) else ("most", "max")
    wanted, possible = (100 * report[name] for name in ("target_hit_ratio", f"{ratio}_reachable_hit_ratio"))
    return f"a hit ratio of {wanted:.2f} % cannot be reached, {possible:.2f} % at {bound}"


def _remedy(report: dict[str, Any]) -> str:
    if report["reachable"]:
        return "use more or longer requests, switch planning.block_residual_calibration on, or raise pass_tolerance."
    hints = [entry["text"] for entry in report["suggestions"] if entry["needed"] is not None]
    if _below(report):
        return hints[0] if hints else "raise the target, or use a tokenizer or chat template with a shorter head."
    if report["max_reachable_hit_tokens"]:
        first = "lower the target"
    elif report.get("capacity"):
        first = "plan for larger caches (planning.num_blocks)"
    else:
        first = "use longer requests"
    return f"{first}, or: {hints[0]}" if hints else f"{first}."


def _below(report: dict[str, Any]) -> bool:
    """The common head alone hits more than the target asks for."""
    goal = report["target_hit_tokens"]
    return goal is not None and goal < report["min_reachable_hit_tokens"]
