"""The worker processes of a run, seen from the process that plans."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from prefixcache.engines.http import Connection, Timeouts
from prefixcache.errors import EnvironmentFailure
from prefixcache.load.processes import worker
from prefixcache.load.processes.messages import Incoming, write_message
from prefixcache.load.request.client import CompletionClient
from prefixcache.load.request.client import stopped as stopped_error
from prefixcache.load.request.outcome import Outcome
from prefixcache.load.sending.health import Health
from prefixcache.load.sending.prompts import Prompt
from prefixcache.load.sending.routes import Target

START_S = 60.0
CLOCK_TOLERANCE_S = 0.001
STOP_S = 5.0
"""A worker that was told to stop a request tells what is known of it within so long."""
ENDED: tuple[str] = ("ended",)


@dataclass(slots=True)
class _Waiting:
    future: asyncio.Future[Outcome | None]
    on_first_token: Callable[[], None] | None


@dataclass(slots=True)
class _Worker:
    process: Any
    writer: asyncio.Transport = field(init=False)
    waiting: dict[int, _Waiting] = field(default_factory=dict)
    answers: asyncio.Queue[tuple[Any, ...]] = field(default_factory=asyncio.Queue)
    lost: bool = False


class Fleet:
    """Worker processes; use as a context manager.

    Args:
        count: processes.
        timeouts, connection: how servers are reached.

    Raises:
        EnvironmentFailure: they cannot be started, or do not share the clock.
    """

    def __init__(self, count: int, timeouts: Timeouts, connection: Connection | None = None) -> None:
        self.count = count
        self._arguments = (timeouts, connection or Connection())
        self._workers: list[_Worker] = []
        self._clients: dict[int, tuple[CompletionClient, CompletionClient]] = {}
        self._number = 0

    async def __aenter__(self) -> Fleet:
        context = multiprocessing.get_context("spawn")
        try:
            for _ in range(self.count):
                mine, its = socket.socketpair()
                process = context.Process(target=worker.main, args=(its, *self._arguments), daemon=True)
                process.start()
                its.close()
                found = _Worker(process)
                found.writer = await self._listen(found, mine)
                self._workers.append(found)
            async with asyncio.timeout(START_S):
                for each in self._workers:
                    await self._check_clock(each)
        except (OSError, TimeoutError) as error:
            await self.__aexit__()
            raise _failed(f"the sender processes did not start ({error or 'no answer in time'})") from error
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exception: object) -> None:
        for each in self._workers:
            each.writer.close()
        for each in self._workers:
            await asyncio.to_thread(each.process.join, 2.0)
            if each.process.is_alive():
                each.process.kill()
                await asyncio.to_thread(each.process.join)
        self._workers = []

    def client(self, template: CompletionClient) -> FleetClient:
        """A client like ``template`` whose requests the workers carry."""
        return FleetClient(template, self)

    async def health(self) -> Health:
        """What all workers saw of themselves since the last time."""
        total = Health()
        for each in self._workers:
            if each.lost:
                continue
            write_message(each.writer, ("health",))
            answer = await each.answers.get()
            if answer != ENDED:
                total.add(answer[1])
        return total

    async def send(
        self,
        client: CompletionClient,
        prompt: Prompt,
        target: Target,
        on_first_token: Callable[[], None] | None,
        at: float | None,
    ) -> Outcome:
        """``CompletionClient.attempts`` in the worker that has least to do.

        Raises:
            SenderEnded: the worker is gone.
        """
        found = min((w for w in self._workers if not w.lost), key=lambda w: len(w.waiting), default=None)
        if found is None:
            raise _failed("all sender processes have ended")
        key = self._known(client)
        self._number += 1
        number = self._number
        waiting = found.waiting[number] = _Waiting(asyncio.get_running_loop().create_future(), on_first_token)
        write_message(found.writer, ("send", number, key, prompt, target, at))
        try:
            outcome = await asyncio.shield(waiting.future)
        except asyncio.CancelledError:
            if not found.lost:
                write_message(found.writer, ("cancel", number))
            raise stopped_error(await _last_word(waiting.future) or Outcome(attempts=1)) from None
        finally:
            found.waiting.pop(number, None)
        if outcome is None:
            raise SenderEnded()
        return outcome

    def _known(self, client: CompletionClient) -> int:
        """Tell the workers of a client once; its key."""
        key = id(client)
        if self._clients.get(key, (None,))[0] is not client:
            plain = replace(client, wire=None, counter=None)  # type: ignore[arg-type]
            self._clients[key] = (client, plain)
            for each in self._workers:
                write_message(each.writer, ("client", key, plain))
        return key

    async def _listen(self, found: _Worker, channel: socket.socket) -> asyncio.Transport:
        def take(message: tuple[Any, ...]) -> None:
            match message:
                case ("first", number):
                    waiting = found.waiting.get(number)
                    if waiting is not None and waiting.on_first_token is not None:
                        waiting.on_first_token()
                case ("done" | "stopped", number, outcome):
                    waiting = found.waiting.get(number)
                    if waiting is not None and not waiting.future.done():
                        waiting.future.set_result(outcome)
                case _:
                    found.answers.put_nowait(message)

        def end() -> None:
            found.lost = True
            found.answers.put_nowait(ENDED)  # for who waits for an answer that will never come
            for waiting in found.waiting.values():
                if not waiting.future.done():
                    waiting.future.set_result(None)

        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(lambda: Incoming(take, end), sock=channel)
        return transport

    async def _check_clock(self, found: _Worker) -> None:
        before = time.perf_counter()
        write_message(found.writer, ("clock",))
        answer = await found.answers.get()
        if answer == ENDED:
            raise _failed("a sender process ended before it began")
        clock = answer[1]
        after = time.perf_counter()
        if not before - CLOCK_TOLERANCE_S <= clock <= after + CLOCK_TOLERANCE_S:
            raise _failed("the processes of this system do not share a monotonic clock")


@dataclass(frozen=True, slots=True)
class FleetClient:
    """Sends like the :class:`CompletionClient` it was made of, through a fleet."""

    template: CompletionClient
    fleet: Fleet

    async def complete(
        self,
        prompt: Prompt,
        target: Target,
        on_first_token: Callable[[], None] | None = None,
        at: float | None = None,
    ) -> Outcome:
        """As :meth:`CompletionClient.complete`."""
        outcome = await self.fleet.send(self.template, prompt, target, on_first_token, at)
        await self.template.count(outcome)
        return outcome


async def _last_word(future: asyncio.Future[Outcome | None]) -> Outcome | None:
    """What the worker tells of a request that it was to stop; whoever ends a run asks more than once."""
    ends = time.perf_counter() + STOP_S
    while not future.done() and (left := ends - time.perf_counter()) > 0:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait((future,), timeout=left)
    return future.result() if future.done() else None


class SenderEnded(EnvironmentFailure):
    """A worker ended in the middle of the run; ``outcome`` is what is known of the request that it carried."""

    def __init__(self) -> None:
        told = _failed("a sender process ended in the middle of the run")
        super().__init__(told.message, field=told.field, remedy=told.remedy, stage=told.stage)
        self.outcome = Outcome(
            status="cancelled", failure="cancelled", error="the sender process that carried it ended", attempts=1
        )


def _failed(message: str) -> EnvironmentFailure:
    return EnvironmentFailure(
        message, field="processes", remedy="Run again, with --processes 1 if it persists.", stage="run_benchmark"
    )
