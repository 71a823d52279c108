"""The HTTP server of a faulty engine: reads requests, asks the plan, answers by the application or in its place."""

from __future__ import annotations

import asyncio
import difflib
import logging
import signal
import socket
import ssl
import threading
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.types import ASGIApp

from prefixcache.errors import InputError
from prefixcache.reference.engine import Engine
from prefixcache.reference.faults.exchange import Exchange
from prefixcache.reference.faults.link import BadRequest, Link, LinkProtocol
from prefixcache.reference.faults.plan import STAGE, FaultPlan, Happening
from prefixcache.reference.faults.selection import Selection

REFUSED = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
BACKLOG = 2048
SHUTDOWN_S = 1

_log = logging.getLogger(__name__)


def front_of(app: Starlette, plan: FaultPlan) -> Front:
    """The front of an engine's application.

    Raises:
        InputError: the plan names series that the engine does not have.
    """
    engine: Engine = app.state.engine
    known = engine.metrics.families()
    for index, rule in enumerate(plan.rules):
        for name in rule.drop_series or ():
            if name.removesuffix("_total") not in known:
                near = difflib.get_close_matches(name, known, n=1)
                raise InputError(
                    f"the engine has no series {name!r}",
                    field=f"rules[{index}].drop_series",
                    remedy=f"write {near[0] if near else 'a name of its /metrics page'}.",
                    stage=STAGE,
                )
    return Front(app, engine, plan)


class Front:
    """Serves an application by a plan.

    Args:
        app: the engine's application.
        engine: what the plan restarts and resets.
        plan: what happens to whom.
    """

    def __init__(self, app: ASGIApp, engine: Engine, plan: FaultPlan) -> None:
        self._app = app
        self._engine = engine
        self._selection = Selection(plan)
        self._links: set[Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self, listener: socket.socket, accepting: Callable[[], None], tls: ssl.SSLContext | None = None) -> None:
        """Serve on a bound socket until SIGTERM or SIGINT."""

        async def until_told() -> None:
            stop = asyncio.Event()
            if threading.current_thread() is threading.main_thread():
                for number in (signal.SIGINT, signal.SIGTERM):
                    asyncio.get_running_loop().add_signal_handler(number, stop.set)
            await self.serve(listener, accepting, stop, tls)

        asyncio.run(until_told())

    async def serve(
        self,
        listener: socket.socket,
        accepting: Callable[[], None],
        stop: asyncio.Event,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Serve on a bound socket until ``stop`` is set."""
        self._address = listener.getsockname()[:2]
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: LinkProtocol(self), sock=listener, ssl=tls, backlog=BACKLOG)
        accepting()
        await stop.wait()
        server.close()
        for link in list(self._links):
            if not link.busy:
                link.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=SHUTDOWN_S)
        for link in list(self._links):
            link.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def converse(self, link: Link) -> None:
        """All requests of one connection, one after the other."""
        task = asyncio.current_task()
        assert task is not None
        self._links.add(link)
        self._tasks.add(task)
        try:
            await self._requests(link)
        except BadRequest:
            await link.write(REFUSED)
        except asyncio.CancelledError:
            pass  # the server ends
        except Exception:
            _log.exception("a request failed")
        finally:
            self._links.discard(link)
            self._tasks.discard(task)
            if not link.ended:
                link.close()

    async def _requests(self, link: Link) -> None:
        while (request := await link.read()) is not None:
            faults = self._selection.of(request.method, request.path, request.body)
            if faults is not None:
                self._prepare(faults, link)
            exchange = Exchange(link, self._app, request, faults, self._address)
            link.busy = True
            await exchange.run()
            link.busy = False
            if exchange.closes or link.gone.is_set():
                return
            if faults is not None and faults.keep_alive == "close_on_next":
                await link.read()
                return

    def _prepare(self, faults: Happening, link: Link) -> None:
        """What happens to the engine before the request reaches it."""
        if faults.restart:
            for other in self._links - {link}:
                other.reset()
            self._engine.restart()
        if faults.reset_counters:
            self._engine.reset_counters()
        if faults.drop_series:
            self._engine.drop_series(faults.drop_series)
