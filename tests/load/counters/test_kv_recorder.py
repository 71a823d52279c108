"""KV events recorded: from a publisher that loses messages, and in whole runs against the reference engine."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import zmq

from prefixcache.analysis.kv_clock import clock_of, read_events
from prefixcache.cache.blocks import chained_keys
from prefixcache.engines.kv_events import batch_of
from prefixcache.errors import InputError
from prefixcache.load.counters.kv_ledger import KvLedger
from prefixcache.load.counters.kv_recorder import KvRecorder, KvSource, sources_of
from prefixcache.load.dataset import load_dataset
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.cache.models.workloads import Request, trace_of
from tests.load.handmade import BLOCK, Wish, make_dataset
from tests.support.reading import warned_of

SIZE = 4


def free_ports(count: int) -> int:
    """The first of some ports in a row that nobody has."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first: int = probe.getsockname()[1]
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except (OSError, OverflowError):
            continue


def stored(hashes: list[int], tokens: list[int], parent: int | None = None) -> dict[str, Any]:
    return {"type": "BlockStored", "block_hashes": hashes, "parent_block_hash": parent, "token_ids": tokens,
            "block_size": SIZE}  # fmt: skip


class Publisher:
    """Publishes what it is told, and repeats it when asked; a number can be left out of the publishing."""

    def __init__(self, port: int) -> None:
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.PUB)
        self.socket.bind(f"tcp://127.0.0.1:{port}")
        self.replay = self.context.socket(zmq.ROUTER)
        self.replay.bind(f"tcp://127.0.0.1:{port + 1}")
        self.sent: dict[int, bytes] = {}
        self.asked: list[int] = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._answer)
        self.thread.start()

    def send(self, number: int, events: list[Any], *, lost: bool = False) -> None:
        self.sent[number] = msgpack.packb([float(number), events, 0])
        if not lost:
            self.socket.send_multipart([b"kv", number.to_bytes(8, "big"), self.sent[number]])

    def _answer(self) -> None:
        while not self.over.is_set():
            if self.replay.poll(20):
                client, _, begin = self.replay.recv_multipart()
                self.asked.append(int.from_bytes(begin, "big"))
                for number, payload in sorted(self.sent.items()):
                    if number >= self.asked[-1]:
                        self.replay.send_multipart([client, b"", b"kv", number.to_bytes(8, "big"), payload])
                self.replay.send_multipart([client, b"", b"", (-1).to_bytes(8, "big", signed=True), b""])

    def close(self) -> None:
        self.over.set()
        self.thread.join()
        self.context.destroy(linger=0)


@pytest.fixture
def publisher() -> Iterator[tuple[Publisher, int]]:
    port = free_ports(2)
    publisher = Publisher(port)
    yield publisher, port
    publisher.close()


