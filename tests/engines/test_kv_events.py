"""The wire format of KV events: today's, yesterday's, tomorrow's, and what is none."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest

from prefixcache.engines.kv_events import (
    AllCleared,
    BlocksRemoved,
    BlocksStored,
    KvBatch,
    OtherEvent,
    decode_batch,
    events_endpoint,
)
from prefixcache.errors import InputError

STORED = BlocksStored((11, 12), 10, tuple(range(8)), 4)


def decoded(value: Any) -> KvBatch:
    return decode_batch(msgpack.packb(value))


def test_maps_as_vllm_sends_them() -> None:
    """As in 0.32: optional fields left out, unknown ones passed over."""
    stored = {
        "type": "BlockStored",
        "block_hashes": [11, 12],
        "parent_block_hash": 10,
        "token_ids": list(range(8)),
        "block_size": 4,
        "lora_id": None,
        "medium": "GPU",
        "lora_name": None,
        "extra_keys": [["salt"], None],
        "group_idx": 0,
        "kv_cache_spec_kind": "full_attention",
        "something_of_tomorrow": {"a": [1]},
    }
    removed = {"type": "BlockRemoved", "block_hashes": [7], "medium": "CPU", "group_idx": 1}
    batch = decoded([12.5, [{"type": "AllBlocksCleared"}, stored, removed], 3])
    assert batch == KvBatch(12.5, (AllCleared(), STORED, BlocksRemoved((7,), "CPU", 1)), 3)


def test_arrays_as_older_versions_sent_them() -> None:
    events = [["AllBlocksCleared"], ["BlockStored", [11, 12], 10, list(range(8)), 4, None], ["BlockRemoved", [7]]]
    assert decoded([12.5, events]) == KvBatch(12.5, (AllCleared(), STORED, BlocksRemoved((7,))), None)


def test_a_batch_may_be_a_map_and_hashes_bytes() -> None:
    event = {"type": "BlockStored", "block_hashes": [b"\xff\x00"], "parent_block_hash": None, "block_size": 2}
    batch = decoded({"ts": 1, "events": [event, {"type": "BlockMoved"}], "data_parallel_rank": 1, "more": 0})
    assert batch == KvBatch(1.0, (BlocksStored((b"\xff\x00",), None, (), 2), OtherEvent("BlockMoved")), 1)


@pytest.mark.parametrize(
    "value",
    [
        b"text",
        7,
        [],
        [1.0],
        ["now", []],
        [1.0, "BlockStored"],
        [1.0, [5]],
        [1.0, [{"type": "BlockStored", "block_hashes": [1]}]],
        [1.0, [{"type": "BlockStored", "block_hashes": [1], "block_size": 0, "token_ids": []}]],
        [1.0, [{"type": "BlockRemoved", "block_hashes": "no"}]],
        [1.0, [{"type": "BlockRemoved", "block_hashes": [1.5]}]],
    ],
)
def test_what_is_no_batch_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"payload|event|hash|BlockStored"):
        decoded(value)


def test_broken_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="not MessagePack"):
        decode_batch(b"\xc1")


def test_a_rank_publishes_at_a_port_of_its_own() -> None:
    assert events_endpoint("tcp://10.0.0.1:5557") == "tcp://10.0.0.1:5557"
    assert events_endpoint(" tcp://[::1]:5557 ", 3) == "tcp://[::1]:5560"


@pytest.mark.parametrize(
    "address", ["", "5557", "10.0.0.1:5557", "tcp://*:5557", "tcp://:5557", "tcp://h:0", "tcp://h:65535x", "http://h:1",
                "tcp://user:pw@h:1", "tcp://h:1/x", "ipc:///tmp/x"],
)  # fmt: skip
def test_other_addresses_are_refused_without_being_repeated(address: str) -> None:
    with pytest.raises(InputError) as caught:
        events_endpoint(address)
    assert caught.value.field == "--kv-events"
    assert ("*" in caught.value.message) == ("*" in address)
    assert not address or len(address) < 5 or address not in caught.value.message


def test_the_flag_at_fault_is_named() -> None:
    with pytest.raises(InputError) as caught:
        events_endpoint("foo", field="kv_events_replay")
    assert (caught.value.field, caught.value.message) == ("--kv-events-replay", "the address is not tcp://HOST:PORT")


def test_ports_end_at_65535() -> None:
    assert events_endpoint("tcp://h:65535") == "tcp://h:65535"
    with pytest.raises(InputError):
        events_endpoint("tcp://h:65535", 1)
