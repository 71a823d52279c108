"""Servers that take prompts through the chat route alone, with the reference engine behind them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from prefixcache.reference.options import EngineOptions
from prefixcache.reference.server import build_app
from tests.probe.serving import served

PROMPTS = ("/v1/completions", "/generate")


class Without:
    """An application some of whose routes are absent.

    Args:
        app: the application.
        paths: the routes.
        status: of their answers.
    """

    def __init__(self, app: Any, paths: Collection[str], status: int = 404) -> None:
        self.app, self.paths, self.status = app, paths, status

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] not in self.paths:
            await self.app(scope, receive, send)
            return
        while (await receive()).get("more_body"):
            pass
        head = {"type": "http.response.start", "status": self.status, "headers": [(b"content-length", b"2")]}
        await send(head)
        await send({"type": "http.response.body", "body": b"{}"})


@contextmanager
def chat_only(*absent: str, status: int = 404, **options: Any) -> Iterator[str]:
    """The URL of an engine without routes for completions, nor those of ``absent``."""
    with served(Without(build_app(EngineOptions("embedded", **options)), (*PROMPTS, *absent), status)) as url:
        yield url
