"""How the hit ratio and the watermarks grow in send order, thinned out for drawing."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

MAX_POINTS = 400


def thin(count: int, limit: int = MAX_POINTS) -> NDArray[np.int64]:
    """At most ``limit`` evenly spread indices of 0 … count − 1, first and last among them."""
    if count <= limit:
        return np.arange(count, dtype=np.int64)
    return np.unique(np.linspace(0, count - 1, limit).round().astype(np.int64))


def cumulative_growth(rows: pl.DataFrame, limit: int = MAX_POINTS) -> dict[str, Any]:
    """Cumulative hit ratios over the send order.

    Args:
        rows: a pass's rows in send order with ``input_len, expected, cached_tokens``.

    Returns:
        Columns ``order_index, designed, measured`` (0-1). ``measured`` is what the clients were told (usage's cached
        tokens), over the requests that have it: ``measured_requests`` of ``requests``; null before the first and
        behind the last of them, since a line that goes on would be read as measured.
    """
    tokens = rows["input_len"].to_numpy()
    designed = np.cumsum(rows["expected"].fill_null(0).to_numpy()) / np.maximum(np.cumsum(tokens), 1)
    known = rows["cached_tokens"].is_not_null().to_numpy()
    cached = np.cumsum(rows["cached_tokens"].fill_null(0).to_numpy())
    asked = np.cumsum(np.where(known, tokens, 0))
    at = thin(rows.height, limit)
    last = int(np.flatnonzero(known)[-1]) if known.any() else -1
    return {
        "order_index": rows["order_index"].to_numpy()[at].tolist(),
        "designed": designed[at].tolist(),
        "measured": [float(cached[i] / asked[i]) if asked[i] and i <= last else None for i in at],
        "measured_requests": int(known.sum()),
        "requests": rows.height,
    }


def staircase(plan: pl.DataFrame, lanes: int, limit: int = MAX_POINTS) -> list[dict[str, Any]]:
    """Planned watermark before each request, per lane, largest lanes first.

    Returns:
        For each of the first ``lanes`` lanes by input tokens ``domain, group, order_index[], watermark[]`` (tokens):
        the points where it changes, at most ``limit``, and its first and last request.
    """
    if plan["cached_watermark_before"].null_count() == plan.height:
        return []
    keys = ["planned_dp_id", "prefix_group_id"]
    largest = (
        plan.group_by(keys, maintain_order=True)
        .agg(pl.col("input_len").sum().alias("tokens"))
        .sort("tokens", descending=True, maintain_order=True)
        .head(lanes)
    )
    return [_lane(plan, domain, group, limit) for domain, group, _ in largest.iter_rows()]


def _lane(plan: pl.DataFrame, domain: int | None, group: str, limit: int) -> dict[str, Any]:
    own = plan.filter(pl.col("planned_dp_id").eq_missing(domain) & (pl.col("prefix_group_id") == group))
    order = own["order_index"].to_numpy()
    level = own["cached_watermark_before"].fill_null(0).to_numpy()
    changes = np.flatnonzero(np.diff(level, prepend=level[:1] - 1))
    points = np.union1d(changes[thin(len(changes), limit - 1)], [len(level) - 1])
    return {
        "domain": domain,
        "group": group,
        "order_index": order[points].tolist(),
        "watermark": level[points].tolist(),
    }
