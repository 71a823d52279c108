"""Target, designed and measured side by side, pass by pass (RFC 3.3.17-3.3.21; domain.md 1).

Construction deviation = designed − target, runtime deviation = measured − designed. Counter deltas are summed before
they are divided. What is not known is null, and ``missing`` says why; what is odd is shown as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl

from prefixcache.analysis.coarser_unit import coarser_unit
from prefixcache.analysis.conduct import (
    client_view,
    differing_requests,
    first_request_hits,
    gate_waits,
    order_as_sent,
    request_counts,
    routes,
)
from prefixcache.analysis.growth import cumulative_growth
from prefixcache.analysis.performance import ADDED, summarise
from prefixcache.analysis.ratios import Ratio, difference, plain, ratio, stated
from prefixcache.analysis.rundir import RunDirectory
from prefixcache.analysis.slo import Slo, goodput
from prefixcache.analysis.token_gaps import gap_distribution

# Why a figure is null.
NO_TARGET = "no_target"
OTHER_PASS = "target_of_other_pass"
PART_SENT = "part_of_the_dataset_sent"
NOT_MEASURED = "pass_not_measured"
COUNTERS_ABSENT = "counters_absent"
COUNTERS_UNREAD_BEFORE = "counters_unread_before"
COUNTERS_UNREAD_AFTER = "counters_unread_after"
COUNTERS_RESET = "counters_reset"
COUNTERS_IN_BLOCKS = "counters_in_blocks"
NO_QUERIES = "no_queries"
NO_USAGE = "usage_without_cached_tokens"
NO_ANSWER = "requests_without_answer"
NO_RECORDS = "no_records"

# Why the figures of a pass are not those of the whole pass.
RUN_NOT_COMPLETE = "run_not_complete"
REQUESTS_FAILED = "requests_failed"
REQUESTS_NOT_SENT = "requests_not_sent"
WARMUP_FAILED = "warmup_failed"
COUNTERS_PARTIAL = "counters_partial"
COUNTERS_MISSING = "counters_missing"
COUNTERS_FEWER = "counters_fewer"
COUNTERS_MORE = "counters_more"


@dataclass(frozen=True)
class Measured:
    """What the server's counters say of a pass.

    ``hits`` and ``queries`` are tokens, None where the server counts in blocks or not at all; ``rate`` may be known
    without them and may exceed 1. ``missing``: figure → reason.
    """

    hits: int | None
    queries: int | None
    rate: Ratio
    missing: dict[str, str]


def measured_of(entry: dict[str, Any]) -> Measured:
    """From the pass's entry in prefix_cache_metrics.json, empty if the pass was not measured."""
    if not entry:
        names = ("measured_hit_tokens", "measured_query_tokens", "actual_hit_rate", "runtime_deviation")
        return Measured(None, None, None, dict.fromkeys(names, NOT_MEASURED))
    hits, queries = entry.get("measured_hit_tokens"), entry.get("measured_query_tokens")
    missing = {}
    if hits is None:
        missing["measured_hit_tokens"] = _why_null(entry, "hits")
    if queries is None:
        missing["measured_query_tokens"] = _why_null(entry, "queries")
    rate: Ratio = entry.get("actual_hit_rate")
    if hits is not None and queries is not None:
        rate = ratio(hits, queries)
    if rate is None:
        why = NO_QUERIES if queries == 0 else next(iter(missing.values()), COUNTERS_ABSENT)
        missing |= {"actual_hit_rate": why, "runtime_deviation": why}
    return Measured(hits, queries, rate, missing)


def _why_null(entry: dict[str, Any], name: str) -> str:
    figure = ((entry.get("global") or {}).get("counters") or {}).get(name) or {}
    reasons = {
        "reset_detected": COUNTERS_RESET,
        "page_unread_before": COUNTERS_UNREAD_BEFORE,
        "page_unread_after": COUNTERS_UNREAD_AFTER,
    }
    for flag, reason in reasons.items():
        if flag in (figure.get("flags") or ()):
            return reason
    counted_in = str(figure.get("unit") or "token").removesuffix("s")  # runs of older versions have plurals
    return COUNTERS_IN_BLOCKS if counted_in == "block" else COUNTERS_ABSENT


