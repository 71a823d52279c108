"""Faulty engines that end with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from prefixcache.reference.options import EngineOptions
from tests.reference.conftest import MODEL, B
from tests.reference.faults.support import Answer, Raw, faulty

COMPLETIONS = "/v1/completions"
CHAT = "/v1/chat/completions"


class Faulty:
    """A running engine and connections to it."""

    def __init__(self, port: int, stack: ExitStack) -> None:
        self.port = port
        self._stack = stack

    def connect(self) -> Raw:
        return self._stack.enter_context(Raw(self.port))

    def complete(self, tokens: int = 4, *, seconds: float = 20.0, **fields: Any) -> Answer:
        """A streamed completion on a connection of its own."""
        body = {"prompt": list(range(20, 60)), "max_tokens": tokens, "stream": True, **fields}
        return self.connect().ask(COMPLETIONS, body, seconds=seconds)

    def chat(self, tokens: int = 4, **fields: Any) -> Answer:
        body = {"messages": [{"role": "user", "content": "also the river"}], "max_tokens": tokens, "stream": True}
        return self.connect().ask(CHAT, {**body, **fields})

    def get(self, path: str) -> Answer:
        return self.connect().ask(path)

    def series(self) -> dict[str, float]:
        """Samples of /metrics by name and labels as written."""
        lines = self.get("/metrics").body.decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


StartFaulty = Callable[..., Faulty]


@pytest.fixture
def start_faulty(toy: str) -> Iterator[StartFaulty]:
    """Start an engine with these rules: ``start_faulty({"requests": 1, "status": 503}, decode_tps=100)``."""
    with ExitStack() as stack:

        def started(*rules: dict[str, Any], **fields: Any) -> Faulty:
            options = EngineOptions(toy, model=MODEL, block_size=B, num_blocks=1000, **fields)
            return Faulty(stack.enter_context(faulty(list(rules), options)), stack)

        yield started
