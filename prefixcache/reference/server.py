"""The reference engine as a server: vLLM's interface in front of a real block cache and a simulated accelerator."""

from __future__ import annotations

import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.reference.dialects.face import face_of
from prefixcache.reference.engine import Engine
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.protocol import RequestError
from prefixcache.reference.routes import json_response
from prefixcache.reference.vocabulary import Vocabulary

__all__ = ["EngineOptions", "build_app", "serve"]

KEEP_ALIVE_S = 30
SHUTDOWN_S = 1
"""How long running requests may go on once the engine is told to stop."""


def build_app(options: EngineOptions) -> Starlette:
    """The ASGI application of one engine; its ``state.engine`` is the engine itself.

    Raises:
        InputError: the tokenizer cannot be loaded.
    """
    engine = Engine(options, Vocabulary(options))
    routes = face_of(options.dialect).routes(engine)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestError)
        return json_response(routes.error_body(error), error.status)

    async def no_such_route(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        found = RequestError(error.detail, status=error.status_code, kind=error.detail)
        return json_response(routes.error_body(found), error.status_code)

    app = Starlette(routes=routes.table(), exception_handlers={RequestError: refused, HTTPException: no_such_route})
    app.state.engine = engine
    return app


def serve(
    options: EngineOptions, host: str = "127.0.0.1", port: int = 0, ready: Callable[[str], None] | None = None
) -> None:
    """Serve until SIGTERM or SIGINT, then return.

    Args:
        options: the engine.
        host, port: where to listen; port 0 takes a free one.
        ready: called with the URL once requests are accepted, when the line ``listening on URL`` is printed too.

    Raises:
        EnvironmentFailure: the address cannot be had.
        InputError: no address is named; the tokenizer, the fault plan or the certificate cannot be loaded.
    """
    if not host.strip():  # the system would take it for all addresses of the machine
        raise InputError(
            "is empty", field="host", stage="reference engine", remedy="write 127.0.0.1, or 0.0.0.0 for all addresses."
        )
    tls = _tls(options)
    plan = None
    if options.faults:
        from prefixcache.reference.faults.plan import load_plan  # knows the configuration's room: seconds of imports

        plan = load_plan(options.faults)
    with _bound(host, port) as listener:
        # Bound but not listening yet: nobody can connect before the tokenizer is there.
        app = build_app(options)
        shown = f"[{host}]" if ":" in host else host
        url = f"{'https' if tls else 'http'}://{shown}:{listener.getsockname()[1]}"

        def accepting() -> None:
            print(f"listening on {url}", flush=True)
            if ready is not None:
                ready(url)

        if plan is not None:
            from prefixcache.reference.faults.front import front_of

            front_of(app, plan).run(listener, accepting, tls)
            return
        config = uvicorn.Config(
            app,
            access_log=False,
            log_level="warning",
            lifespan="off",
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=SHUTDOWN_S,
            ssl_certfile=options.tls_cert or None,
            ssl_keyfile=options.tls_key or None,
        )
        _Server(config, accepting).run(sockets=[listener])


def _tls(options: EngineOptions) -> ssl.SSLContext | None:
    if not options.tls_cert:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(options.tls_cert, options.tls_key)
    except OSError as error:  # ssl.SSLError is one
        reason = error.strerror if error.errno and error.strerror else str(error)
        raise InputError(
            f"the certificate {options.tls_cert} and its key cannot be used: {reason}",
            field="tls_cert",
            stage="reference engine",
            remedy="give a certificate and its key as PEM files, the key without a password",
        ) from None
    return context


def _bound(host: str, port: int) -> socket.socket:
    # asyncio turns Nagle's delay (40 ms for the second small write) off only where the protocol is named.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise EnvironmentFailure(
            f"cannot listen on {host} port {port}: {error.strerror or error}",
            stage="reference engine",
            remedy="choose another port, 0 for a free one",
        ) from error
    return listener


class _Server(uvicorn.Server):
    """Uvicorn that tells when it accepts, and returns after a signal instead of raising it again."""

    def __init__(self, config: uvicorn.Config, accepting: Callable[[], None]) -> None:
        super().__init__(config)
        self._accepting = accepting

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._accepting()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread may set handlers; elsewhere the engine lives as long as the process
            return

        def stop(number: int, frame: FrameType | None) -> None:
            self.handle_exit(number, frame)

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
