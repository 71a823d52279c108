"""What the recorded KV events of a run tell of its requests: when each was let in, and how much it found cached.

An event names no request. But it tells which blocks were stored, and in the datasets of this product every request has
blocks of its own (its divergence block and all behind), so the chain of events that ends in such a block is that
request's. Its first event begins behind the blocks that it found cached.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl

from prefixcache.cache.blocks import U64
from prefixcache.cache.models.inflight.clocked import RecordedStep
from prefixcache.cache.models.trace import Counts, Trace
from prefixcache.errors import InputError

DEVICE_GROUP = 0


@dataclass(frozen=True, slots=True)
class EventSpan:
    """One stored event: where in time and in the prompt, and the request's own numbers of its blocks (-1: none)."""

    domain: int
    step: int
    depth: int
    blocks: tuple[int, ...]
    first: int
    last: int


@dataclass(frozen=True)
class KvClock:
    """The record of one phase of a pass, in terms of a trace.

    Attributes:
        steps: steps that stored or should have, in the order of time.
        hit_blocks: leading blocks that each request found, -1 where its events do not tell, shape (n,).
        admitted: requests in the order in which they were let in.
        evicted: blocks that lost their content.
        unknown: stored events that belong to no request of the trace.
    """

    steps: tuple[RecordedStep, ...]
    hit_blocks: Counts
    admitted: tuple[int, ...]
    evicted: int
    unknown: int


def read_events(path: Path, pass_name: str, phase: str = "measured") -> list[dict[str, Any]]:
    """Rows of ``kv_events.jsonl`` of one phase, in the order in which they came.

    Raises:
        InputError: the run recorded none.
    """
    if not path.is_file():
        raise InputError(
            f"{path.name} is not there: the run recorded no KV events",
            field="run_dir",
            remedy="run again with --kv-events tcp://HOST:PORT.",
        )
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    return [row for row in rows if (row["pass"], row["phase"]) == (pass_name, phase)]


def clock_of(trace: Trace, keys: U64, rows: Sequence[Mapping[str, Any]], times: pl.DataFrame | None = None) -> KvClock:
    """Which request stored what, and from that the steps.

    Args:
        trace: the requests in send order. keys: the key of each block number, shape (distinct,).
        rows: of :func:`read_events`.
        times: ``sent_s`` and ``last_token_s`` of each request in send order (null: unknown); tells what had ended
            before a step. Without it nothing is known to have.
    """
    owners, unknown = _owners(trace, keys, rows)
    first: dict[int, EventSpan] = {}
    for span, request in owners:
        first.setdefault(request, span)
    hit = np.full(len(trace), -1, dtype=np.int64)
    for request, span in first.items():
        hit[request] = span.depth
    steps = _steps(trace, rows, first, times)
    evicted = sum(len(e["blocks"]) for row in rows for e in row["events"] if e["kind"] == "removed" and _plain(e))
    return KvClock(tuple(steps), hit, tuple(r for step in steps for r in step.admitted), evicted, unknown)


def _plain(event: Mapping[str, Any]) -> bool:
    return "medium" not in event and event.get("group", DEVICE_GROUP) == DEVICE_GROUP


@dataclass(slots=True)
class _Chain:
    """Events of one request so far."""

    spans: list[EventSpan] = field(default_factory=list)
    owner: int = -1


def _spans(rows: Iterable[Mapping[str, Any]], keys: U64) -> Iterable[tuple[EventSpan, int | None]]:
    """Stored events with the blocks' numbers in the trace, and the record's number of the block before them."""
    order = np.argsort(keys)
    rising = keys[order]
    for step, row in enumerate(rows):
        for event in row["events"]:
            if event["kind"] != "stored" or not _plain(event) or event["depth"] is None or event["keys"] is None:
                continue
            wanted = np.array([int(key, 16) for key in event["keys"]], dtype=np.uint64)
            at = np.minimum(np.searchsorted(rising, wanted), max(len(keys) - 1, 0))
            found = np.where(rising[at] == wanted, order[at], -1) if len(keys) else np.full(len(wanted), -1)
            blocks = event["blocks"]
            span = EventSpan(row["domain"], step, event["depth"], tuple(found.tolist()), blocks[0], blocks[-1])
            yield span, event["parent"]


def _owners(trace: Trace, keys: U64, rows: Sequence[Mapping[str, Any]]) -> tuple[list[tuple[EventSpan, int]], int]:
    """(stored event, request) in order, and how many events belong to none."""
    sole = sole_owners(trace)
    chains: list[_Chain] = []
    open_chains: dict[tuple[int, int], list[_Chain]] = defaultdict(list)
    for span, parent in _spans(rows, keys):
        behind = open_chains.get((span.domain, -1 if parent is None else parent), [])
        # Of one request a step stores once; who began earlier is served earlier.
        chain = next((c for c in behind if c.spans[-1].step < span.step), None)
        if chain is None:
            chain = _Chain()
            chains.append(chain)
        else:
            behind.remove(chain)
        chain.spans.append(span)
        open_chains[span.domain, span.last].append(chain)
        own = next((int(sole[block]) for block in span.blocks if block >= 0 and sole[block] >= 0), -1)
        chain.owner = own if own >= 0 else chain.owner
    found = [(span, chain.owner) for chain in chains if chain.owner >= 0 for span in chain.spans]
    found.sort(key=lambda pair: pair[0].step)  # stable: within a step as they were told
    return found, sum(len(chain.spans) for chain in chains if chain.owner < 0)


