"""What the sender and its workers say to each other: pickled tuples, each behind its length."""

from __future__ import annotations

import asyncio
import pickle
import struct
from typing import Any

_LENGTH = struct.Struct("!I")


def write_message(writer: asyncio.StreamWriter, message: tuple[Any, ...]) -> None:
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
