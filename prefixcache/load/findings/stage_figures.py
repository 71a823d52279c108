"""Figures of each stage of a load: a list of rates, a ramp and what is held after it, slots that change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from prefixcache.analysis.performance import distribution
from prefixcache.load.records.rows import RequestRecord
from prefixcache.load.sending.pace import Pace
from prefixcache.load.shapes.model import Closed, Rated
from prefixcache.load.shapes.rates import Floats

LATENCIES = ("ttft_s", "tpot_s", "e2e_s")


def stage_figures(pace: Pace, records: Sequence[RequestRecord], load_s: float) -> list[dict[str, Any]] | None:
    """How each stage went, in order; None for a load of one stage.

    A request belongs to the stage in which it was due (open loop) or taken up by a slot (closed loop), whenever it was
    sent and answered. The one that a cold pass sends alone before the load begins belongs to none.

    Args:
        pace: how the pass was loaded.
        records: of its measured requests.
        load_s: the beginning of a closed loop, seconds since the pass began.

    Returns:
        Per stage ``from_s, until_s`` (of the clock of the load; None: until the requests end), what was asked for:
        ``concurrency``, or ``rate`` and ``rate_at_end`` (requests/s); ``requests``, ``failed``; ``achieved_rate`` of
        their sending; ``ttft_s, tpot_s, e2e_s`` of those answered.
    """
    asked = _asked(pace)
    if len(asked) < 2:
        return None
    found = []
    for stage, mine in zip(asked, _parted(pace, records, asked, load_s), strict=True):
        ok = [record for record in mine if record.status == "ok"]
        sent = [record.sent_s for record in mine if record.sent_s is not None]
        span = max(sent) - min(sent) if sent else 0.0
        found.append(
            {
                **stage,
                "requests": len(mine),
                "failed": len(mine) - len(ok),
                "achieved_rate": (len(sent) - 1) / span if span > 0 else None,
                **{name: distribution(getattr(record, name) for record in ok) for name in LATENCIES},
            }
        )
    return found


def _asked(pace: Pace) -> list[dict[str, Any]]:
    shape = pace.shape
    wanted: list[tuple[dict[str, Any], float | None]] = []
    if isinstance(shape, Closed):
        wanted = [({"concurrency": s.concurrency, "rate": None, "rate_at_end": None}, s.seconds) for s in shape.stages]
    elif isinstance(shape, Rated):
        wanted = [({"concurrency": None, "rate": s.start, "rate_at_end": s.end}, s.seconds) for s in shape.segments]
    found, begins = [], 0.0
    for what, seconds in wanted:
        until = None if seconds is None else begins + seconds
        found.append({"from_s": begins, "until_s": until, **what})
        begins = until or begins
    return found


def _parted(
    pace: Pace, records: Sequence[RequestRecord], asked: Sequence[dict[str, Any]], load_s: float
) -> list[list[RequestRecord]]:
    begins = np.array([stage["from_s"] for stage in asked])
    parts: list[list[RequestRecord]] = [[] for _ in asked]
    for record in records:
        at = _moment(pace.offsets, record, load_s)
        if at is not None and at >= 0:
            parts[int(np.searchsorted(begins, at, side="right")) - 1].append(record)
    return parts


def _moment(offsets: Floats | None, record: RequestRecord, load_s: float) -> float | None:
    """On the clock of the load."""
    if offsets is None:
        return record.ready_s - load_s
    return None if record.scheduled_s is None else float(offsets[record.order_index])
