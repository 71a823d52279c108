"""A sender process: carries the requests it is told to, when it is told to, and reports what became of them."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
from dataclasses import replace
from typing import Any

from prefixcache.engines.http import Connection, Timeouts
from prefixcache.load.processes.messages import read_message, write_message
from prefixcache.load.request.client import CompletionClient, stopped_outcome
from prefixcache.load.sending.health import Watcher
from prefixcache.load.wire.client import WireClient
from prefixcache.load.wire.connection import Route

GRACE_S = 10
"""Seconds after SIGTERM in which the planning process may end the worker in order."""


def main(channel: socket.socket, timeouts: Timeouts, connection: Connection) -> None:
    """Work until the other side of the channel is closed.

    Args:
        channel: to the process that plans.
        timeouts, connection: how servers are reached.
    """
    # Ctrl-C, and what ends a whole group of processes, goes to all; the planning process decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: signal.alarm(GRACE_S))
    asyncio.run(_Worker(channel, timeouts, connection).run())


class _Worker:
    def __init__(self, channel: socket.socket, timeouts: Timeouts, connection: Connection) -> None:
        self._channel = channel
        self._timeouts = timeouts
        self._route = Route.of(connection)
        self._clients: dict[int, CompletionClient] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._watcher = Watcher()

    async def run(self) -> None:
        reader, self._writer = await asyncio.open_connection(sock=self._channel)
        async with WireClient(self._timeouts, self._route) as self._wire:
            with self._watcher.watching():
                while (message := await read_message(reader)) is not None:
                    self._handle(*message)
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._writer.close()

    def _handle(self, what: str, *rest: Any) -> None:
        match what:
            case "clock":
                write_message(self._writer, ("clock", time.perf_counter()))
            case "client":
                key, client = rest
                self._clients[key] = replace(client, wire=self._wire)
            case "send":
                number = rest[0]
                self._tasks[number] = asyncio.create_task(self._send(*rest))
            case "cancel":
                if (found := self._tasks.get(rest[0])) is not None:
                    found.cancel()
            case "health":
                write_message(self._writer, ("health", self._watcher.take()))

    async def _send(self, number: int, key: int, prompt: Any, target: Any, at: float | None) -> None:
        def first() -> None:
            write_message(self._writer, ("first", number))

        try:
            outcome = await self._clients[key].attempts(prompt, target, first, at)
        except asyncio.CancelledError as error:
            stopped = stopped_outcome(error)
            with contextlib.suppress(OSError):
                write_message(self._writer, ("stopped", number, stopped))
            return
        finally:
            self._tasks.pop(number, None)
        write_message(self._writer, ("done", number, outcome))
        await self._writer.drain()
