"""Telling the user what a run waits for when nothing happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

FIRST_NOTE_S = 10.0
"""Silence after which the first note is given; the next ones after twice as long each."""


Result = TypeVar("Result")


async def noted(work: Awaitable[Result], tell: Callable[[], None]) -> Result:
    """Wait for ``work``, and call ``tell`` once if it takes longer than the first note waits."""
    timer = asyncio.get_running_loop().call_later(FIRST_NOTE_S, tell)
    try:
        return await work
    finally:
        timer.cancel()


@dataclass(slots=True)
class InFlight:
    """Requests that were sent and have not ended: id → (endpoint, since when)."""

    requests: dict[str, tuple[str, float]] = field(default_factory=dict)
    quiet_since: float = field(default_factory=time.perf_counter)

    def sent(self, request_id: str, endpoint: str) -> None:
        self.requests[request_id] = (endpoint, time.perf_counter())

    def ended(self, request_id: str) -> None:
        self.requests.pop(request_id, None)
        self.quiet_since = time.perf_counter()

    def note(self, idle: float) -> str:
        """One sentence: the oldest request, where it was sent, since when, and when it will be given up."""
        if not self.requests:
            return ""
        request_id, (endpoint, since) = next(iter(self.requests.items()))
        more = f" and {len(self.requests) - 1} more" if len(self.requests) > 1 else ""
        return (
            f"waiting for {endpoint} to answer request {request_id}{more}, {time.perf_counter() - since:.0f} s so far; "
            f"a request fails after {idle:g} s without a byte (--timeout)"
        )

    @asynccontextmanager
    async def watched(self, idle: float, tell: Callable[[str], None]) -> AsyncIterator[None]:
        """Call ``tell`` with a note whenever nothing has ended for long."""
        task = asyncio.create_task(self._watch(idle, tell))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _watch(self, idle: float, tell: Callable[[str], None]) -> None:
        patience, seen = FIRST_NOTE_S, self.quiet_since
        while True:
            await asyncio.sleep(FIRST_NOTE_S / 10)
            if self.quiet_since != seen:
                patience, seen = FIRST_NOTE_S, self.quiet_since
            if time.perf_counter() - seen >= patience and (note := self.note(idle)):
                patience *= 2
                tell(note)
