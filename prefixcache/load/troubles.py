"""What went wrong in a pass without ending the run: each one a warning with a code and, where somebody must act, with
stage, field and remedy (RFC 3.4.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from prefixcache.load.records import RequestRecord
from prefixcache.load.residue import Residue

if TYPE_CHECKING:
    from prefixcache.load.passes import Bench

AGAIN = "run again with --overwrite"


def warn_of_pass(
    bench: Bench, name: str, figures: dict[str, Any], records: Sequence[RequestRecord], residue: Residue
) -> None:
    """Note everything odd about a measured pass.

    Args:
        bench, name: the run and the pass.
        figures: its entry in prefix_cache_metrics.json.
        records: its measured requests.
        residue: what is known of the cache it met.
    """
    _residue(bench, name, residue)
    _requests(bench, name, records)
    for reason in figures["prompt_token_check"]["explanation"]:
        bench.warn("prompt_tokens", reason, name)
    for note in figures["global"]["notes"]:
        bench.warn("counters", note, name)
    _counters(bench, name, figures)
    if not any(r.status != "ok" for r in records):
        _coverage(bench, name, figures)
        _routes(bench, name, figures)


def _residue(bench: Bench, name: str, residue: Residue) -> None:
    if residue.evidence:
        bench.warn(
            "residue",
            "; ".join(residue.evidence),
            name,
            stage="run_benchmark",
            field="isolation",
            remedy=f"Restart the server or empty its cache, let nobody else use it, and {AGAIN}.",
        )
    elif name == "cold" and residue.detected is None:
        text = "neither the first answers nor the counters tell whether the cache was empty when the pass began"
        bench.warn("emptiness_unknown", text, name)


def _requests(bench: Bench, name: str, records: Sequence[RequestRecord]) -> None:
    failures = Counter(r.status for r in records if r.status != "ok")
    if failures:
        kinds = ", ".join(f"{n} {status}" for status, n in failures.items())
        first = next(r for r in records if r.status != "ok")
        bench.warn(
            "requests_failed",
            f"{sum(failures.values())} of {len(records)} requests failed ({kinds}); the first is "
            f"{first.request_id}: {first.error}",
            name,
            stage="run_benchmark",
            request_id=first.request_id,
            group=first.prefix_group_id,
            retry_count=0,  # a request is never sent a second time: it would meet its own blocks
            field="url",
            remedy=f"See `error` in request_results.jsonl and the server's log, then {AGAIN}.",
        )
    broken = sum(r.gate_broken for r in records)
    if broken:
        bench.warn("gate_broken", f"{broken} requests were sent with nothing before them to hit", name)


def _counters(bench: Bench, name: str, figures: dict[str, Any]) -> None:
    """Endpoints whose counters do not tell the whole interval."""
    for endpoint in figures["endpoints"]:
        where, status = endpoint["endpoint"], endpoint["status"]
        if status == "missing":
            bench.warn(
                "metrics_missing",
                f"{where} gave no metrics at one end of the interval, so the sums leave it out",
                name,
                stage="scrape_metrics",
                field="metrics_url",
                remedy=f"Check that its metrics page can be read throughout, and {AGAIN}.",
            )
        elif status == "reset_detected" and endpoint["restarted"]:
            bench.warn(
                "server_restarted",
                f"{where} was restarted within the interval, so its counters and its cache began anew",
                name,
                stage="scrape_metrics",
                field="url",
                remedy=f"Look for the cause in the server's log, and {AGAIN}.",
            )
        elif status == "reset_detected":
            bench.warn(
                "counters_reset",
                f"the counters of {where} fell within the interval, so how much was asked for and hit is not known",
                name,
                stage="scrape_metrics",
                field="metrics_url",
                remedy=f"Give the page of one single process, let nobody reset it during a run, and {AGAIN}.",
            )
    if figures["status"] != "complete":
        bench.warn("counters_incomplete", f"the counters of this pass are {figures['status']}", name)


def _coverage(bench: Bench, name: str, figures: dict[str, Any]) -> None:
    """Counters that saw other tokens than were sent belong to a part of the service, or to others too."""
    check = figures["prompt_token_check"]
    queries, sent = check["server_query_tokens"], check["sent_tokens"]
    if queries is None or queries == sent:
        return
    if queries < sent:
        remedy = f"Give the metrics page of every instance (--metrics-url repeated), and {AGAIN}."
    else:
        remedy = f"Let nobody else use the server, give no page twice, and {AGAIN}."
    bench.warn(
        "counters_cover",
        f"the counters saw {queries} of {sent} prompt tokens sent, so they are no measure of this pass",
        name,
        stage="scrape_metrics",
        field="metrics_url",
        remedy=remedy,
    )


def _routes(bench: Bench, name: str, figures: dict[str, Any]) -> None:
    for row in figures["domains"] if bench.router.domains > 1 else ():
        if row["route_confirmed"] is False:
            text = (
                f"cache domain {row['domain']} was asked for {row['measured_query_tokens']} tokens, planned are "
                f"{row['planned_input_tokens']}: requests went elsewhere, or others came"
            )
            bench.warn("route", text, name)
