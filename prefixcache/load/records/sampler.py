"""Takes the samples of a pass while it is sent (:class:`prefixcache.load.records.series.Sample`).

A sample is taken when the counters have been read, so that measured and designed hits are of one moment; where nothing
is read for long, the clock takes one with the counters of before.
"""

from __future__ import annotations

import asyncio
import time
from array import array
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.aggregate import Aggregation
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.snapshot import Snapshot
from prefixcache.load.counters.figures import measured
from prefixcache.load.dataset import Planned
from prefixcache.load.records.percentiles import RunningPercentiles, percentile
from prefixcache.load.records.rows import Phase, RequestRecord
from prefixcache.load.records.series import Mark, Sample

INTERVAL_S = 1.0
WINDOW_S = 5.0
EARLY = 0.9
LATE = 1.5
"""Counters read after so many intervals make a sample; after so many without, the clock does."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a server showed at a moment of ``time.perf_counter``: counters since the pass began, and gauges; nothing yet
    if there was no such moment."""

    at: float | None = None
    query_tokens: int | None = None
    hit_tokens: int | None = None
    hit_ratio: float | None = None
    kv_usage: float | None = None
    running: float | None = None
    waiting: float | None = None


def counted(adapter: Adapter, now: Snapshot, found: Aggregation) -> Counted:
    """A snapshot as a sample tells it, and what was counted until then; of a part of the service nothing is told."""
    total = measured(found.total) if found.status == "complete" else measured(None)
    ratio = found.total.hit_rate if found.status == "complete" else None
    gauges: dict[Quantity, list[float]] = {}
    for quantity in (Quantity.KV_USAGE, Quantity.RUNNING, Quantity.WAITING):
        values = [adapter.value(quantity, page) for page in now.pages.values()] if quantity in adapter.metrics else []
        gauges[quantity] = [v for v in values if v is not None]
    return Counted(
        time.perf_counter(),
        total.query_tokens,
        total.hit_tokens,
        ratio,
        max(gauges[Quantity.KV_USAGE], default=None),
        _sum(gauges[Quantity.RUNNING]),
        _sum(gauges[Quantity.WAITING]),
    )


def _sum(values: list[float]) -> float | None:
    return sum(values) if values else None


@dataclass(slots=True)
class _Phase:
    """Counts of one phase; bounded by 9 bytes a request and the requests of the last seconds."""

    name: Phase
    planned: int
    began: float
    sent: int = 0
    ended: int = 0
    failed: int = 0
    retried: int = 0
    input_tokens: int = 0
    hit_tokens: int = 0
    started: bytearray = field(default_factory=bytearray)  # a request that was sent again has a first token twice
    ttft: RunningPercentiles = field(default_factory=RunningPercentiles)
    fresh: array[float] = field(default_factory=lambda: array("d"))
    window: deque[tuple[float, int, array[float]]] = field(default_factory=deque)
    counted: Counted = field(default_factory=Counted)
    designed: tuple[int, int] | None = None  # input and hit tokens at the moment of ``counted``


