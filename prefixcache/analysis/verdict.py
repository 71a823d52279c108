"""The verdict on a pass or a run: exact, in range, misfit, deviating, incomplete or polluted (RFC 3.3.21)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from prefixcache.analysis.ratios import stated
from prefixcache.analysis.rundir import RunDirectory

Code = Literal["exact", "within_range", "misfit", "deviates", "polluted", "incomplete"]
CODES: tuple[Code, ...] = ("exact", "within_range", "misfit", "deviates", "polluted", "incomplete")
"""From the best to the worst: of several passes the worst verdict is the run's."""

MISFITS = ("prefix_caching_off", "block_size", "hit_alignment", "ranks", "kv_capacity")
"""Evidence that the server is another one than was planned for: then the plan is not what it can be judged by."""

FAILED_DATASET = "FAIL"


@dataclass(frozen=True)
class Range:
    """A row of the table in RFC 3.3.21.

    Args:
        row: its name here.
        limit: largest absolute runtime deviation, as a ratio.
        literal: False where the run is of none of the table's kinds and this row is the nearest.
    """

    row: str
    limit: Fraction
    literal: bool

    def to_json(self) -> dict[str, Any]:
        return {"row": self.row, "limit": float(self.limit), "literal": self.literal}


LIMITS = {
    "fixed_single_prefix": Fraction(5, 100),
    "fixed_multi_prefix": Fraction(5, 100),
    "variable_short_to_long_cold": Fraction(5, 100),
    "multi_prefix_multi_instance": Fraction(10, 100),
}


def rfc_range(run: RunDirectory, pass_name: str) -> Range:
    """The table's row for a pass, by the dataset's lengths, groups, domains and order. Its upper bound is the limit."""
    fixed = run.plan["input_len"].n_unique() == 1
    single = run.plan["prefix_group_id"].n_unique() == 1
    endpoints = len(run.run.get("servers") or ())
    domains = run.plan["planned_dp_id"].n_unique()
    if max(domains, endpoints) > 1:
        return _range("multi_prefix_multi_instance", literal=not single)
    if fixed:
        return _range("fixed_single_prefix" if single else "fixed_multi_prefix", literal=True)
    ascending = run.part("request_order").get("within_group") in ("input_len_asc", "prefix_len_asc")
    return _range("variable_short_to_long_cold", literal=ascending and pass_name == "cold")


def _range(row: str, *, literal: bool) -> Range:
    return Range(row, LIMITS[row], literal)


def judge_pass(run: RunDirectory, figures: dict[str, Any]) -> dict[str, Any]:
    """Verdict on a pass from its figures (``comparison.compare_pass``).

    Returns:
        ``code``; ``range`` that was applied; ``larger_deviation`` ``construction | runtime | null``; ``evidence``:
        codes of what was seen in this run and can move hits (RFC 3.3.22), whether or not it did.
    """
    allowed = rfc_range(run, figures["name"])
    evidence = _evidence(run, figures)
    return {
        "code": _code(run, figures, allowed, evidence),
        "range": allowed.to_json(),
        "larger_deviation": _larger(figures),
        "evidence": evidence,
    }


def _code(run: RunDirectory, figures: dict[str, Any], allowed: Range, evidence: list[str]) -> Code:
    if figures["incomplete"]:
        return "incomplete"
    if figures["residue"]["detected"] or (figures["first_request_hit"] or {}).get("detected"):
        return "polluted"
    runtime = _exact_runtime_deviation(figures)
    dataset_misses = figures["is_target_pass"] and run.validation.get("validation_status") == FAILED_DATASET
    if dataset_misses or runtime is None or abs(runtime) > allowed.limit:
        return "deviates"
    if is_exact(figures):
        return "exact"
    return "misfit" if set(MISFITS) & set(evidence) else "within_range"


def is_exact(figures: dict[str, Any]) -> bool:
    """Measured equals designed token for token, in all and, where the usage tells, request by request."""
    return (
        figures["measured_hit_tokens"] == figures["expected_hit_tokens"]
        and figures["measured_query_tokens"] == figures["input_tokens"]
        and not figures["differing_requests"]["count"]
    )


def _exact_runtime_deviation(figures: dict[str, Any]) -> Fraction | None:
    hits, queries = figures["measured_hit_tokens"], figures["measured_query_tokens"]
    if hits is None or not queries:
        return stated(figures["runtime_deviation"])
    return Fraction(int(hits), int(queries)) - Fraction(figures["expected_hit_tokens"], figures["input_tokens"])


def _larger(figures: dict[str, Any]) -> str | None:
    construction, runtime = figures["construction_deviation"], figures["runtime_deviation"]
    if not construction and not runtime:
        return None
    return "construction" if abs(construction or 0.0) > abs(runtime or 0.0) else "runtime"


def _evidence(run: RunDirectory, figures: dict[str, Any]) -> list[str]:
    warned = {w.get("code") for w in run.run.get("warnings") or () if w.get("pass") in (None, figures["name"])}
    check = figures["prompt_token_check"] or {}
    seen = {
        "prefix_caching_off": "prefix_caching_off" in warned,
        "block_size": bool({"block_size_differs", "block_size"} & warned),
        "kv_capacity": "kv_capacity" in warned,
        "evictions": bool(figures["evicted"]),
        "preemptions": bool(figures["preemptions"]),
        "routes": bool(figures["routes"]["mismatches"]) or "route" in warned,
        "ranks": "more_ranks" in warned,
        "order": bool(figures["order"]["inversions_within_lanes"]),
        "gate_broken": bool(figures["gates"]["broken"]),
        "hit_alignment": bool({"hit_alignment", "hit_unit_differs", "hit_drop_differs"} & warned),
        "prompt_tokens": bool(check.get("difference")),
        "external_cache": bool(figures["external_hit_rate"]),
        "not_idle": "not_idle" in warned,
    }
    return [code for code, there in seen.items() if there]


def worst_pass(passes: list[dict[str, Any]]) -> dict[str, Any]:
    """The pass whose verdict is the run's: the worst, of equals the target's pass, then the first."""
    return max(passes, key=lambda p: (CODES.index(p["verdict"]["code"]), p["is_target_pass"]))
