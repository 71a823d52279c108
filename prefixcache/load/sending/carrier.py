"""Who carries a run's requests: this process, or several of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from prefixcache.engines.http import Connection, Timeouts
from prefixcache.load.processes.fleet import Fleet
from prefixcache.load.request.client import CompletionClient
from prefixcache.load.request.outcome import Outcome
from prefixcache.load.sending.health import Health, Watcher
from prefixcache.load.sending.prompts import Prompt
from prefixcache.load.sending.routes import Target
from prefixcache.load.wire.client import WireClient
from prefixcache.load.wire.connection import Route


class Sends(Protocol):
    """Sends one request (:meth:`prefixcache.load.request.client.CompletionClient.complete`)."""

    async def complete(
        self,
        prompt: Prompt,
        target: Target,
        on_first_token: Callable[[], None] | None = None,
        at: float | None = None,
    ) -> Outcome: ...


@dataclass(slots=True)
class Carrier:
    """Carries requests and knows how well it kept time.

    Args:
        wire: of this process.
        fleet: the others, if there are any.
        watcher: of this process's event loop.
    """

    wire: WireClient
    fleet: Fleet | None
    watcher: Watcher

    @property
    def processes(self) -> int:
        return 1 if self.fleet is None else self.fleet.count

    def client(self, template: CompletionClient) -> Sends:
        """Who sends as ``template`` says."""
        return template if self.fleet is None else self.fleet.client(template)

    async def health(self) -> Health:
        """Of all processes together, since the last time it was asked for."""
        found = self.watcher.take()
        if self.fleet is not None:
            found.add(await self.fleet.health())
        return found


@asynccontextmanager
async def open_carrier(
    processes: int, timeouts: Timeouts | None = None, connection: Connection | None = None
) -> AsyncIterator[Carrier]:
    """A carrier of so many processes, closed at the end of the block.

    Raises:
        EnvironmentFailure: the processes cannot be started.
    """
    timeouts, connection = timeouts or Timeouts(), connection or Connection()
    watcher = Watcher()
    async with WireClient(timeouts, Route.of(connection)) as wire:
        if processes == 1:
            with watcher.watching():
                yield Carrier(wire, None, watcher)
            return
        async with Fleet(processes, timeouts, connection) as fleet:
            with watcher.watching():
                yield Carrier(wire, fleet, watcher)
