"""Whether the sender itself keeps time: stalls of its event loop and pauses of the garbage collector."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

TICK_S = 0.01
LATE_S = 0.01
"""A tick so late is a stall: the loop could neither send nor stamp in that time."""


@dataclass(slots=True)
class Health:
    """Figures of one process over one stretch; seconds.

    Args:
        ticks: looks at the clock, ``TICK_S`` apart. ``stalls``: those that came more than ``LATE_S`` late;
            ``stalled_s``: what all of these add up to; ``longest_stall_s``: the worst.
        collections, collected_s, longest_collection_s: of the garbage collector.
    """

    ticks: int = 0
    stalls: int = 0
    stalled_s: float = 0.0
    longest_stall_s: float = 0.0
    collections: int = 0
    collected_s: float = 0.0
    longest_collection_s: float = 0.0

    def add(self, other: Health) -> None:
        """Join with another process's figures: sums, and the worst of both."""
        for field in fields(self):
            mine, its = getattr(self, field.name), getattr(other, field.name)
            setattr(self, field.name, max(mine, its) if field.name.startswith("longest") else mine + its)

    def to_json(self) -> dict[str, Any]:
        return {f.name: v if isinstance(v := getattr(self, f.name), int) else round(v, 6) for f in fields(self)}


class Watcher:
    """Watches the running event loop; ``take`` hands out what was seen since the last time."""

    def __init__(self) -> None:
        self._health = Health()
        self._began = 0.0

    def take(self) -> Health:
        found, self._health = self._health, Health()
        return found

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch for the length of the block, in which an event loop must run. What lives already is left out of
        collections: it will not become garbage, and looking through it takes longest."""
        task = asyncio.get_running_loop().create_task(self._tick())
        gc.collect()
        gc.freeze()
        gc.callbacks.append(self._collecting)
        try:
            yield
        finally:
            gc.callbacks.remove(self._collecting)
            gc.unfreeze()
            task.cancel()

    async def _tick(self) -> None:
        due = time.perf_counter() + TICK_S
        while True:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            now = time.perf_counter()
            late, health = now - due, self._health
            health.ticks += 1
            if late > LATE_S:
                health.stalls += 1
                health.stalled_s += late
                health.longest_stall_s = max(health.longest_stall_s, late)
            due = now + TICK_S

    def _collecting(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.perf_counter()
            return
        took, health = time.perf_counter() - self._began, self._health
        health.collections += 1
        health.collected_s += took
        health.longest_collection_s = max(health.longest_collection_s, took)
