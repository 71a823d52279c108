"""Listening to the KV events of a server while a run lasts.

A thread of its own takes the messages, so that neither the requests nor the events wait for each other. A subscriber
that comes late or is too slow loses messages; they are numbered, so a hole shows, and a server that has a replay
endpoint is asked for what is missing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import zip_longest
from typing import Any, Literal

from prefixcache.engines.kv_events import decode_batch, events_endpoint
from prefixcache.errors import EnvironmentFailure
from prefixcache.load.counters.kv_ledger import KvLedger

CONNECT_S = 3.0
"""How long a publisher may take to take the connection."""
SUBSCRIBE_S = 0.2
"""From the connection until the publisher surely knows that it has a subscriber; it does not say when."""
SILENCE_S = 0.5
"""After the last request; a publisher looks at its queue every tenth of a second."""
REPLAY_S = 5.0
DRAIN_S = 3.0
"""Longest time for reading what has come when the run is over; others may keep the server busy."""
POLL_MS = 100


@dataclass(frozen=True, slots=True)
class KvSource:
    """One publisher: the cache domain it tells of, its endpoint and, if there is one, its replay endpoint."""

    domain: int
    endpoint: str
    replay: str | None = None


@dataclass(slots=True)
class _Stream:
    source: KvSource
    socket: Any
    monitor: Any
    ledger: KvLedger = field(default_factory=KvLedger)
    connected: bool = False
    last: int | None = None
    batches: int = 0
    events: int = 0
    lost: int = 0
    restarts: int = 0
    broken: int = 0


def sources_of(endpoints: Sequence[str], replays: Sequence[str], ranks: int) -> list[KvSource]:
    """The publishers of one server's ranks, or of several servers with one rank each, in the order of the domains.

    Raises:
        InputError: an address that is none.
    """
    pairs = zip_longest(endpoints, replays)
    found = [
        (events_endpoint(events, rank), events_endpoint(replay, rank, field="kv_events_replay") if replay else None)
        for events, replay in pairs
        for rank in range(ranks)
    ]
    return [KvSource(domain, events, replay) for domain, (events, replay) in enumerate(found)]


class KvRecorder:
    """Records what the publishers tell.

    Args:
        sources: the publishers.
        sink: takes the rows of ``kv_events.jsonl``, in the recorder's thread.
    """

    def __init__(self, sources: Sequence[KvSource], sink: Callable[[dict[str, Any]], None]) -> None:
        self._sources, self._sink = sources, sink
        self._place: tuple[str | None, str | None, float] = (None, None, time.perf_counter())
        self._stopping = threading.Event()
        self._ready = threading.Event()
        self._deadline = float("inf")
        self._heard = time.perf_counter()
        self._streams: list[_Stream] = []
        self._error: str | None = None
        self._thread = threading.Thread(target=self._listen, name="kv-events", daemon=True)

    def start(self) -> None:
        """Connect; returns when all publishers took the connection, or after three seconds."""
        self._thread.start()
        if self._ready.wait(CONNECT_S):
            time.sleep(SUBSCRIBE_S)

    def mark(self, pass_name: str, phase: Literal["warmup", "measured"], began: float) -> None:
        """What is told from now on belongs there; ``began``: ``time.perf_counter`` at the beginning of the phase."""
        self._place = (pass_name, phase, began)

    def stop(self) -> dict[str, Any]:
        """Wait for the last messages, disconnect; what run.json says of it."""
        while self._thread.is_alive() and time.perf_counter() - self._heard < SILENCE_S:
            time.sleep(SILENCE_S / 10)
        self._deadline = time.perf_counter() + DRAIN_S
        self._stopping.set()
        self._thread.join(timeout=REPLAY_S + DRAIN_S)
        return self._summary()

    def _summary(self) -> dict[str, Any]:
        lost, broken = sum(s.lost for s in self._streams), sum(s.broken for s in self._streams)
        silent = [s.source.endpoint for s in self._streams if not s.batches]
        status, reason = "complete", None
        if self._error is not None or not self._streams:
            status, reason = "not_available", self._error
        elif silent:
            absent = [s.source.endpoint for s in self._streams if not s.connected]
            status = "not_available" if len(silent) == len(self._streams) else "partial"
            why = f"nothing listens at {', '.join(absent)}" if absent else f"no event came from {', '.join(silent)}"
            reason = f"{why}; vLLM publishes with --kv-events-config, see docs/cli.md"
        elif lost or broken:
            status, reason = "partial", f"{lost} batches were lost, {broken} could not be read"
        return {
            "status": status,
            "reason": reason,
            "sources": [
                {
                    "domain": s.source.domain,
                    "endpoint": s.source.endpoint,
                    "batches": s.batches,
                    "events": s.events,
                    "lost_batches": s.lost,
                    "unreadable_batches": s.broken,
                    "restarts": s.restarts,
                }
                for s in self._streams
            ],
        }

    def _listen(self) -> None:
        try:
            zmq = import_module("zmq")
            with zmq.Context() as context:
                try:
                    self._streams = [self._connect(zmq, context, source) for source in self._sources]
                    self._receive(zmq, context)
                finally:
                    context.destroy(linger=0)
        except EnvironmentFailure as error:
            self._error = error.message
        except Exception as error:  # whatever it is, the run goes on without events
            self._error = f"the recording stopped ({type(error).__name__}: {error})"
        finally:
            self._ready.set()

    @staticmethod
    def _connect(zmq: Any, context: Any, source: KvSource) -> _Stream:
        socket = context.socket(zmq.SUB)
        socket.setsockopt(zmq.RCVHWM, 0)
        socket.setsockopt(zmq.SUBSCRIBE, b"")
        monitor = socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        socket.connect(source.endpoint)
        return _Stream(source, socket, monitor)

    def _receive(self, zmq: Any, context: Any) -> None:
        poller = zmq.Poller()
        by_socket = {}
        for stream in self._streams:
            for socket in (stream.socket, stream.monitor):
                poller.register(socket, zmq.POLLIN)
                by_socket[socket] = stream
        while True:
            ready = poller.poll(POLL_MS)
            if self._stopping.is_set() and (not ready or time.perf_counter() > self._deadline):
                return  # only now: what has come is read in any case
            for socket, _ in ready:
                stream = by_socket[socket]
                if socket is stream.monitor:
                    socket.recv_multipart()
                    stream.connected = True
                    if all(each.connected for each in self._streams):
                        self._ready.set()
                    continue
                self._take(zmq, context, stream, socket.recv_multipart())

    def _take(self, zmq: Any, context: Any, stream: _Stream, frames: list[bytes]) -> None:
        self._heard = time.perf_counter()
        if len(frames) < 2 or len(frames[-2]) != 8:
            stream.broken += 1
            return
        number = int.from_bytes(frames[-2], "big")
        if stream.last is not None and number <= stream.last:
            stream.restarts += 1  # the server began anew
            stream.ledger, stream.last = KvLedger(), None
        if stream.last is not None and number > stream.last + 1:
            found = self._replay(zmq, context, stream.source, stream.last + 1, number)
            for missing in sorted(found):
                self._keep(stream, missing, found[missing])
            stream.lost += number - stream.last - 1 - len(found)
        stream.last = number
        self._keep(stream, number, frames[-1])

    def _keep(self, stream: _Stream, number: int, payload: bytes) -> None:
        try:
            batch = decode_batch(payload)
        except ValueError:
            stream.broken += 1
            return
        pass_name, phase, began = self._place
        stream.batches += 1
        stream.events += len(batch.events)
        self._sink(
            {
                "pass": pass_name,
                "phase": phase,
                "t_s": round(self._heard - began, 6),
                "domain": stream.source.domain,
                "rank": batch.rank,
                "seq": number,
                "ts": batch.timestamp,
                "events": stream.ledger.rows(batch),
            }
        )

    @staticmethod
    def _replay(zmq: Any, context: Any, source: KvSource, start: int, end: int) -> dict[int, bytes]:
        """Ask for the batches ``start`` to ``end`` - 1; those that came, by number."""
        found: dict[int, bytes] = {}
        if source.replay is None:
            return found
        socket = context.socket(zmq.DEALER)
        try:
            socket.connect(source.replay)
            socket.send_multipart([b"", start.to_bytes(8, "big")])
            deadline = time.perf_counter() + REPLAY_S
            while (left := deadline - time.perf_counter()) > 0 and socket.poll(int(left * 1000)):
                frames = socket.recv_multipart()
                number = int.from_bytes(frames[-2], "big", signed=True)
                if number < 0 or number >= end:
                    break
                found[number] = frames[-1]
        finally:
            socket.close(linger=0)
        return found
