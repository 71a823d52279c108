"""One real server at a time, started when a test asks for it and kept until one asks for another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.real.environment.server import Engine, RealServer
from tests.real.environment.venvs import Unavailable


class Shelf:
    """Holds the server that runs."""

    def __init__(self) -> None:
        self._running: RealServer | None = None
        self._refused: dict[type, str] = {}

    def take(self, engine: Engine) -> RealServer:
        """The server of this engine; skips the test if it cannot be had here."""
        if self._running is not None and self._running.engine == engine:
            return self._running
        self.clear()
        if type(engine) in self._refused:
            pytest.skip(self._refused[type(engine)])
        try:
            self._running = RealServer(engine).__enter__()
        except Unavailable as error:
            reason = self._refused[type(engine)] = f"{type(engine).__name__} cannot be had here: {error}"
            pytest.skip(reason)
        return self._running

    def clear(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.__exit__(None, None, None)


@pytest.fixture(scope="session")
def shelf() -> Iterator[Shelf]:
    held = Shelf()
    yield held
    held.clear()


@pytest.fixture(scope="session")
def server_of(shelf: Shelf) -> Callable[[Engine], RealServer]:
    return shelf.take
