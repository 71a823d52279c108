"""Where a pass was loaded otherwise than asked, and it matters: the sender late, gates or slots holding requests back.

Lag matters in an open loop when its 99th percentile is above 1 ms and above half the median gap between two scheduled
requests (then they leave in other bunches than asked), or above 10 ms and above 5 % of the median time to first token.
In a closed loop it is time in which a slot stood empty: it matters when it is above 5 % of the slots' time and above a
second in all. Waits before gates, and for a slot where ``max_in_flight`` bounds an open loop, matter when more than 5 %
of the requests waited longer than 1 ms for them, or when the requests left at less than 95 % of the rate asked and
most of the waiting was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from prefixcache.load.findings.load_figures import NOTICED_S
from prefixcache.load.records.rows import RequestRecord

if TYPE_CHECKING:
    from prefixcache.load.passes import Bench

LAG_S = 0.010
LAG_SHARE = 0.05
EMPTY_S = 1.0
LAG_OF_GAP = 0.5
WAITING_SHARE = 0.05
RATE_SHARE = 0.95


def warn_of_load(bench: Bench, name: str, load: dict[str, Any], records: Sequence[RequestRecord]) -> None:
    """Note what of a pass's load matters.

    Args:
        bench, name: the run and the pass.
        load: ``load_figures`` of the pass.
        records: its measured requests.
    """
    lags = [r.lag_s for r in records if r.lag_s is not None]
    if load["loop"] == "open":
        matters = late_by_the_clock(lags, [r.ttft_s for r in records if r.ttft_s is not None], load["median_gap_s"])
        _held_back(bench, name, load, records)
    else:
        matters = slots_stood_empty(lags, [r.e2e_s for r in records if r.e2e_s is not None])
    if matters:
        bench.warn(
            "load_lag",
            f"requests were sent late by the client itself: {np.percentile(lags, 99) * 1000:.1f} ms at the 99th "
            f"percentile, {max(lags) * 1000:.1f} ms at most, {load['late_sends']:,} of {len(records):,} by more than "
            "1 ms",
            name,
            stage="run_benchmark",
            field="load",
            remedy="Give the client cores of its own, or ask for a lower rate or concurrency.",
        )


def late_by_the_clock(lags: Sequence[float], ttfts: Sequence[float], gap: float | None) -> bool:
    """Whether the lag of an open loop matters; see above.

    Args:
        lags, ttfts: of the requests, seconds.
        gap: median gap of the schedule, seconds; None below two requests.
    """
    if not lags:
        return False
    p99 = float(np.percentile(lags, 99))
    bunched = gap is not None and p99 > max(NOTICED_S, LAG_OF_GAP * gap)
    return bunched or (bool(ttfts) and p99 > max(LAG_S, LAG_SHARE * float(np.median(ttfts))))


def slots_stood_empty(lags: Sequence[float], answers: Sequence[float]) -> bool:
    """Whether the lag of a closed loop matters; ``answers``: seconds from sending to the last token."""
    if not lags or not answers:
        return False
    empty = sum(lags)
    return empty > max(EMPTY_S, LAG_SHARE * (empty + sum(answers)))


def _held_back(bench: Bench, name: str, load: dict[str, Any], records: Sequence[RequestRecord]) -> None:
    """Gates and slots of an open loop: each delays what the clock would have sent."""
    timed = [r for r in records if r.scheduled_s is not None and r.sent_s is not None]
    asked, achieved = load["asked_rate"], load["achieved_rate"]
    if asked is None or achieved is None:
        return
    slow = achieved < RATE_SHARE * asked
    gates = sum(r.gate_wait_s for r in timed)
    slots = sum(r.ready_s - (r.scheduled_s or 0.0) for r in timed)
    gated = sum(r.gate_wait_s > NOTICED_S for r in timed)
    if gated > WAITING_SHARE * len(timed) or (slow and gated and gates >= slots):
        bench.warn(
            "load_gated",
            f"gates held {gated:,} of {len(timed):,} requests back beyond their moment, {gates:.2f} s in all; of "
            f"{asked:,.1f} requests/s asked for {achieved:,.1f} left",
            name,
            stage="run_benchmark",
            field="gating",
            remedy="Ask for a lower rate, or give up the designed hits with --gating none.",
        )
    if load["slot_waits"] > WAITING_SHARE * len(timed) or (slow and load["slot_waits"] and slots > gates):
        bench.warn(
            "load_slots",
            f"{load['slot_waits']:,} of {len(timed):,} requests waited for one of {load['max_in_flight']:,} places in "
            f"flight, {slots:.2f} s in all; of {asked:,.1f} requests/s asked for {achieved:,.1f} left",
            name,
            stage="run_benchmark",
            field="max_in_flight",
            remedy="Ask for a lower rate, or for more in flight with --max-in-flight.",
        )
