"""KV events as a run keeps them: without token ids and without the engine's hashes.

Contents are numbered in the order in which they are first seen; a block's key is the one this product gives to its
tokens and all before them (:mod:`prefixcache.cache.blocks`, no salt), by which the requests of a dataset are known
again. Neither tells what a prompt says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from prefixcache.cache.blocks import U64, block_forms, mix
from prefixcache.engines.kv_events import DEVICE, AllCleared, BlockHash, BlocksRemoved, BlocksStored, KvBatch, KvEvent


@dataclass(slots=True)
class _Content:
    """What some blocks hold: its number, its place in the prompt in blocks and its key (None: the block before it was
    never seen), and how many blocks hold it."""

    number: int
    depth: int | None
    key: int | None
    copies: int


class KvLedger:
    """Turns the batches of one publisher into rows; keeps in memory only what its cache holds."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, BlockHash], _Content] = {}
        self._numbers = 0

    def rows(self, batch: KvBatch) -> list[dict[str, Any]]:
        """One row an event."""
        return [self._row(event) for event in batch.events]

    def _row(self, event: KvEvent) -> dict[str, Any]:
        match event:
            case BlocksStored():
                return self._stored(event) | _where(event)
            case BlocksRemoved():
                return self._removed(event) | _where(event)
            case AllCleared():
                self._known.clear()
                return {"kind": "cleared"}
            case _:
                return {"kind": "other", "name": event.name}

    def _stored(self, event: BlocksStored) -> dict[str, Any]:
        parent = None if event.parent is None else self._known.get((event.medium, event.group, event.parent))
        depth: int | None = 0
        above: int | None = 0
        if event.parent is not None:
            depth = None if parent is None or parent.depth is None else parent.depth + 1
            above = None if parent is None else parent.key
        keys = None if depth is None or above is None else _keys(event, depth, above)
        numbers = []
        for place, block_hash in enumerate(event.hashes):
            name = (event.medium, event.group, block_hash)
            content = self._known.get(name)
            if content is None:
                where = None if depth is None else depth + place
                key = None if keys is None else int(keys[place])
                content = self._known[name] = _Content(self._numbers, where, key, 0)
                self._numbers += 1
            content.copies += 1
            numbers.append(content.number)
        return {
            "kind": "stored",
            "depth": depth,
            "parent": None if parent is None else parent.number,
            "blocks": numbers,
            "keys": None if keys is None else [f"{int(key):016x}" for key in keys],
        }

    def _removed(self, event: BlocksRemoved) -> dict[str, Any]:
        numbers: list[int | None] = []
        for block_hash in event.hashes:
            name = (event.medium, event.group, block_hash)
            content = self._known.get(name)
            numbers.append(None if content is None else content.number)
            if content is not None:
                content.copies -= 1
                if not content.copies:
                    del self._known[name]
        return {"kind": "removed", "blocks": numbers}


def _where(event: BlocksStored | BlocksRemoved) -> dict[str, Any]:
    """Medium and group, where they are not the usual ones."""
    medium = {} if event.medium == DEVICE else {"medium": event.medium}
    return medium | ({"group": event.group} if event.group else {})


def _keys(event: BlocksStored, depth: int, above: int) -> U64 | None:
    """Keys of the event's blocks; None where their tokens are not all there."""
    if len(event.tokens) != len(event.hashes) * event.block_size:
        return None
    forms = block_forms(np.array(event.tokens, dtype=np.int32), event.block_size)
    with np.errstate(over="ignore"):
        places = np.arange(depth + 1, depth + 1 + len(forms), dtype=np.uint64)
        keys: U64 = np.cumsum(mix(forms ^ mix(places)), dtype=np.uint64) + np.uint64(above)
    return keys
