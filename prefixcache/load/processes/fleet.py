"""The worker processes of a run, seen from the process that plans."""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from prefixcache.engines.http import Connection, Timeouts
from prefixcache.errors import EnvironmentFailure
from prefixcache.load.client import CompletionClient
from prefixcache.load.client import stopped as stopped_error
from prefixcache.load.health import Health
from prefixcache.load.outcome import Outcome
from prefixcache.load.processes import worker
from prefixcache.load.processes.messages import read_message, write_message
from prefixcache.load.prompts import Prompt
from prefixcache.load.routes import Target

START_S = 60.0
CLOCK_TOLERANCE_S = 0.001


@dataclass(slots=True)
class _Waiting:
    future: asyncio.Future[Outcome | None]
    on_first_token: Callable[[], None] | None


@dataclass(slots=True)
class _Worker:
    process: Any
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    task: asyncio.Task[None] | None = None
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
                reader, writer = await asyncio.open_connection(sock=mine)
                found = _Worker(process, reader, writer)
                found.task = asyncio.create_task(self._listen(found))
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
            if each.task is not None:
                each.task.cancel()
        await asyncio.gather(*(each.task for each in self._workers if each.task is not None), return_exceptions=True)
        for each in self._workers:
            await asyncio.to_thread(each.process.join, 2.0)
            if each.process.is_alive():
                each.process.kill()
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
            total.add((await each.answers.get())[1])
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
            EnvironmentFailure: the worker is gone.
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
            if found.lost:
                raise
            write_message(found.writer, ("cancel", number))
            outcome = await waiting.future
            raise stopped_error(outcome or Outcome()) from None
        finally:
            found.waiting.pop(number, None)
        if outcome is None:
            raise _failed("a sender process ended in the middle of the run")
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

    async def _listen(self, found: _Worker) -> None:
        while (message := await read_message(found.reader)) is not None:
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
        found.lost = True
        for waiting in found.waiting.values():
            if not waiting.future.done():
                waiting.future.set_result(None)

    async def _check_clock(self, found: _Worker) -> None:
        before = time.perf_counter()
        write_message(found.writer, ("clock",))
        clock = (await found.answers.get())[1]
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


def _failed(message: str) -> EnvironmentFailure:
    return EnvironmentFailure(
        message, field="processes", remedy="Run again, with --processes 1 if it persists.", stage="run_benchmark"
    )
