"""How a pass was loaded beside how it was asked to be: rates, delays, what was in flight, what was never sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from prefixcache.analysis.performance import distribution
from prefixcache.load.records.rows import RequestRecord
from prefixcache.load.sending.pace import UNSENT, Pace, Unsent
from prefixcache.load.shapes.model import Closed

NOTICED_S = 0.001
"""A shorter delay is the event loop's own time."""


def load_figures(pace: Pace, records: Sequence[RequestRecord]) -> dict[str, Any]:
    """Figures of a pass's measured requests; seconds and requests per second, null where a thing does not apply.

    Args:
        pace: how the pass was to be loaded.
        records: of its measured requests.

    Returns:
        ``asked_rate``: of the schedule of the requests that were sent, ``achieved_rate``: of their sending, both
        between the first and the last of them. ``delay_s``: sent - scheduled, which is made of the wait for a slot, the
        gate's wait and the lag. ``late_sends``, ``gate_waits``, ``slot_waits``: requests for which one of these
        exceeded 1 ms. ``in_flight_peak``: requests between their first byte and their last token at once. The request
        that a cold pass sends alone before the clock of the load begins is left out of an open loop's rates and delays.
    """
    closed = isinstance(pace.shape, Closed)
    sent = [r for r in records if r.sent_s is not None]
    timed = sent if closed else [r for r in sent if r.scheduled_s is not None]
    waits = [r.ready_s - r.scheduled_s for r in timed if r.scheduled_s is not None]
    delays = [r.sent_s - r.scheduled_s for r in timed if r.scheduled_s is not None and r.sent_s is not None]
    return {
        "shape": pace.shape.text,
        "loop": "closed" if closed else "open",
        "max_in_flight": pace.in_flight,
        "duration_bound_s": pace.duration,
        "asked_rate": _rate([r.scheduled_s for r in timed]),
        "achieved_rate": _rate([r.sent_s for r in timed]),
        "median_gap_s": _median_gap([r.scheduled_s for r in timed]),
        "delay_s": distribution(delays),
        "late_sends": sum(r.lag_s is not None and r.lag_s > NOTICED_S for r in sent),
        "gate_waits": sum(r.gate_wait_s > NOTICED_S for r in sent),
        "slot_waits": sum(wait > NOTICED_S for wait in waits),
        "in_flight_peak": _peak(sent),
    }


def sending_figures(planned: int, sent: int, unsent: Mapping[int, Unsent], requests: int) -> dict[str, Any]:
    """How many requests were sent, of how many, and which bound kept the others back.

    Args:
        planned: requests of the dataset.
        sent: of them, sent (or tried).
        unsent: numbers of those kept back by the duration or the end of the shape.
        requests: those within the limit.
    """
    reasons = [*unsent.values()]
    counts = {why: reasons.count(why) for why in UNSENT} | {"limit": planned - requests}
    return {"planned": planned, "sent": sent, "unsent": counts}


def _rate(moments: Sequence[float | None]) -> float | None:
    known = [m for m in moments if m is not None]
    span = max(known) - min(known) if known else 0.0
    return (len(known) - 1) / span if span > 0 else None


def _median_gap(moments: Sequence[float | None]) -> float | None:
    known = np.sort(np.array([m for m in moments if m is not None]))
    return float(np.median(np.diff(known))) if known.size > 1 else None


def _peak(sent: Sequence[RequestRecord]) -> int:
    """Largest number of requests at once; an answer that never came to a token is taken to its last sign of life."""
    begins = np.array([r.sent_s for r in sent], dtype=np.float64)
    ends = np.array([_end(r) for r in sent], dtype=np.float64)
    if not begins.size:
        return 0
    moments = np.concatenate((begins, ends))
    steps = np.concatenate((np.ones(begins.size, dtype=np.int64), -np.ones(ends.size, dtype=np.int64)))
    order = np.lexsort((steps, moments))  # at one moment what ends goes before what begins
    return int(np.cumsum(steps[order]).max())


def _end(record: RequestRecord) -> float:
    signs = (record.sent_s, record.first_byte_s, record.first_token_s, record.last_token_s)
    return max(sign for sign in signs if sign is not None)
