"""The figures of one simulated pass: in total, per group, per domain, per request, and the cache over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prefixcache.cache.models.inflight.model import InflightServed
from prefixcache.cache.models.trace import Counts, Served
from prefixcache.dataset.as_traces import DatasetTraces
from prefixcache.simulation.routes import Routing
from prefixcache.simulation.sizes import ratio
from prefixcache.simulation.tiers import Tiers, tier_counters

MOST_POINTS = 512


def pass_figures(
    name: str, traces: DatasetTraces, routing: Routing, served: Served, blocks: int | None, tiers: Tiers | None = None
) -> dict[str, Any]:
    """``blocks``: of each domain, None where there is no limit. With ``tiers`` hits are those of all together."""
    rows = rows_of(name, traces, routing).with_columns(
        hit_tokens=served.hits + served.external_hits, evicted_blocks=served.evicted, used_blocks=served.used
    )
    by_tier = {} if tiers is None else tiers.hits(served)
    rows = rows.with_columns(**{f"{tier}_hit_tokens": hits for tier, hits in by_tier.items()})
    found: dict[str, Any] = {
        "name": name,
        **_sums(rows),
        "groups": [
            {"group_id": group, **_sums(rows.filter(pl.col("prefix_group_id") == group))}
            for group in traces.manifest["prefix"]["groups"]
        ],
        "domain_figures": [
            {"domain": home, **_sums(rows.filter(pl.col("domain") == home))} for home in range(routing.count)
        ],
        "usage": _usage(served.used, routing, blocks),
        "in_flight": _in_flight(served),
        "requests": rows.to_dicts(),
    }
    if tiers is not None:
        found["tiers"] = tier_counters(by_tier, traces.requests.input_tokens)
    return found


def rows_of(name: str, traces: DatasetTraces, routing: Routing) -> pl.DataFrame:
    """What is known of each request before it is served, in send order."""
    plan = traces.plan
    designed = f"expected_hit_len_{name}"
    known = designed if designed in plan.columns else "expected_hit_len"
    made = name in [row["name"] for row in traces.manifest["passes"]]
    return pl.DataFrame(
        {
            "request_id": plan["request_id"],
            "prefix_group_id": plan["prefix_group_id"],
            "domain": pl.Series(routing.domains, dtype=pl.Int64),
            "input_len": traces.requests.input_tokens,
            "expected_hit_len": plan[known].cast(pl.Int64) if made else pl.Series([None] * len(plan), dtype=pl.Int64),
        }
    )


def _sums(rows: pl.DataFrame) -> dict[str, Any]:
    tokens, hits, designed = (rows[name].sum() for name in ("input_len", "hit_tokens", "expected_hit_len"))
    known = not rows["expected_hit_len"].null_count()
    return {
        "request_count": len(rows),
        "input_tokens": int(tokens),
        "expected_hit_tokens": int(designed) if known else None,
        "designed_hit_ratio": ratio(int(designed), int(tokens)) if known else None,
        "hit_tokens": int(hits),
        "token_hit_ratio": ratio(int(hits), int(tokens)),
        "evicted_blocks": int(rows["evicted_blocks"].sum()),
    }


def _usage(used: Counts, routing: Routing, blocks: int | None) -> list[dict[str, Any]]:
    """Blocks with content in all domains together, after at most ``MOST_POINTS`` requests evenly spread."""
    total = np.zeros(len(used), dtype=np.int64)
    for home in range(routing.count):
        total += _held(used, routing.domains == home)
    at = np.unique(np.linspace(0, max(len(used) - 1, 0), min(len(used), MOST_POINTS)).round().astype(np.int64))
    room = None if blocks is None else blocks * routing.count
    return [
        {"order_index": place, "used_blocks": held, "used_share": None if room is None else held / room}
        for place, held in zip(at.tolist(), total[at].tolist(), strict=True)
    ]


def _held(used: Counts, mine: NDArray[np.bool_]) -> Counts:
    """What one domain holds after each request of any."""
    places = np.flatnonzero(mine)
    before = np.searchsorted(places, np.arange(len(used)), side="right")
    found: Counts = np.concatenate([np.zeros(1, dtype=np.int64), used[places]])[before]
    return found


def _in_flight(served: Served) -> dict[str, Any] | None:
    """What only requests in flight have; null where they were served one at a time."""
    if not isinstance(served, InflightServed):
        return None
    usage = served.usage
    every = slice(None, None, max(1, -(-len(usage.running) // MOST_POINTS)))
    columns = (usage.held.sum(axis=1)[every], usage.running[every], usage.waiting[every])
    return {
        "preemptions": int(served.preemptions.sum()),
        "steps": served.steps.tolist(),
        "samples": [
            {"held_blocks": held, "running": running, "waiting": waiting}
            for held, running, waiting in zip(*(column.tolist() for column in columns), strict=True)
        ],
    }