def recorded(port: int, replay: bool, publish: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    again = f"tcp://127.0.0.1:{port + 1}" if replay else None
    recorder = KvRecorder([KvSource(0, f"tcp://127.0.0.1:{port}", again)], rows.append)
    recorder.start()
    recorder.mark("cold", "measured", time.perf_counter())
    publish()
    return rows, recorder.stop()


def test_rows_have_numbers_and_keys_and_no_tokens(publisher: tuple[Publisher, int]) -> None:
    source, port = publisher
    tokens = list(range(100, 112))
    keys = [f"{key:016x}" for key in chained_keys(np.array(tokens, dtype=np.int32), SIZE)]

    def publish() -> None:
        source.send(5, [{"type": "AllBlocksCleared"}, stored([901, 902], tokens[:8])])
        source.send(6, [stored([903], tokens[8:], 902), {"type": "BlockRemoved", "block_hashes": [901, 55]}])

    rows, summary = recorded(port, False, publish)
    assert [row["events"] for row in rows] == [
        [{"kind": "cleared"}, {"kind": "stored", "depth": 0, "parent": None, "blocks": [0, 1], "keys": keys[:2]}],
        [
            {"kind": "stored", "depth": 2, "parent": 1, "blocks": [2], "keys": keys[2:]},
            {"kind": "removed", "blocks": [0, None]},
        ],
    ]
    assert [(row["pass"], row["phase"], row["domain"], row["rank"], row["seq"], row["ts"]) for row in rows] == [
        ("cold", "measured", 0, 0, number, float(number)) for number in (5, 6)
    ]
    assert all(0 <= row["t_s"] < 60 for row in rows)
    assert summary["status"] == "complete"
    assert summary["sources"][0] == {
        "domain": 0, "endpoint": f"tcp://127.0.0.1:{port}", "batches": 2, "events": 4, "lost_batches": 0,
        "unreadable_batches": 0, "restarts": 0,
    }  # fmt: skip


@pytest.mark.parametrize("replay", [True, False])
def test_what_was_lost_is_asked_for_again(publisher: tuple[Publisher, int], replay: bool) -> None:
    source, port = publisher

    def publish() -> None:
        for number in range(6):
            event = stored([number], list(range(SIZE)), number - 1 if number else None)
            source.send(number, [event], lost=number in (2, 3))

    rows, summary = recorded(port, replay, publish)
    if replay:
        assert [row["seq"] for row in rows] == [0, 1, 2, 3, 4, 5]
        assert [row["events"][0]["depth"] for row in rows] == [0, 1, 2, 3, 4, 5]
        assert (summary["status"], source.asked) == ("complete", [2])
    else:
        assert [row["seq"] for row in rows] == [0, 1, 4, 5]
        # What stands behind a hole has no place, and no key.
        assert [row["events"][0]["depth"] for row in rows] == [0, 1, None, None]
        assert [row["events"][0]["keys"] is None for row in rows] == [False, False, True, True]
        assert (summary["status"], summary["sources"][0]["lost_batches"]) == ("partial", 2)
        assert "2 batches were lost" in summary["reason"]


def test_a_server_that_began_anew_is_noticed(publisher: tuple[Publisher, int]) -> None:
    source, port = publisher

    def publish() -> None:
        source.send(7, [stored([1], list(range(SIZE)))])
        source.send(0, [stored([2], list(range(SIZE)))])

    rows, summary = recorded(port, True, publish)
    assert len(rows) == 2
    assert (summary["status"], summary["sources"][0]["restarts"], source.asked) == ("complete", 1, [])


def test_unreadable_messages_are_counted(publisher: tuple[Publisher, int]) -> None:
    source, port = publisher

    def publish() -> None:
        source.socket.send_multipart([b"kv", (0).to_bytes(8, "big"), b"\xc1"])
        source.socket.send_multipart([b"no events"])
        source.send(1, [stored([1], list(range(SIZE)))])

    rows, summary = recorded(port, False, publish)
    assert [row["seq"] for row in rows] == [1]
    assert (summary["status"], summary["sources"][0]["unreadable_batches"]) == ("partial", 2)


def test_nobody_publishes() -> None:
    _, summary = recorded(free_ports(2), False, lambda: None)
    assert summary["status"] == "not_available"
    assert "nothing listens at tcp://127.0.0.1:" in summary["reason"]


def test_one_of_several_blocks_of_equal_content_is_removed() -> None:
    """vLLM keeps twins; the content is gone when the last of them is."""
    ledger = KvLedger()
    twice = [stored([1], list(range(SIZE)))] * 2
    removed = {"type": "BlockRemoved", "block_hashes": [1]}
    rows = ledger.rows(batch_of([0.0, [*twice, removed, removed, removed]]))
    assert [row["blocks"] for row in rows] == [[0], [0], [0], [0], [None]]


def test_tiers_and_groups_are_kept_apart() -> None:
    other = {**stored([1], list(range(SIZE))), "medium": "CPU", "group_idx": 1}
    rows = KvLedger().rows(batch_of([0.0, [stored([1], list(range(SIZE))), other]]))
    assert [row["blocks"] for row in rows] == [[0], [1]]
    assert [(row.get("medium"), row.get("group")) for row in rows] == [(None, None), ("CPU", 1)]


def test_sources_in_the_order_of_the_domains() -> None:
    assert sources_of(["tcp://a:5"], ["tcp://a:7"], 2) == [
        KvSource(0, "tcp://a:5", "tcp://a:7"),
        KvSource(1, "tcp://a:6", "tcp://a:8"),
    ]
    assert sources_of(["tcp://a:5", "tcp://b:5"], [], 1) == [KvSource(0, "tcp://a:5"), KvSource(1, "tcp://b:5")]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"kv_events": ("tcp://*:5",)}, "--kv-events"),
        ({"kv_events": ("tcp://a:5", "tcp://b:5")}, "--kv-events"),
        ({"kv_events_replay": ("tcp://a:5",)}, "--kv-events-replay"),
    ],
)
def test_addresses_that_do_not_fit_are_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        RunOptions(urls=("http://127.0.0.1:1",), **changes)
    assert caught.value.field == field


