"""The reference engine in a thread of the test's own process: there in a moment, where a process takes seconds."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from prefixcache.reference.faults.front import front_of
from prefixcache.reference.faults.plan import load_plan
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.server import build_app

READY_S = 60.0


Rewrite = Callable[[str, bytes], bytes]
"""Path and body of an answer → the body that is sent in its place."""


class Rewritten:
    """An application whose answers of status 200 pass through ``rewrite``."""

    def __init__(self, app: Any, rewrite: Rewrite) -> None:
        self.app, self.rewrite = app, rewrite

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        head: dict[str, Any] = {}
        body = b""

        async def collect(message: Any) -> None:
            nonlocal body
            if message["type"] == "http.response.start":
                head.update(message)
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            if head["status"] == 200:
                body = self.rewrite(scope["path"], body)
            kept = [pair for pair in head["headers"] if pair[0].lower() != b"content-length"]
            await send({**head, "headers": [*kept, (b"content-length", str(len(body)).encode())]})
            await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, collect)


@contextmanager
def engine(rewrite: Rewrite | None = None, **options: Any) -> Iterator[str]:
    """Its URL, for the length of the block.

    Args:
        rewrite: what its answers are made into on their way.
        options: of the engine.
    """
    app: Any = build_app(EngineOptions("embedded", **options))
    if options.get("faults"):
        with faulty(app, options["faults"]) as url:
            yield url
        return
    with served(app if rewrite is None else Rewritten(app, rewrite)) as url:
        yield url


@contextmanager
def faulty(app: Any, plan: str) -> Iterator[str]:
    """The URL of an engine's application to whose requests a fault plan's file happens, for the length of the block."""
    front, ready, stop = front_of(app, load_plan(plan)), threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        await front.serve(listener, ready.set, stop, None)

    with _listener() as listener:
        thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
        thread.start()
        assert ready.wait(READY_S)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            loops[0].call_soon_threadsafe(stop.set)
            thread.join()


def _listener() -> socket.socket:
    # Named TCP, so that asyncio switches Nagle's algorithm off: it would hold every answer back for 40 ms.
    found = socket.socket(proto=socket.IPPROTO_TCP)
    found.bind(("127.0.0.1", 0))
    return found


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The URL of an ASGI application, for the length of the block."""
    with _listener() as listener:
        config = uvicorn.Config(app, access_log=False, log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        began = time.monotonic()
        while not server.started:
            assert thread.is_alive()
            assert time.monotonic() - began < READY_S
            time.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
