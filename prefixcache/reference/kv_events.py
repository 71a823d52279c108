"""What the engine tells of its cache: blocks stored, removed, cleared, published as vLLM does it.

Messages are ``[topic, number of 8 bytes, MessagePack of [time, [events], rank]]`` on a ZeroMQ PUB socket, one an
admission or decode step; who missed some asks the replay socket (ROUTER) with the first number and gets all since,
ended by the number -1. A rank publishes at the port plus its number.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections import deque
from collections.abc import Iterable
from importlib import import_module
from itertools import chain
from typing import Any

from prefixcache.errors import EnvironmentFailure
from prefixcache.reference.cache import Change, Cleared, Removed, Stored
from prefixcache.reference.options import EngineOptions

TOPIC = b"kv"
KEPT = 10_000
"""Batches that can be asked for again."""
POLL_MS = 100
END = (-1).to_bytes(8, "big", signed=True)


class EventPublisher:
    """The publisher of one rank.

    Args:
        options: where (``kv_events``, ``kv_events_replay``) and the tokens of a block.
        rank: number of the rank.

    Raises:
        EnvironmentFailure: a port cannot be had.
    """

    def __init__(self, options: EngineOptions, rank: int) -> None:
        self._zmq, self._msgpack = import_module("zmq"), import_module("msgpack")
        self._rank, self._block_size = rank, options.unit
        self._kept: deque[tuple[bytes, bytes]] = deque(maxlen=KEPT)
        self._next = 0
        context = self._zmq.Context.instance()
        self._socket = context.socket(self._zmq.PUB)
        self._socket.set_hwm(0)
        self._bind(self._socket, options.kv_events)
        if options.kv_events_replay:
            replay = context.socket(self._zmq.ROUTER)
            self._bind(replay, options.kv_events_replay)
            threading.Thread(target=self._repeat, args=(replay,), name="kv-replay", daemon=True).start()

    def tell(self, changes: Iterable[Change], prompt: array[int], output: list[int]) -> None:
        """Publish changes of the cache; those stored are blocks of these tokens."""
        events = [self._event(change, prompt, output) for change in changes]
        if not events:
            return
        payload = self._msgpack.packb([time.time(), events, self._rank])
        number = self._next.to_bytes(8, "big")
        self._next += 1
        self._kept.append((number, payload))
        self._socket.send_multipart([TOPIC, number, payload])

    def _event(self, change: Change, prompt: array[int], output: list[int]) -> dict[str, Any]:
        match change:
            case Stored(keys, parent, begin):
                size = self._block_size
                wanted = range(begin * size, (begin + len(keys)) * size)
                tokens = list(chain(prompt[wanted.start : wanted.stop], self._generated(wanted, prompt, output)))
                return {
                    "type": "BlockStored",
                    "block_hashes": [_hash(key) for key in keys],
                    "parent_block_hash": None if parent is None else _hash(parent),
                    "token_ids": tokens,
                    "block_size": size,
                    "lora_id": None,
                    "medium": "GPU",
                }
            case Removed(key):
                return {"type": "BlockRemoved", "block_hashes": [_hash(key)], "medium": "GPU"}
            case Cleared():
                return {"type": "AllBlocksCleared"}

    @staticmethod
    def _generated(wanted: range, prompt: array[int], output: list[int]) -> list[int]:
        begin, end = max(wanted.start - len(prompt), 0), max(wanted.stop - len(prompt), 0)
        return output[begin:end]

    def _bind(self, socket: Any, address: str) -> None:
        begin, _, port = address.rpartition(":")
        try:
            socket.bind(f"{begin}:{int(port) + self._rank}")
        except (self._zmq.ZMQError, ValueError) as error:
            socket.close(linger=0)  # an open one keeps the process from ending
            raise EnvironmentFailure(
                f"KV events cannot be published at {address} plus {self._rank} ({error})",
                field="kv_events",
                stage="reference engine",
                remedy="write tcp://*:PORT with a port that is free, and as many behind it as there are ranks",
            ) from None

    def _repeat(self, socket: Any) -> None:
        while True:
            if not socket.poll(POLL_MS):
                continue
            frames = socket.recv_multipart()
            begin = int.from_bytes(frames[-1], "big")
            for number, payload in list(self._kept):
                if int.from_bytes(number, "big") >= begin:
                    socket.send_multipart([frames[0], b"", TOPIC, number, payload])
            socket.send_multipart([frames[0], b"", b"", END, b""])


def _hash(key: bytes) -> int:
    return int.from_bytes(key[:8], "big")
