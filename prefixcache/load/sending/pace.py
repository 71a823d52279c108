"""How the requests of a pass are spread over time: a load shape made ready for so many requests, and its bounds."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass
from typing import Literal

from prefixcache.load.shapes.model import Closed, Shape, closed_loop
from prefixcache.load.shapes.rates import Floats
from prefixcache.load.shapes.schedule import arrival_offsets

Unsent = Literal["limit", "duration", "load"]
UNSENT: tuple[Unsent, ...] = ("limit", "duration", "load")
"""Why a request of the dataset was never sent: behind the first N, after the duration, after the end of the shape."""


@dataclass(frozen=True, slots=True)
class Pace:
    """When requests go.

    Args:
        shape: the load.
        offsets: an open loop's schedule, seconds from the beginning of its clock, shape (m,); None for a closed loop.
        max_in_flight: slots of an open loop; None: as many as it needs.
        duration: seconds after which nothing is sent any more.
    """

    shape: Shape
    offsets: Floats | None = None
    max_in_flight: int | None = None
    duration: float | None = None

    @property
    def in_flight(self) -> int | None:
        """Requests in flight at most; None: any number."""
        return self.shape.most if isinstance(self.shape, Closed) else self.max_in_flight

    @property
    def schedule_s(self) -> float | None:
        """Seconds to the last scheduled request that the duration allows; None for a closed loop."""
        if self.offsets is None or not self.offsets.size:
            return None
        allowed = self.offsets if self.duration is None else self.offsets[self.offsets <= self.duration]
        return float(allowed[-1]) if allowed.size else 0.0

    def origin(self, start: int, now: float) -> float:
        """The beginning of the clock when request ``start`` is the next one and those before were sent already."""
        return now if self.offsets is None or not start else now - float(self.offsets[start - 1])

    def ends(self, origin: float) -> float:
        """The moment after which nothing is sent."""
        return float("inf") if self.duration is None else origin + self.duration


def make_pace(shape: Shape, count: int, *, max_in_flight: int | None = None, duration: float | None = None) -> Pace:
    """Make a shape ready for ``count`` requests.

    Raises:
        InputError: a trace that cannot be read.
    """
    offsets = None if isinstance(shape, Closed) else arrival_offsets(shape, count)
    return Pace(shape, offsets, max_in_flight, duration)


def steady(concurrency: int) -> Pace:
    """So many slots, without a bound: for what is sent unmeasured."""
    return Pace(closed_loop(concurrency))


class Slots:
    """Places for requests in flight, taken by one dispatcher in send order.

    Args:
        count: how many; None: any number.
    """

    def __init__(self, count: int | None) -> None:
        # Since when each free one is free, the longest free first.
        self._free: deque[float] | None = None if count is None else deque([float("-inf")] * count)
        self._waiter: asyncio.Future[float] | None = None

    async def take(self) -> float:
        """Wait for a free slot and take it; returns since when it was free (``perf_counter``)."""
        if self._free is None:
            return float("-inf")
        if self._free:
            return self._free.popleft()
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            return await self._waiter
        finally:
            self._waiter = None

    def release(self) -> None:
        """Give a slot back: to who waits for one, else to the free ones."""
        if self._free is None:
            return
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(time.perf_counter())
        else:
            self._free.append(time.perf_counter())
