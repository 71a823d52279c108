"""Watching a server while it works: polled gauges, waiting until it is idle, and snapshots."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.aggregate import Aggregation, aggregate
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.quantities import Quantity, Role
from prefixcache.engines.snapshot import MetricsSource, Snapshot, take_snapshot

GAUGES = (Quantity.KV_USAGE, Quantity.RUNNING, Quantity.WAITING)
COUNTERS = (Quantity.QUERIES, Quantity.HITS, Quantity.PROMPT_TOKENS, Quantity.PREEMPTIONS, Quantity.EVICTED)
SETTLE_S = 0.1
MOST_SHARE = 0.01
"""Of a pass's time that polling may take of this process; where pages are long, it polls less often."""
FREE_S = 0.05
"""What it may take in any case: a pass of a second is to have its samples too."""
SILENT_READS = 5
LONGEST_PAUSE_S = 30.0


@dataclass(slots=True)
class UsageStats:
    """KV cache usage (0-1) over the samples of a pass, and the endpoints whose counters fell between two of them.

    ``risen``: endpoint → by how much each counter was seen to rise, resets apart: what was counted for certain.
    ``spent_s``: seconds of this process that polling took in ``elapsed_s``.
    """

    total: float = 0.0
    largest: float | None = None
    count: int = 0
    error: str | None = None
    fallen: set[str] = field(default_factory=set)
    risen: dict[str, dict[Quantity, float]] = field(default_factory=dict)
    polls: int = 0
    spent_s: float = 0.0
    elapsed_s: float = 0.0
    _last: dict[str, list[float | None]] = field(default_factory=dict)

    def see_counters(self, label: str, values: list[float | None]) -> None:
        """Compare with the sample before: from a low start, a reset shows only between the ends of an interval."""
        last = self._last.get(label, values)
        risen = self.risen.setdefault(label, {})
        for quantity, old, new in zip(COUNTERS, last, values, strict=True):
            if new is None:
                continue
            fell = old is not None and new < old
            if fell:
                self.fallen.add(label)
            risen[quantity] = risen.get(quantity, 0.0) + (new if fell or old is None else new - old)
        self._last[label] = values

    def add(self, value: float | None) -> None:
        if value is not None:
            self.total += value
            self.largest = value if self.largest is None else max(self.largest, value)
            self.count += 1

    def to_json(self) -> dict[str, Any]:
        return {
            "mean": self.total / self.count if self.count else None,
            "max": self.largest,
            "samples": self.count,
            "polls": self.polls,
            "polling_s": round(self.spent_s, 6),
            "polling_share": round(self.spent_s / self.elapsed_s, 6) if self.elapsed_s else None,
        }


@dataclass(slots=True)
class Monitor:
    """Reads the metrics pages of a run.

    Args:
        client, sources, adapter: what to read and how.
        interval: seconds between two polls.
        sink: takes the rows of ``metrics_samples.jsonl``.
        roles: label of a page → what its endpoint does.
    """

    client: httpx.AsyncClient
    sources: Sequence[MetricsSource]
    adapter: Adapter
    interval: float
    sink: Callable[[dict[str, Any]], None]
    roles: Mapping[str, Role] = field(default_factory=dict)
    _wanted: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._wanted = self.adapter.metric_names() | {"process_start_time_seconds"}

    async def snapshot(self, usage: UsageStats | None = None, *, fresh: bool = True) -> Snapshot:
        """All pages now; ``usage`` looks at their counters. ``fresh``: as of :func:`take_snapshot`."""
        found = await take_snapshot(self.client, self.sources, self._wanted, fresh=fresh)
        if usage is not None:
            for label, page in found.pages.items():
                usage.see_counters(label, self._counters(page))
        return found

    def between(self, before: Snapshot, after: Snapshot, usage: UsageStats | None = None) -> Aggregation:
        """What was counted between two snapshots; ``usage`` knows what was seen in between."""
        seen = usage or UsageStats()
        return aggregate(self.adapter, before, after, seen.fallen, self.roles, seen.risen)

    @asynccontextmanager
    async def polling(
        self, pass_name: str, began: float, see: Callable[[Snapshot, UsageStats], None] | None = None
    ) -> AsyncIterator[UsageStats]:
        """Poll in the background for the length of the block; the first poll is at once. ``see`` is shown each one."""
        usage = UsageStats()
        task = asyncio.create_task(self._poll(pass_name, began, usage, see))
        try:
            yield usage
        finally:
            task.cancel()
            [end] = await asyncio.gather(task, return_exceptions=True)
            if end is not None and not isinstance(end, asyncio.CancelledError):
                usage.error = f"the polling of the gauges stopped ({type(end).__name__}: {end})"

    async def idle(self, timeout: float) -> str | None:
        """Wait until nothing runs or waits and the counters stand still; None, or why that is not known to be so.

        A server without the gauges is idle when its counters stand still. One that gives no page at all, a few times
        in a row, is not waited for, and one that takes no connection not at all.
        """
        silent = 0
        deadline = time.perf_counter() + timeout
        previous: dict[str, Any] | None = None
        while True:
            snapshot = await self.snapshot()
            state = {label: self._counters(page) for label, page in snapshot.pages.items()}
            busy = any(
                self.adapter.value(quantity, page)
                for page in snapshot.pages.values()
                for quantity in (Quantity.RUNNING, Quantity.WAITING)
            )
            gone = snapshot.unreachable
            still = state == previous or not snapshot.pages
            if not busy and still and snapshot.errors.keys() == gone:
                return f"there is no connection to {', '.join(sorted(gone))}" if gone else None
            silent = 0 if snapshot.pages else silent + 1
            if silent == SILENT_READS:
                return f"{', '.join(snapshot.errors)} gave no metrics page {SILENT_READS} times in a row"
            if time.perf_counter() >= deadline:
                return f"the server was not idle within {timeout:g} s"
            previous = None if busy else state
            await asyncio.sleep(SETTLE_S)

    async def _poll(
        self,
        pass_name: str,
        began: float,
        usage: UsageStats,
        see: Callable[[Snapshot, UsageStats], None] | None,
    ) -> None:
        start = time.perf_counter()
        while True:
            at = time.perf_counter()
            snapshot = await self.snapshot(usage, fresh=False)
            read = time.perf_counter()
            if see is not None:
                see(snapshot, usage)
            for label, page in snapshot.pages.items():
                for engine in self.adapter.engines(page, GAUGES) or (None,):
                    row = self._row(page, engine)
                    usage.add(row.get(Quantity.KV_USAGE))
                    self.sink(
                        {
                            "pass": pass_name,
                            "t_s": round(time.perf_counter() - began, 6),
                            "endpoint": label,
                            "engine": engine,
                            **{q.value: v for q, v in row.items()},
                        }
                    )
            now = time.perf_counter()
            usage.polls += 1
            usage.spent_s += snapshot.read_s + now - read
            usage.elapsed_s = max(now - start, self.interval)
            rest = (usage.spent_s - FREE_S) / MOST_SHARE - (now - start)
            await asyncio.sleep(max(0.0, at + self.interval - now, min(rest, LONGEST_PAUSE_S)))

    def _row(self, page: MetricsPage, engine: str | None) -> dict[Quantity, float | None]:
        return {q: self.adapter.value(q, page, engine) for q in (*GAUGES, *COUNTERS) if q in self.adapter.metrics}

    def _counters(self, page: MetricsPage) -> list[float | None]:
        return [self.adapter.value(q, page) for q in COUNTERS]
