"""What of the sending itself puts figures in doubt: requests sent again, a process that stood still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from prefixcache.load.records.rows import RequestRecord
from prefixcache.load.sending.health import Health

if TYPE_CHECKING:
    from prefixcache.load.passes import Bench

STALL_S = 0.05
"""A longer stall makes tokens late by more than most gaps between two of them."""


def warn_of_sending(bench: Bench, name: str, records: Sequence[RequestRecord], health: Health) -> None:
    """Note requests that were sent more than once, and stalls that moved moments.

    Args:
        bench, name: the run and the pass.
        records: its measured requests.
        health: of the processes that sent them.
    """
    again = [record for record in records if record.attempts > 1]
    if again:
        extra = sum(record.attempts - 1 for record in again)
        bench.warn(
            "retried",
            f"{len(again):,} requests were sent more than once ({extra:,} attempts more): each may have found its own "
            "prefix cached by the attempt before, and the counters hold all attempts",
            name,
            stage="run_benchmark",
            field="retries",
        )
    if health.longest_stall_s > STALL_S:
        bench.warn(
            "sender_stalled",
            f"the client's event loop stood still {health.stalls:,} times, {health.longest_stall_s * 1000:.1f} ms at "
            f"most ({health.longest_collection_s * 1000:.1f} ms of garbage collection at most): moments within are "
            "late by as much",
            name,
            stage="run_benchmark",
            field="processes",
            remedy="Give the client cores of its own, or more processes with --processes.",
        )
