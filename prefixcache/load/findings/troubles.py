"""What went wrong in a pass without ending the run: each one a warning with a code and, where somebody must act, with
stage, field and remedy (RFC 3.4.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from prefixcache.engines.quantities import Quantity
from prefixcache.load.counters.residue import Residue
from prefixcache.load.records.rows import RequestRecord

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
    _usage(bench, name, records)
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
    failures = Counter(r.failure or r.status for r in records if r.status != "ok")
    if failures:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in failures.items())
        first = next(r for r in records if r.status != "ok")
        bench.warn(
            "requests_failed",
            f"{sum(failures.values()):,} of {len(records):,} requests failed ({kinds}); the first is "
            f"{first.request_id}: {first.error}",
            name,
            stage="run_benchmark",
            request_id=first.request_id,
            group=first.prefix_group_id,
            retry_count=max(0, first.attempts - 1),
            field="url",
            remedy=f"See `error` in request_results.jsonl and the server's log, then {AGAIN}.",
        )
    broken = sum(r.gate_broken for r in records)
    if broken:
        bench.warn("gate_broken", f"{broken:,} requests were sent with nothing before them to hit", name)


def _usage(bench: Bench, name: str, records: Sequence[RequestRecord]) -> None:
    """Answers whose usage is none, contradicts itself, or is of other answers than were asked for."""
    answered = [r for r in records if r.status == "ok"]
    n = len(answered)
    odd = [r for r in answered if r.odd_usage]
    if odd:
        bench.warn(
            "usage_malformed",
            f"the usage of {len(odd):,} of {n:,} answers holds what is no count of tokens, taken as not said; the "
            f"first is {odd[0].request_id}: {', '.join(odd[0].odd_usage)}",
            name,
        )
    silent = [r for r in answered if r.completion_tokens is None and not r.odd_usage]
    if silent:
        bench.warn(
            "usage_absent",
            f"{len(silent):,} of {n:,} answers say nothing of their output tokens, so output throughput is not known",
            name,
        )
    above = [r for r in answered if r.cached_tokens is not None and r.cached_tokens > _prompt_tokens(r)]
    if above:
        bench.warn(
            "cached_above_prompt",
            f"{len(above):,} of {n:,} answers state more cached tokens than their prompt has, shown as they are; "
            f"the first is {above[0].request_id}: {above[0].cached_tokens:,} of {_prompt_tokens(above[0]):,}",
            name,
        )
    # A text that was encoded again may have other tokens than were generated.
    stated = [(r.completion_tokens, r.output_len) for r in answered if r.output_by == "usage"]
    other = [(got, asked) for got, asked in stated if None not in (got, asked) and got != asked]
    if other:
        got, asked = (sum(tokens) for tokens in zip(*other, strict=True))
        bench.warn(
            "output_tokens",
            f"{len(other):,} of {n:,} answers have another number of tokens than was asked for ({got:,} instead of "
            f"{asked:,}){_although(bench)}: latencies and throughput are those of other answers than planned",
            name,
            stage="run_benchmark",
            field="output_length",
            remedy="Look whether the server knows ignore_eos and min_tokens, and what limits its answers.",
        )


def _although(bench: Bench) -> str:
    """What should have kept the lengths, where it was sent."""
    return "" if bench.options.sending.sampling_changed else " although ignore_eos and min_tokens were sent"


def _prompt_tokens(record: RequestRecord) -> int:
    return record.input_len if record.prompt_tokens is None else record.prompt_tokens


def _counters(bench: Bench, name: str, figures: dict[str, Any]) -> None:
    """Endpoints whose counters do not tell the whole interval."""
    bounds = figures["hit_rate_bounds"]
    between = "" if bounds is None else f"; the hit rate lies between {bounds[0]:.2%} and {bounds[1]:.2%}"
    for endpoint in figures["endpoints"]:
        where, status = endpoint["endpoint"], endpoint["status"]
        if status == "missing":
            bench.warn(
                "metrics_missing",
                f"{where} gave no metrics {_ends(endpoint)}, so the sums leave it out",
                name,
                stage="scrape_metrics",
                field="metrics_url",
                remedy=f"Check that its metrics page can be read throughout, and {AGAIN}.",
            )
        elif status == "reset_detected" and endpoint["restarted"]:
            bench.warn(
                "server_restarted",
                f"{where} was restarted within the interval, so its counters and its cache began anew{between}",
                name,
                stage="scrape_metrics",
                field="url",
                remedy=f"Look for the cause in the server's log, and {AGAIN}.",
            )
        elif status == "reset_detected":
            bench.warn(
                "counters_reset",
                f"the counters of {where} fell within the interval, so how much was asked for and hit is not "
                f"known{between}",
                name,
                stage="scrape_metrics",
                field="metrics_url",
                remedy=f"Give the page of one single process, let nobody reset it during a run, and {AGAIN}.",
            )
    absent = [quantity for quantity in (Quantity.QUERIES, Quantity.HITS) if _absent(figures, quantity)]
    if figures["status"] == "complete" and absent:
        names = ", ".join(bench.monitor.adapter.name_of(quantity) for quantity in absent)
        bench.warn(
            "counters_absent",
            f"no metrics page gives a figure for {names}, so how much was hit is not known",
            name,
            stage="scrape_metrics",
            field="metrics_url",
            remedy=f"Give the server's own metrics page with --metrics-url, and {AGAIN}.",
        )
    if figures["status"] != "complete":
        bench.warn("counters_incomplete", f"the counters of this pass are {figures['status']}", name)


def _absent(figures: dict[str, Any], quantity: Quantity) -> bool:
    return "absent" in figures["global"]["counters"].get(quantity.value, {}).get("flags", ())


def _ends(endpoint: dict[str, Any]) -> str:
    flags = {flag for counter in endpoint["counters"].values() for flag in counter["flags"]}
    ends = {"page_unread_before": "when the pass began", "page_unread_after": "when it had ended"}
    return " and ".join(text for flag, text in ends.items() if flag in flags)


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
        f"the counters saw {queries:,} of {sent:,} prompt tokens sent, so they are no measure of this pass",
        name,
        stage="scrape_metrics",
        field="metrics_url",
        remedy=remedy,
    )


def _routes(bench: Bench, name: str, figures: dict[str, Any]) -> None:
    for row in figures["domains"] if bench.router.domains > 1 else ():
        if row["route_confirmed"] is False:
            text = (
                f"cache domain {row['domain']} was asked for {row['measured_query_tokens']:,} tokens, planned are "
                f"{row['planned_input_tokens']:,}: requests went elsewhere, or others came"
            )
            bench.warn("route", text, name)