@pytest.mark.engine
@pytest.mark.parametrize("dp", [1, 2])
def test_a_run_records_what_the_reference_engine_tells(tmp_path: Path, dp: int) -> None:
    luck = np.random.default_rng(4)
    wishes = [
        Wish("ab"[n % 2], int(luck.integers(0, 7)) * BLOCK, int(luck.integers(17, 60)), n % dp) for n in range(30)
    ]
    dataset = make_dataset(tmp_path / "set", wishes, mode="progressive_prefix_fill")
    port = free_ports(2 * dp)
    server = EngineOptions(
        "embedded", dp=dp, num_blocks=40, prefill_tps=50_000,
        kv_events=f"tcp://127.0.0.1:{port}", kv_events_replay=f"tcp://127.0.0.1:{port + dp}",
    )  # fmt: skip
    with EngineProcess(server) as engine:
        options = RunOptions(
            urls=(engine.url,), send="ids", concurrency=6, gating="none", poll_interval=0.05,
            kv_events=(f"tcp://127.0.0.1:{port}",), kv_events_replay=(f"tcp://127.0.0.1:{port + dp}",),
        )  # fmt: skip
        run_benchmark(dataset, tmp_path / "run", options)
    runtime = tmp_path / "run" / "runtime"
    run = json.loads((runtime / "run.json").read_text())
    assert run["kv_events"]["status"] == "complete", run["kv_events"]
    assert [source["domain"] for source in run["kv_events"]["sources"]] == list(range(dp))
    assert "token" not in (runtime / "kv_events.jsonl").read_text()
    answers = {
        row["request_id"]: row["cached_tokens"]
        for row in map(json.loads, (runtime / "request_results.jsonl").read_text().splitlines())
    }
    loaded = load_dataset(dataset)
    prompts = [[*(loaded.prompt(request).ids or ())] for request in loaded.requests]
    trace = trace_of([Request(tuple(prompt)) for prompt in prompts], BLOCK)
    keys = np.zeros(trace.distinct, dtype=np.uint64)
    for start, end, prompt in zip(trace.starts, trace.ends, prompts, strict=True):
        keys[trace.blocks[start:end]] = chained_keys(np.array(prompt, dtype=np.int32), BLOCK)
    order = np.argsort(keys)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    trace = type(trace)(rank[trace.blocks], trace.ends, trace.input_tokens, trace.output_tokens, BLOCK, trace.distinct)
    clock = clock_of(trace, keys[order], read_events(runtime / "kv_events.jsonl", "cold"))
    told = clock.hit_blocks >= 0
    measured = np.array([answers[request.request_id] for request in loaded.requests])
    assert told.sum() > 25
    assert (clock.hit_blocks[told] * BLOCK).tolist() == measured[told].tolist()
    assert clock.evicted > 0


@pytest.mark.engine
def test_a_run_without_a_publisher_is_warned_of_and_goes_on(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", [Wish("a", BLOCK, 20)] * 3, mode="cold")
    with EngineProcess(EngineOptions("embedded")) as engine:
        address = f"tcp://127.0.0.1:{free_ports(1)}"
        options = RunOptions(urls=(engine.url,), send="ids", poll_interval=0.05, kv_events=(address,))
        summary = run_benchmark(dataset, tmp_path / "run", options)
    assert summary.status == "complete"
    assert warned_of(summary.warnings) == ["kv_events_not_available"]
    run = json.loads((tmp_path / "run" / "runtime" / "run.json").read_text())
    assert (run["kv_events"]["status"], run["options"]["kv_events"]) == ("not_available", True)
    assert (tmp_path / "run" / "runtime" / "kv_events.jsonl").read_text() == ""
