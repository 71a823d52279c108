"""The time that a probe may take: every wait is bounded by it, whatever the server does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
END_S = 2.0
"""How long something that was told to stop may take to do so."""


class OutOfTime(Exception):
    """The probe's time is up."""


class NoAnswer(Exception):
    """One wait took longer than a single answer may."""


class Clock:
    """Counts a time limit down.

    Args:
        limit: seconds from now.
        reserve: seconds of it that are kept for cleaning up.
    """

    def __init__(self, limit: float, reserve: float = 0.0) -> None:
        self.began = time.perf_counter()
        self.limit = limit
        self._end = self.began + limit - reserve

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        return self._end - time.perf_counter()

    def open_reserve(self, seconds: float) -> None:
        """For cleaning up: so many seconds from now, whatever was used before."""
        self._end = max(self._end, time.perf_counter() + seconds)

    async def bounded(self, work: Coroutine[Any, Any, T], most: float) -> T:
        """What ``work`` returns.

        Raises:
            OutOfTime: the time limit came first.
            NoAnswer: ``most`` seconds came first.
        """
        left = self.left
        if left <= 0:
            work.close()
            raise OutOfTime
        task = asyncio.ensure_future(work)
        try:
            done, _ = await asyncio.wait({task}, timeout=min(left, most))
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            return task.result()
        task.cancel()
        await asyncio.wait({task}, timeout=END_S)
        if left <= most:
            raise OutOfTime
        raise NoAnswer(f"no answer within {most:g} s")