def sole_owners(trace: Trace) -> Counts:
    """For each block number the one request that has it, -1: none or several; shape (distinct,)."""
    request = np.repeat(np.arange(len(trace)), trace.sizes)
    count = np.bincount(trace.blocks, minlength=trace.distinct)
    owner = np.full(trace.distinct, -1, dtype=np.int64)
    owner[trace.blocks] = request
    owner[count != 1] = -1
    return owner


def _steps(
    trace: Trace, rows: Sequence[Mapping[str, Any]], first: Mapping[int, EventSpan], times: pl.DataFrame | None
) -> list[RecordedStep]:
    """Requests whose events tell their step stand there; one that stored nothing of its own stands where the one sent
    before it stands, or the one behind it if that is the first."""
    at: dict[int, int] = {request: span.step for request, span in first.items()}
    step = min(at.values(), default=0)
    placed: dict[int, list[int]] = defaultdict(list)
    told = sorted(first, key=lambda r: first[r].step)  # stable over the order of the events
    for request in told:
        placed[at[request]].append(request)
    for request in range(len(trace)):
        step = at.get(request, step)
        if request not in at:
            placed[step].append(request)
    domains = {step: int(row["domain"]) for step, row in enumerate(rows)}
    ended_at = _told(rows)
    ends, queue = _Ends(times), _Queue(rows, ended_at, placed, times)
    found = []
    for step in range(len(rows) or 1):
        admitted = tuple(placed.get(step, ()))
        early = queue.first_behind(step) if rows else -1
        ended = ends.before(admitted, ended_at[step] if rows else None)
        most = max((len(e["blocks"]) for e in rows[step]["events"] if e["kind"] == "stored"), default=0) if rows else 0
        found.append(RecordedStep(domains.get(step, 0), admitted, ended, early, most))
    return found


def _told(rows: Sequence[Mapping[str, Any]]) -> list[float | None]:
    """When each step had ended, on the client's clock: the server's clock, moved by what the quickest message took.
    When a message was taken says less: on a busy machine several wait for the recorder."""
    moves: dict[int, float] = {}
    for row in rows:
        if row.get("ts") is not None:
            domain = int(row["domain"])
            moves[domain] = min(moves.get(domain, float("inf")), row["t_s"] - row["ts"])
    return [row["ts"] + moves[int(row["domain"])] if row.get("ts") is not None else row.get("t_s") for row in rows]


class _Queue:
    """Who waited at a step: sent when the domain's step before it had ended, let in by a later one."""

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        told: Sequence[float | None],
        placed: Mapping[int, Sequence[int]],
        times: pl.DataFrame | None,
    ) -> None:
        self._rows, self._told = rows, told
        self._sent: list[float | None] = [] if times is None else times["sent_s"].to_list()
        self._order: dict[int, list[int]] = defaultdict(list)  # of a domain, as they were let in
        self._let_in: dict[int, list[int]] = defaultdict(list)  # their steps
        self._before: dict[int, float] = {}
        for step in sorted(placed) if rows else ():
            domain = int(rows[step]["domain"])
            self._order[domain] += placed[step]
            self._let_in[domain] += [step] * len(placed[step])

    def first_behind(self, step: int) -> int:
        """The first that waited, -1 if nobody is known to have; to be asked step by step."""
        domain = int(self._rows[step]["domain"])
        now = self._before.get(domain, -1.0)
        self._before[domain] = self._told[step] or 0.0
        begin = bisect_right(self._let_in[domain], step)
        following = self._order[domain][begin] if begin < len(self._order[domain]) else -1
        sent = self._when(following) if following >= 0 else None
        return following if sent is not None and sent <= now else -1

    def _when(self, request: int) -> float | None:
        return self._sent[request] if request < len(self._sent) else None


class _Ends:
    """Requests by the time of their end, handed out once."""

    def __init__(self, times: pl.DataFrame | None) -> None:
        self._sent: list[float | None] = [] if times is None else times["sent_s"].to_list()
        ended: list[float | None] = [] if times is None else times["last_token_s"].to_list()
        self._ends = sorted((end, request) for request, end in enumerate(ended) if end is not None)
        self._given = 0

    def before(self, admitted: Sequence[int], told: float | None) -> tuple[int, ...]:
        """Those not yet handed out that had ended before a step that let these in and had ended at ``told``: the client
        had their last token when it sent one of these, or when the step had only just been computed."""
        sent = [s for r in admitted if r < len(self._sent) and (s := self._sent[r]) is not None]
        until = max([*sent, *(() if told is None else (told,))], default=-1.0)
        begin = self._given
        while self._given < len(self._ends) and self._ends[self._given][0] < until:
            self._given += 1
        return tuple(request for _, request in self._ends[begin : self._given])
