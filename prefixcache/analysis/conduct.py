"""How a pass went beside how it was planned: answers, order, gates, routes, cached tokens request by request."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

LISTED = 20
WAITED_S = 0.001
"""A request waited for its gate if it did so for longer than this; shorter is the event loop's own time."""

FAILED = pl.col("status").is_not_null() & (pl.col("status") != "ok")


def request_counts(rows: pl.DataFrame) -> dict[str, Any]:
    """Requests planned, answered well, failed (by status) and never sent."""
    by_status = rows["status"].drop_nulls().value_counts(sort=True).sort("count", "status", descending=[True, False])
    counts = {str(status): int(count) for status, count in by_status.iter_rows()}
    answered = sum(counts.values())
    return {
        "planned": rows.height,
        "ok": counts.get("ok", 0),
        "failed": answered - counts.get("ok", 0),
        "not_sent": rows.height - answered,
        "by_status": counts,
    }


def client_view(rows: pl.DataFrame) -> dict[str, Any]:
    """The second witness: cached tokens as the answers' usage states them.

    ``cached_tokens`` is null as soon as one planned request has no figure. The ``known_*`` keys sum over those that
    have one, with the designed hits of the very same requests beside them. ``sent_tokens``: prompt tokens of what was
    sent, as the answers' usage counts them, else as planned.
    """
    sent = rows.filter(pl.col("sent_s").is_not_null())
    known = rows.filter(pl.col("cached_tokens").is_not_null())
    total = int(known["cached_tokens"].sum())
    return {
        "cached_tokens": total if known.height == rows.height else None,
        "sent_tokens": int(sent.select(pl.coalesce("prompt_tokens", "input_len")).to_series().sum()),
        "known_requests": known.height,
        "known_cached_tokens": total if known.height else None,
        "known_expected_tokens": int(known["expected"].sum()) if known.height else None,
        "known_input_tokens": int(known["input_len"].sum()) if known.height else None,
    }


def differing_requests(rows: pl.DataFrame) -> dict[str, Any]:
    """Requests that were served other cached tokens than planned, where the usage tells; the first 20 by send order."""
    told = rows.filter(pl.col("cached_tokens").is_not_null() & pl.col("expected").is_not_null())
    off = told.filter(pl.col("cached_tokens") != pl.col("expected"))
    gap = off["cached_tokens"] - off["expected"]
    names = {
        "request_id": "request_id",
        "prefix_group_id": "group_id",
        "order_index": "order_index",
        "expected": "expected_hit_len",
        "cached_tokens": "cached_tokens",
    }
    return {
        "count": off.height,
        "more": int((gap > 0).sum()),
        "fewer": int((gap < 0).sum()),
        "net_tokens": int(gap.sum()),
        "compared": told.height,
        "first": off.head(LISTED).select(list(names)).rename(names).to_dicts(),
    }


def order_as_sent(rows: pl.DataFrame) -> dict[str, Any]:
    """Pairs of requests sent the other way round than planned: in all, and within a lane, where it can cost hits."""
    sent = rows.filter(pl.col("sent_s").is_not_null())
    lanes = sent.partition_by(["planned_dp_id", "prefix_group_id"], maintain_order=True)
    return {
        "sent": sent.height,
        "inversions": inversions(sent["sent_s"].to_numpy()),
        "inversions_within_lanes": sum(inversions(lane["sent_s"].to_numpy()) for lane in lanes),
    }


def inversions(values: NDArray[np.float64]) -> int:
    """Number of pairs i < j with values[i] > values[j], by merge counting."""
    if len(values) <= 64:
        return int(np.triu(values[:, None] > values[None, :], 1).sum())
    middle = len(values) // 2
    left, right = values[:middle], values[middle:]
    across = middle * len(right) - int(np.searchsorted(np.sort(left), right, side="right").sum())
    return inversions(left) + inversions(right) + across


def gate_waits(rows: pl.DataFrame) -> dict[str, Any]:
    """Seconds spent before gates. ``broken``: sent although nothing covered them."""
    waits = rows["gate_wait_s"].drop_nulls()
    return {
        "waited": int((waits > WAITED_S).sum()),
        "total_s": float(waits.sum()) if len(waits) else None,
        "max_s": float(waits.max()) if len(waits) else None,  # type: ignore[arg-type]
        "broken": int(rows["gate_broken"].fill_null(False).sum()),
    }


def routes(rows: pl.DataFrame) -> dict[str, Any]:
    """Requests that went elsewhere than planned; those whose way is unknown are counted apart, not as right."""
    planned = rows.filter(pl.col("planned_route").is_not_null() & pl.col("sent_s").is_not_null())
    known = planned.filter(pl.col("actual_route").is_not_null())
    wrong = known.filter(pl.col("actual_route") != pl.col("planned_route"))
    return {
        "planned": planned.height,
        "known": known.height,
        "mismatches": wrong.height if known.height else None,
        "first": wrong.head(LISTED).select("request_id", "planned_route", "actual_route").to_dicts(),
    }


def first_request_hits(rows: pl.DataFrame) -> dict[str, Any]:
    """Did the first request of each cache domain hit? In a cold pass it must not (domain.md 2).

    A first request that was overtaken proves nothing and is not ``checked``. ``detected`` is null if none was.
    """
    found: list[dict[str, Any]] = []
    checked = 0
    domains = rows.partition_by("planned_dp_id", maintain_order=True)
    for domain in domains:
        first = domain.row(0, named=True)
        if first["cached_tokens"] is None or first["sent_s"] is None or first["sent_s"] > domain["sent_s"].min():
            continue
        checked += 1
        if first["cached_tokens"]:
            found.append({key: first[key] for key in ("request_id", "planned_dp_id", "cached_tokens")})
    return {
        "detected": bool(found) if checked else None,
        "checked_domains": checked,
        "domains": len(domains),
        "requests": found,
    }