def compare_pass(run: RunDirectory, name: str, slo: Slo | None = None) -> dict[str, Any]:
    """All figures of one pass; the keys are those of ``passes[]`` in the report's JSON, without its verdict."""
    rows = run.measured(name)
    entry = run.counters.get(name, {})
    found = measured_of(entry)
    expected, tokens = int(rows["expected"].sum()), int(rows["input_len"].sum())
    designed = Fraction(expected, tokens) if tokens else None
    target = stated(run.target) if name == run.target_pass else None
    requests = request_counts(rows)
    client = client_view(rows)
    missing = dict(found.missing)
    if target is None:
        why = NO_TARGET if run.target is None else OTHER_PASS
        missing |= {"target_hit_ratio": why, "construction_deviation": why}
    sending = run.sending(name)
    part = bool(sending) and sending["sent"] < sending["planned"]  # type: ignore[index]
    if part:  # the target is the whole dataset's
        missing["construction_deviation"] = PART_SENT
    if client["cached_tokens"] is None:
        missing["client_cached_tokens"] = NO_USAGE if requests["ok"] == rows.height else NO_ANSWER
    performance = _performance(run, name, rows)
    if performance is None:
        missing["performance"] = NO_RECORDS
    cold = name == "cold"
    return {
        "name": name,
        "is_target_pass": name == run.target_pass,
        "target_hit_ratio": plain(target),
        "designed_hit_ratio": plain(designed),
        "actual_hit_rate": plain(found.rate),
        "expected_hit_tokens": expected,
        "input_tokens": tokens,
        "measured_hit_tokens": found.hits,
        "measured_query_tokens": found.queries,
        "construction_deviation": None if part else difference(designed, target),
        "runtime_deviation": difference(found.rate, designed),
        "external_hit_rate": entry.get("external_hit_rate"),
        "total_hit_rate": entry.get("total_hit_rate"),
        "client_cached_tokens": client["cached_tokens"],
        "client_hit_ratio": plain(ratio(client["cached_tokens"], tokens)),
        "incomplete": _incomplete(run, name, requests, entry, found) or _uncovered(found, client),
        "missing": missing,
        "requests": requests,
        "sending": sending,
        "warmup": _warmup(run, name),
        "client": client,
        "differing_requests": differing_requests(rows),
        "coarser_unit": coarser_unit(rows, run.hit_unit),
        "order": order_as_sent(rows),
        "gates": gate_waits(rows),
        "routes": routes(rows),
        "residue": entry.get("residue") or {"detected": None, "evidence": []},
        "first_request_hit": first_request_hits(rows) if cold else None,
        "prompt_token_check": entry.get("prompt_token_check"),
        "kv_usage": entry.get("kv_usage"),
        "preemptions": _event(entry, "preemptions"),
        "evicted": _event(entry, "evicted_tokens"),
        "reset": entry.get("reset") or [],
        "chain": run.performance.get(name, {}).get("chain"),
        "notes": list((entry.get("global") or {}).get("notes") or ()),
        "growth": cumulative_growth(rows),
        "performance": performance,
        "goodput": None if slo is None or performance is None else _goodput(rows, slo, performance),
    }


def _goodput(rows: pl.DataFrame, slo: Slo, performance: dict[str, Any]) -> dict[str, Any]:
    return goodput(rows.filter(pl.col("status").is_not_null()).to_dicts(), slo, performance["duration_s"])


def _incomplete(
    run: RunDirectory, name: str, requests: dict[str, Any], entry: dict[str, Any], found: Measured
) -> list[str]:
    reasons = []
    # Of a run that broke off, the passes before the last one were measured to their end.
    finished = bool(entry) and name != run.passes[-1]
    if not finished and run.broke_off:
        reasons.append(RUN_NOT_COMPLETE)
    if requests["failed"]:
        reasons.append(REQUESTS_FAILED)
    if requests["not_sent"]:
        reasons.append(REQUESTS_NOT_SENT)
    if _warmup(run, name)["failed"]:
        reasons.append(WARMUP_FAILED)
    if found.rate is None:
        reasons.append(COUNTERS_MISSING)
    elif entry.get("status", "complete") != "complete":
        reasons.append(COUNTERS_PARTIAL)
    return reasons


def _uncovered(found: Measured, client: dict[str, Any]) -> list[str]:
    """Of a pass that is whole otherwise: counters that saw other tokens than were sent measure something else."""
    queries, sent = found.queries, client["sent_tokens"]
    if queries is None or queries == sent:
        return []
    return [COUNTERS_FEWER if queries < sent else COUNTERS_MORE]


def _warmup(run: RunDirectory, name: str) -> dict[str, int]:
    rows = run.results.filter((pl.col("pass") == name) & (pl.col("phase") == "warmup"))
    return {"requests": rows.height, "failed": int((rows["status"] != "ok").sum())}


def _event(entry: dict[str, Any], counter: str) -> int | None:
    figure = ((entry.get("global") or {}).get("counters") or {}).get(counter) or {}
    return None if figure.get("delta") is None else round(figure["delta"])


def _performance(run: RunDirectory, name: str, rows: pl.DataFrame) -> dict[str, Any] | None:
    """RFC 3.3.20's figures of the run; of a pass that was broken off, those of the answers that there are."""
    entry = run.performance.get(name)
    if entry is not None:
        own = {key: value for key, value in entry.items() if key != "pass" and not key.startswith("by_")}
        return {**dict.fromkeys(ADDED), **own, "itl_s": _gaps(run, name, rows)}
    sent = rows.filter(pl.col("status").is_not_null())
    if sent.is_empty():
        return None
    end = sent["last_token_s"].max()
    duration = float(end) if end is not None else 0.0  # type: ignore[arg-type]
    return {**summarise(sent.to_dicts(), duration), "itl_s": _gaps(run, name, rows)}


def _gaps(run: RunDirectory, name: str, rows: pl.DataFrame) -> dict[str, Any] | None:
    """The times between tokens of all answered requests; None where the run did not keep them."""
    answered = rows.filter(pl.col("status") == "ok")["request_id"]
    return gap_distribution(run.path, name, answered)
