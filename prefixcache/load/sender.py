"""Sending a list of planned requests through a fixed number of slots, in send order, each behind its gate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from prefixcache.load.client import CompletionClient, Outcome, stopped_outcome
from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.gate import Gates, Ticket
from prefixcache.load.records import Phase, RequestRecord
from prefixcache.load.routes import Router, Target
from prefixcache.load.waiting import InFlight


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends the requests of one pass.

    Args:
        dataset, client, router: what is sent, by whom, where.
        concurrency: slots.
        pass_name: for the records.
        began: ``time.perf_counter`` at the beginning of the pass.
        on_record: takes each record as it is made; what it raises stops the sending.
        in_flight: is told what was sent and has not ended.
    """

    dataset: RunDataset
    client: CompletionClient
    router: Router
    concurrency: int
    pass_name: str
    began: float
    on_record: Callable[[RequestRecord], None]
    in_flight: InFlight = field(default_factory=InFlight)

    async def send(self, requests: Sequence[Planned], phase: Phase, gates: Gates, start: int = 0) -> None:
        """Send all from number ``start`` on; returns when the last one has ended.

        Raises:
            Whatever ``on_record`` raises, after the requests in flight were cancelled and recorded.
        """
        numbers = iter(range(start, len(requests)))
        slots = min(self.concurrency, len(requests))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(slots):
                    group.create_task(self._slot(numbers, requests, phase, gates))
        except BaseExceptionGroup as group_error:
            raise group_error.exceptions[0] from None

    async def _slot(self, numbers: Iterator[int], requests: Sequence[Planned], phase: Phase, gates: Gates) -> None:
        for number in numbers:
            await self._one(number, requests[number], phase, gates)

    async def _one(self, number: int, planned: Planned, phase: Phase, gates: Gates) -> None:
        ready = time.perf_counter()
        prompt = self.dataset.prompt(planned, warmup=phase == "warmup")
        target = self.router.target(planned, number)
        waited_from = time.perf_counter()
        ticket = await gates.pass_through(number)
        times = (ready, time.perf_counter() - waited_from)
        self.in_flight.sent(planned.request_id, target.endpoint.base)
        try:
            outcome = await self.client.complete(prompt, target, lambda: gates.first_token(number))
        except asyncio.CancelledError as error:
            stopped = stopped_outcome(error)
            if stopped is not None:
                self.on_record(self._record(planned, phase, target, ticket, times, stopped))
            raise
        finally:
            self.in_flight.ended(planned.request_id)
            gates.ended(number)
        self.on_record(self._record(planned, phase, target, ticket, times, outcome))

    def _record(
        self,
        planned: Planned,
        phase: Phase,
        target: Target,
        ticket: Ticket,
        times: tuple[float, float],
        outcome: Outcome,
    ) -> RequestRecord:
        ready, gate_wait = times
        return RequestRecord(
            pass_name=self.pass_name,
            request_id=planned.request_id,
            prefix_group_id=planned.group,
            order_index=planned.order_index,
            phase=phase,
            endpoint=target.endpoint.base,
            planned_dp_id=planned.domain,
            planned_route=planned.route,
            actual_route=target.actual_route if outcome.served_rank is None else outcome.served_rank,
            ready_s=ready - self.began,
            sent_s=self._since(outcome.sent),
            first_byte_s=self._since(outcome.first_byte),
            first_token_s=self._since(outcome.first_token),
            last_token_s=self._since(outcome.last_token),
            gate_wait_s=gate_wait,
            lag_s=None if outcome.sent is None else outcome.sent - ready - gate_wait,
            gate_broken=ticket.broken,
            input_len=planned.input_len,
            prompt_tokens=outcome.usage.prompt_tokens,
            completion_tokens=outcome.usage.completion_tokens,
            cached_tokens=outcome.usage.cached_tokens,
            expected_hit_len=planned.hits.get(self.pass_name),
            http_status=outcome.http_status,
            status=outcome.status,
            error=outcome.error,
            output_len=planned.output_len,
            odd_usage=outcome.usage.odd,
        )

    def _since(self, moment: float | None) -> float | None:
        return None if moment is None else moment - self.began