class Sampler:
    """The samples of one pass.

    Args:
        pass_name: of the pass.
        origin: ``time.perf_counter`` of the run's first sample.
        sink: takes each sample.
        interval: seconds between two of them.
    """

    def __init__(
        self, pass_name: str, origin: float, sink: Callable[[Sample], None], interval: float = INTERVAL_S
    ) -> None:
        self.pass_name = pass_name
        self.origin = origin
        self.interval = interval
        self._sink = sink
        self._phase: _Phase | None = None
        self._last = 0.0

    # What happens.

    def begin(self, phase: Phase, planned: int, began: float) -> None:
        """A phase begins: all counts from 0."""
        self._phase = _Phase(phase, planned, began, started=bytearray(planned))
        self._phase.window.append((began, 0, array("d")))
        self.mark("begin")

    def sent(self) -> None:
        """A request was handed to a connection."""
        if (phase := self._phase) is not None:
            phase.sent += 1
            if phase.sent == phase.planned:
                self.mark("all_sent")

    def first_token(self, number: int, planned: Planned) -> None:
        """The first token of a request has come; ``number``: its place among those of the phase."""
        phase = self._phase
        if phase is None or phase.name == "warmup" or phase.started[number]:
            return
        phase.started[number] = 1
        phase.input_tokens += planned.input_len
        phase.hit_tokens += planned.hits.get(self.pass_name, 0)

    def ended(self, record: RequestRecord) -> None:
        """A request is over, well or not."""
        if (phase := self._phase) is None:
            return
        phase.ended += 1
        phase.failed += record.status != "ok"
        phase.retried += bool(record.retried)
        if record.status == "ok" and record.ttft_s is not None:
            phase.ttft.add(record.ttft_s)
            phase.fresh.append(record.ttft_s)

    def saw(self, counted: Counted, mark: Mark | None = None) -> None:
        """The server's counters were read."""
        if (phase := self._phase) is not None:
            phase.counted, phase.designed = counted, (phase.input_tokens, phase.hit_tokens)
            if mark is not None or time.perf_counter() - self._last >= EARLY * self.interval:
                self._take(phase, mark)

    def mark(self, mark: Mark) -> None:
        """Take a sample that says what has just happened."""
        if self._phase is not None:
            self._take(self._phase, mark)

    # When samples are taken.

    @asynccontextmanager
    async def ticking(self, patience: float = LATE) -> AsyncIterator[None]:
        """Within the block, a sample is taken at the latest so many intervals after the one before.

        Raises:
            Whatever the sink raised.
        """
        task = asyncio.create_task(self._tick(patience * self.interval))
        try:
            yield
        finally:
            task.cancel()
            [end] = await asyncio.gather(task, return_exceptions=True)
        if end is not None and not isinstance(end, asyncio.CancelledError):
            raise end

    async def _tick(self, patience: float) -> None:
        while True:
            await asyncio.sleep(max(0.01, self._last + patience - time.perf_counter()))
            if self._phase is not None and time.perf_counter() >= self._last + patience:
                self._take(self._phase, None)

    def _take(self, phase: _Phase, mark: Mark | None) -> None:
        now = self._last = time.perf_counter()
        # Beside counters that are a second old, designed hits of now would look like a deviation.
        tokens, hits = phase.designed or (phase.input_tokens, phase.hit_tokens)
        designed = phase.name == "measured"
        rate, recent = _window(phase, now)
        p50, p90, p99 = phase.ttft.at((50, 90, 99))
        seen = phase.counted
        self._sink(
            Sample(
                pass_name=self.pass_name,
                phase=phase.name,
                mark=mark,
                run_s=_round(now - self.origin),
                t_s=_round(now - phase.began),
                planned=phase.planned,
                sent=phase.sent,
                in_flight=phase.sent - phase.ended,
                ended=phase.ended,
                failed=phase.failed,
                retried=phase.retried,
                requests_per_s=_rounded(rate),
                ttft_p50_s=_rounded(p50),
                ttft_p90_s=_rounded(p90),
                ttft_p99_s=_rounded(p99),
                ttft_recent_p50_s=_rounded(recent),
                counters_s=None if seen.at is None else _round(seen.at - phase.began),
                query_tokens=seen.query_tokens,
                hit_tokens=seen.hit_tokens,
                hit_ratio=seen.hit_ratio,
                designed_input_tokens=tokens if designed else None,
                designed_hit_tokens=hits if designed else None,
                designed_ratio=hits / tokens if designed and tokens else None,
                kv_usage=seen.kv_usage,
                running=seen.running,
                waiting=seen.waiting,
            )
        )


def _window(phase: _Phase, now: float) -> tuple[float | None, float | None]:
    """Requests per second and median TTFT of the last seconds, as far as samples cut them."""
    phase.window.append((now, phase.ended, phase.fresh))
    phase.fresh = array("d")
    while len(phase.window) > 2 and phase.window[1][0] <= now - WINDOW_S:
        phase.window.popleft()
    since, ended, _ = phase.window[0]
    recent = np.concatenate([values for _, _, values in list(phase.window)[1:]])
    rate = (phase.ended - ended) / (now - since) if now > since else None
    return rate, percentile(np.sort(recent), 50) if recent.size else None


def _round(seconds: float) -> float:
    return round(seconds, 6)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)
