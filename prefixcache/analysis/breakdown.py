"""A pass by prefix group, by cache domain, by endpoint and engine label: planned, counted, witnessed.

The server's counters know endpoints and engines (DP ranks) but no groups; the answers' usage knows requests, hence
groups. Each row has what its kind can know and null for the rest.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from prefixcache.analysis.conduct import FAILED
from prefixcache.analysis.ratios import difference, plain, ratio

TOKENS = "token"


def group_rows(rows: pl.DataFrame, pass_name: str, facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row a prefix group, in the configuration's order.

    Args:
        rows: the pass in send order.
        facts: ``groups`` of the manifest.
    """
    found = {str(row["prefix_group_id"]): row for row in _sums(rows, "prefix_group_id")}
    known = {str(fact["group_id"]): fact for fact in facts}
    names = [*known, *(name for name in found if name not in known)]
    return [
        {
            "pass": pass_name,
            "group_id": name,
            **_figures(found.get(name)),
            "master_prefix_len": known.get(name, {}).get("master_prefix_len"),
        }
        for name in names
    ]


def domain_rows(rows: pl.DataFrame, pass_name: str, counters: dict[str, Any]) -> list[dict[str, Any]]:
    """One row a cache domain; ``counters`` is the pass's entry in prefix_cache_metrics.json."""
    measured = {row["domain"]: row for row in counters.get("domains") or ()}
    return [
        _with_counters(
            {"pass": pass_name, "domain": row["planned_dp_id"], **_figures(row)},
            measured.get(row["planned_dp_id"], {}).get("measured_hit_tokens"),
            measured.get(row["planned_dp_id"], {}).get("measured_query_tokens"),
        )
        | {"route_confirmed": measured.get(row["planned_dp_id"], {}).get("route_confirmed")}
        for row in sorted(_sums(rows, "planned_dp_id"), key=lambda row: row["planned_dp_id"] or 0)
    ]


def endpoint_rows(
    rows: pl.DataFrame, pass_name: str, counters: dict[str, Any], cache_domains: int
) -> list[dict[str, Any]]:
    """A row for each endpoint (``engine`` null) followed by one for each of its engine labels.

    The plan stands beside an endpoint's counters where the requests sent there can be told, and beside an engine's
    where cache domains are the ranks of the only endpoint.
    """
    sent = {row["endpoint"]: row for row in _sums(rows.filter(pl.col("endpoint").is_not_null()), "endpoint")}
    domains = {str(row["planned_dp_id"]): row for row in _sums(rows, "planned_dp_id")}
    endpoints = counters.get("endpoints") or []
    result = []
    for endpoint in endpoints:
        engines = endpoint.get("engines") or []
        label = endpoint["endpoint"]
        result.append(_counter_row(pass_name, label, None, endpoint, sent.get(label)))
        ranks = len(endpoints) == 1 and len(engines) == cache_domains
        for engine in engines:
            planned = domains.get(str(engine["engine"]), _NOTHING) if ranks else None
            result.append(_counter_row(pass_name, label, str(engine["engine"]), engine, planned))
    for label, row in sent.items():
        if label not in {endpoint["endpoint"] for endpoint in endpoints}:
            result.append(_counter_row(pass_name, label, None, {"status": "no counters"}, row))
    return result


def _counter_row(
    pass_name: str, endpoint: str, engine: str | None, counted: dict[str, Any], planned: dict[str, Any] | None
) -> dict[str, Any]:
    hits, queries = _delta(counted, "hits"), _delta(counted, "queries")
    row = {"pass": pass_name, "endpoint": endpoint, "engine": engine, "status": counted.get("status")}
    row |= _with_counters(_figures(planned), hits, queries)
    if row["actual_hit_rate"] is None:
        row["actual_hit_rate"] = counted.get("hit_rate")
    return row | {
        "prompt_tokens": _delta(counted, "prompt_tokens"),
        "external_hit_rate": counted.get("external_hit_rate"),
        "preemptions": _delta(counted, "preemptions", "event"),
        "notes": list(counted.get("notes") or ()),
    }


def _delta(counted: dict[str, Any], name: str, unit: str = TOKENS) -> int | None:
    figure = (counted.get("counters") or {}).get(name) or {}
    delta = figure.get("delta")
    counted_in = str(figure.get("unit") or unit).removesuffix("s")  # runs of older versions have plurals
    return round(delta) if delta is not None and counted_in == unit else None


def _with_counters(row: dict[str, Any], hits: int | None, queries: int | None) -> dict[str, Any]:
    designed = ratio(row["expected_hit_tokens"], row["input_tokens"])
    rate = ratio(hits, queries)
    return row | {
        "measured_hit_tokens": hits,
        "measured_query_tokens": queries,
        "actual_hit_rate": plain(rate),
        "runtime_deviation": difference(rate, designed),
    }


def _sums(rows: pl.DataFrame, key: str) -> list[dict[str, Any]]:
    good = pl.col("status") == "ok"
    return (
        rows.group_by(key, maintain_order=True)
        .agg(
            pl.len().alias("requests"),
            good.sum().alias("ok"),
            FAILED.sum().alias("failed"),
            pl.col("status").null_count().alias("not_sent"),
            pl.col("input_len").sum().alias("input_tokens"),
            pl.col("expected").sum().alias("expected_hit_tokens"),
            pl.when(pl.col("cached_tokens").null_count() == 0)
            .then(pl.col("cached_tokens").sum())
            .alias("client_cached_tokens"),
            (pl.col("cached_tokens") != pl.col("expected")).sum().alias("differing_requests"),
            pl.col("ttft_s").filter(good).mean().alias("ttft_mean_s"),
            pl.col("ttft_s").filter(good).median().alias("ttft_p50_s"),
        )
        .to_dicts()
    )


_EMPTY: dict[str, Any] = {
    "requests": 0,
    "ok": 0,
    "failed": 0,
    "not_sent": 0,
    "input_tokens": None,
    "expected_hit_tokens": None,
    "client_cached_tokens": None,
    "differing_requests": None,
    "ttft_mean_s": None,
    "ttft_p50_s": None,
}

_NOTHING: dict[str, Any] = _EMPTY | {"input_tokens": 0, "expected_hit_tokens": 0}
"""A rank that the plan sends nothing to."""


def _figures(sums: dict[str, Any] | None) -> dict[str, Any]:
    """The common columns; without sums (an empty group, an engine of unknown plan) they are null."""
    own = _EMPTY | {"requests": None} if sums is None else {name: sums[name] for name in _EMPTY}
    return own | {
        "designed_hit_ratio": plain(ratio(own["expected_hit_tokens"], own["input_tokens"])),
        "client_hit_ratio": plain(ratio(own["client_cached_tokens"], own["input_tokens"])),
    }
