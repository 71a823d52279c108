"""Sending a list of planned requests in send order, each behind its gate: through slots, or by the clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from prefixcache.errors import EnvironmentFailure
from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.records.recording import Way, record_of
from prefixcache.load.records.rows import Phase, RequestRecord
from prefixcache.load.records.sampler import Sampler
from prefixcache.load.request.client import stopped_outcome
from prefixcache.load.sending.carrier import Sends
from prefixcache.load.sending.gate import Gates
from prefixcache.load.sending.pace import Pace, Slots, Unsent
from prefixcache.load.sending.routes import Router
from prefixcache.load.sending.waiting import InFlight
from prefixcache.load.shapes.model import Closed
from prefixcache.load.shapes.rates import Floats

AHEAD_S = 0.05
"""An open loop takes up a request so long before it is due: by then its prompt is read, its body made and its
connection open. Requests due at once so leave in send order, although some need new connections."""
APART_S = 2e-5
"""Requests due at the same moment are sent so far apart at least, so that they leave in send order."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends the requests of one pass.

    Args:
        dataset, client, router: what is sent, by whom, where.
        pace: when.
        pass_name: for the records.
        began: ``time.perf_counter`` at the beginning of the pass.
        on_record: takes each record as it is made; what it raises stops the sending.
        in_flight: is told what was sent and has not ended.
        sampler: is told what was sent and whose first token came.
    """

    dataset: RunDataset
    client: Sends
    router: Router
    pace: Pace
    pass_name: str
    began: float
    on_record: Callable[[RequestRecord], None]
    in_flight: InFlight = field(default_factory=InFlight)
    sampler: Sampler | None = None

    async def send(self, requests: Sequence[Planned], phase: Phase, gates: Gates, start: int = 0) -> dict[int, Unsent]:
        """Send all from number ``start`` on; returns when the last one has ended.

        The clock of the load begins now (an open loop's 50 ms later), after the requests before ``start``.

        Returns:
            The numbers of requests that a bound kept from being sent, and which bound.

        Raises:
            Whatever ``on_record`` raises, after the requests in flight were cancelled and recorded.
        """
        # By the clock, the first ones too are to be ready when they are due.
        now = time.perf_counter() + (0.0 if self.pace.offsets is None else AHEAD_S)
        origin = self.pace.origin(start, now)
        sending = _Sending(self, requests, phase, gates, start, origin)
        try:
            await sending.run()
        except BaseExceptionGroup as group_error:
            raise group_error.exceptions[0] from None
        return sending.unsent


class _Sending:
    """One call of ``send``."""

    def __init__(
        self, sender: Sender, requests: Sequence[Planned], phase: Phase, gates: Gates, start: int, origin: float
    ) -> None:
        self.sender = sender
        self.requests = requests
        self.phase = phase
        self.gates = gates
        self.origin = origin
        self.ends = sender.pace.ends(origin)
        self.unsent: dict[int, Unsent] = {}
        self._numbers = iter(range(start, len(requests)))

    async def run(self) -> None:
        pace = self.sender.pace
        if isinstance(pace.shape, Closed):
            await self._closed(pace.shape)
        else:
            assert pace.offsets is not None
            await self._open(pace.offsets, Slots(pace.max_in_flight))

    # Closed loop: a slot takes the next request when it is free.

    async def _closed(self, shape: Closed) -> None:
        drained = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for slot in range(min(shape.most, len(self.requests))):
                group.create_task(self._slot(shape, slot, self._numbers, drained))
        load_ends = float("inf") if shape.ends_s is None else self.origin + shape.ends_s
        why: Unsent = "duration" if self.ends <= load_ends else "load"
        self.unsent |= dict.fromkeys(self._numbers, why)

    async def _slot(self, shape: Closed, slot: int, numbers: Iterator[int], drained: asyncio.Event) -> None:
        while await self._may_take(shape, slot, drained):
            number = next(numbers, None)
            if number is None:
                drained.set()
                return
            await self._one(number, time.perf_counter())

    async def _may_take(self, shape: Closed, slot: int, drained: asyncio.Event) -> bool:
        """Wait until the stages give the slot a request; False when there will be none."""
        while True:
            now = time.perf_counter()
            opens = shape.opens_s(slot, now - self.origin)
            if drained.is_set() or opens is None or max(now, self.origin + opens) > self.ends:
                return False
            wait = self.origin + opens - now
            if wait <= 0:
                return True
            try:
                await asyncio.wait_for(drained.wait(), wait)
            except TimeoutError:
                continue

    # Open loop: each request has its moment, whatever became of those before.

    async def _open(self, offsets: Floats, slots: Slots) -> None:
        scheduled = int(min(len(offsets), len(self.requests)))
        at = float("-inf")
        async with asyncio.TaskGroup() as group:
            for number in self._numbers:
                if number >= scheduled:
                    self._leave(number, "load")
                    break
                due = self.origin + float(offsets[number])
                if due > self.ends:
                    self._leave(number, "duration")
                    break
                # Also when late: those that were taken up must come to their turn.
                await asyncio.sleep(max(0.0, due - AHEAD_S - time.perf_counter()))
                ready = max(due, await slots.take())
                if ready > self.ends:
                    self._leave(number, "duration")
                    break
                at = max(due, at + APART_S)
                group.create_task(self._one(number, ready, due, at, slots))

    def _leave(self, first: int, why: Unsent) -> None:
        """The request and all behind it are not sent."""
        self.unsent |= dict.fromkeys((first, *self._numbers), why)

    async def _one(
        self, number: int, ready: float, due: float | None = None, at: float = 0.0, slots: Slots | None = None
    ) -> None:
        """Send one request when its gate is open, not before ``at``."""
        sender, planned = self.sender, self.requests[number]
        try:
            prompt = sender.dataset.prompt(planned, warmup=self.phase == "warmup")
            target = sender.router.target(planned, number)
            ticket = await self.gates.pass_through(number)
            opened = ready if ticket.opened is None else max(ready, ticket.opened)
            if max(opened, time.perf_counter()) > self.ends:
                self.unsent[number] = "duration"
                return
            way = Way(sender.pass_name, sender.began, self.phase, target, ready, opened, due, ticket.broken)
            sender.in_flight.sent(planned.request_id, target.endpoint.base)
            if sender.sampler is not None:
                sender.sampler.sent()
            try:
                outcome = await sender.client.complete(
                    prompt, target, lambda: self._first_token(number), at if at > time.perf_counter() else None
                )
            except (asyncio.CancelledError, EnvironmentFailure) as error:
                stopped = stopped_outcome(error)
                if stopped is not None:
                    sender.on_record(record_of(planned, way, stopped))
                raise
            finally:
                sender.in_flight.ended(planned.request_id)
        finally:
            self.gates.ended(number)
            if slots is not None:
                slots.release()
        sender.on_record(record_of(planned, way, outcome))

    def _first_token(self, number: int) -> None:
        self.gates.first_token(number)
        if self.sender.sampler is not None:
            self.sender.sampler.first_token(number, self.requests[number])
