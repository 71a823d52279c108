"""What the sender and its workers say to each other: pickled tuples, each behind its length."""

from __future__ import annotations

import asyncio
import pickle
import struct
from collections.abc import Callable
from typing import Any, Protocol

_LENGTH = struct.Struct("!I")


class Writes(Protocol):
    """Where bytes go."""

    def write(self, data: bytes) -> None: ...


def write_message(writer: Writes, message: tuple[Any, ...]) -> None:
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    writer.write(_LENGTH.pack(len(data)) + data)


async def read_message(reader: asyncio.StreamReader) -> tuple[Any, ...] | None:
    """The next message; None when the other side is gone."""
    try:
        [length] = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        message: tuple[Any, ...] = pickle.loads(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return message


class Incoming(asyncio.Protocol):
    """Hands on messages as they come. No task reads them, since one would end with all others when the process is told
    to end, and who waits for a last message would wait for ever.

    Args:
        on_message: takes each message.
        on_end: is called when the other side is gone.
    """

    def __init__(self, on_message: Callable[[tuple[Any, ...]], None], on_end: Callable[[], None]) -> None:
        self._on_message, self._on_end = on_message, on_end
        self._data = bytearray()

    def data_received(self, data: bytes) -> None:
        self._data += data
        while len(self._data) >= _LENGTH.size:
            [length] = _LENGTH.unpack_from(self._data)
            end = _LENGTH.size + length
            if len(self._data) < end:
                return
            message = pickle.loads(memoryview(self._data)[_LENGTH.size : end].tobytes())
            del self._data[:end]
            self._on_message(message)

    def connection_lost(self, error: Exception | None) -> None:
        self._on_end()
