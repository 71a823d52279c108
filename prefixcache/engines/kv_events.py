"""The KV events that vLLM publishes: which blocks were stored, removed, cleared, batch by batch, one batch a step.

Wire format (vllm/distributed/kv_events.py): ZeroMQ messages ``[topic, number, payload]``; the payload is MessagePack of
``[timestamp, [events], rank]``. An event is a map with its name under ``type`` (0.11 and later) or an array that begins
with it (before). What a newer server adds is passed over; an event of another name is kept as its name alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from prefixcache.errors import InputError

BlockHash = int | bytes
"""As the engine made it: 64 bits of it as a number, or all of it."""
DEVICE = "GPU"
REMEDY = "Write it as tcp://HOST:PORT, the server's kv-events endpoint."
_STORED = ("block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id", "medium", "lora_name")
_REMOVED = ("block_hashes", "medium")


@dataclass(frozen=True, slots=True)
class BlocksStored:
    """Blocks one behind the other, known by their content from now on.

    Args:
        hashes: of the blocks. parent: of the block before the first, None at the beginning of a prompt.
        tokens: ids in all of them; empty where the engine leaves them out.
        block_size: tokens per block.
        medium: where they are; ``GPU`` is the device, whatever it is.
        group: KV cache group of a hybrid model, 0 elsewhere.
    """

    hashes: tuple[BlockHash, ...]
    parent: BlockHash | None
    tokens: tuple[int, ...]
    block_size: int
    medium: str = DEVICE
    group: int = 0


@dataclass(frozen=True, slots=True)
class BlocksRemoved:
    """Blocks that lost their content; one of several with equal content counts once."""

    hashes: tuple[BlockHash, ...]
    medium: str = DEVICE
    group: int = 0


@dataclass(frozen=True, slots=True)
class AllCleared:
    """The cache was reset."""


@dataclass(frozen=True, slots=True)
class OtherEvent:
    """An event of a newer server."""

    name: str


KvEvent = BlocksStored | BlocksRemoved | AllCleared | OtherEvent


@dataclass(frozen=True, slots=True)
class KvBatch:
    """The events of one step. ``timestamp``: the server's clock in seconds; ``rank``: None if it does not tell."""

    timestamp: float
    events: tuple[KvEvent, ...]
    rank: int | None


def decode_batch(payload: bytes) -> KvBatch:
    """Read one payload.

    Raises:
        ValueError: it is no batch of KV events.
    """
    msgpack = import_module("msgpack")
    try:
        value = msgpack.unpackb(payload, raw=False, strict_map_key=False)
    except Exception as error:  # the library raises a dozen kinds
        raise ValueError(f"the payload is not MessagePack ({error})") from None
    return batch_of(value)


def batch_of(value: Any) -> KvBatch:
    """A batch from its unpacked form, an array or a map.

    Raises:
        ValueError: it has another form.
    """
    if isinstance(value, Mapping):
        value = [value.get("ts"), value.get("events"), value.get("data_parallel_rank")]
    if not _is_list(value) or len(value) < 2 or not isinstance(value[0], int | float) or not _is_list(value[1]):
        raise ValueError("the payload is no batch of KV events")
    rank = value[2] if len(value) > 2 and isinstance(value[2], int) else None
    return KvBatch(float(value[0]), tuple(_event(each) for each in value[1]), rank)


def _event(value: Any) -> KvEvent:
    if isinstance(value, Mapping):
        name, fields = value.get("type"), dict(value)
    elif _is_list(value) and value:
        name = value[0]
        fields = dict(zip(_STORED if name == "BlockStored" else _REMOVED, value[1:], strict=False))
    else:
        raise ValueError("an event is neither a map nor an array")
    medium, group = fields.get("medium") or DEVICE, fields.get("group_idx") or 0
    match name:
        case "BlockStored":
            tokens, size = fields.get("token_ids") or (), fields.get("block_size")
            if not isinstance(size, int) or size < 1 or not _is_list(tokens):
                raise ValueError("BlockStored has no block size or no list of tokens")
            parent = fields.get("parent_block_hash")
            above = None if parent is None else _hash(parent)
            return BlocksStored(_hashes(fields), above, tuple(tokens), size, medium, group)
        case "BlockRemoved":
            return BlocksRemoved(_hashes(fields), medium, group)
        case "AllBlocksCleared":
            return AllCleared()
    return OtherEvent(str(name))


def _hashes(fields: Mapping[str, Any]) -> tuple[BlockHash, ...]:
    found = fields.get("block_hashes")
    if found is None or not _is_list(found):
        raise ValueError("an event has no list of block hashes")
    return tuple(_hash(each) for each in found)


def _hash(value: Any) -> BlockHash:
    if isinstance(value, bytes | int):
        return value
    raise ValueError("a block hash is neither a number nor bytes")


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def events_endpoint(address: str, rank: int = 0, *, field: str = "kv_events") -> str:
    """The address of a rank's publisher: the port counts up with the rank.

    Raises:
        InputError: it is no ``tcp://HOST:PORT``; ``field``: the option that gives it.
    """
    scheme, _, rest = address.strip().partition("://")
    host, _, port = rest.rpartition(":")
    flaw = "is not tcp://HOST:PORT"
    if scheme == "tcp" and host == "*":
        flaw = "names no host: * is what the server itself binds to"
    fits = scheme == "tcp" and host not in ("", "*") and "@" not in host and "/" not in rest
    if not fits or not port.isdigit() or not 0 < int(port) + rank < 65536:
        flag = "--" + field.replace("_", "-")
        raise InputError(f"the address {flaw}", field=flag, remedy=REMEDY, stage="run_benchmark")
    return f"tcp://{host}:{int(port) + rank}"
