"""Gates: when a request may be sent so that the plan's watermarks stay true under concurrency (docs of the modes:
``watermark``, ``first_token``, ``completion``, ``none``).

Requests are taken in send order into slots (an open loop has as many as it needs, or as may be in flight), and a slot
that holds a waiting request waits with it. That cannot deadlock: of the requests in flight take the earliest in send
order. Every request before it has ended, so its gate is open, covered or broken. It is sent, it ends (there are
deadlines), and the next one is the earliest.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Gating = Literal["watermark", "first_token", "completion", "none"]
GATINGS: tuple[Gating, ...] = ("watermark", "first_token", "completion", "none")
Lane = tuple[int, str]


class Item(NamedTuple):
    """What a gate knows of a request: its lane (cache domain, prefix group) and its planned prefix in tokens."""

    domain: int
    group: str
    prefix: int

    @property
    def lane(self) -> Lane:
        return self.domain, self.group


class Ticket(NamedTuple):
    """How a request passed its gate. ``opened``: moment of ``time.perf_counter``; None: it was open already."""

    broken: bool
    opened: float | None = None


@dataclass(slots=True)
class _Line:
    """Requests of one lane (or of one domain) in send order, and how far they are."""

    members: list[int] = field(default_factory=list)
    ended_prefix: int = 0  # that many leading members have ended
    covered: int = 0  # longest planned prefix whose first token has returned
    waiting: dict[int, asyncio.Future[float]] = field(default_factory=dict)


class Gates:
    """The gates of one pass.

    Args:
        items: requests in send order.
        gating: the rule.
        head: K, tokens that all requests share; for a need of at most K any request of the domain counts.
        warm: lane → planned prefix of its warmup prompt, if that has returned.
    """

    def __init__(
        self, items: Sequence[Item], gating: Gating, *, head: int = 0, warm: Mapping[Lane, int] | None = None
    ) -> None:
        self._items = items
        self._gating = gating
        self._head = head
        self._ended = bytearray(len(items))
        self._started = bytearray(len(items))  # has its first token
        self._lanes: dict[Lane, _Line] = defaultdict(_Line)
        self._domains: dict[int, _Line] = defaultdict(_Line)
        self._position: list[tuple[int, int]] = []  # in its lane, in its domain
        for index, item in enumerate(items):
            lane, domain = self._lanes[item.lane], self._domains[item.domain]
            self._position.append((len(lane.members), len(domain.members)))
            lane.members.append(index)
            domain.members.append(index)
        for key, prefix in (warm or {}).items():
            self._lanes[key].covered = prefix
            self._domains[key[0]].covered = head
        self._needs = needs(items, head=head, warm=warm)

    async def pass_through(self, index: int) -> Ticket:
        """Wait until request ``index`` may be sent."""
        state = self._state(index)
        if state is None:
            lane, domain = self._lanes[self._items[index].lane], self._domains[self._items[index].domain]
            future: asyncio.Future[float] = asyncio.get_running_loop().create_future()
            lane.waiting[index] = future
            domain.waiting[index] = future
            try:
                opened = await future
            finally:
                lane.waiting.pop(index, None)
                domain.waiting.pop(index, None)
            state = self._state(index)
            assert state is not None
            return Ticket(state.broken, opened)
        return state

    def first_token(self, index: int) -> None:
        """Request ``index`` has returned its first token: its prompt is in the cache."""
        item = self._items[index]
        self._started[index] = 1
        lane, domain = self._lanes[item.lane], self._domains[item.domain]
        lane.covered = max(lane.covered, item.prefix)
        domain.covered = max(domain.covered, min(self._head, item.prefix))
        self._wake(item)

    def ended(self, index: int) -> None:
        """Request ``index`` is over, well or not. Safe to call twice."""
        item = self._items[index]
        self._ended[index] = 1
        for line in (self._lanes[item.lane], self._domains[item.domain]):
            while line.ended_prefix < len(line.members) and self._ended[line.members[line.ended_prefix]]:
                line.ended_prefix += 1
        self._wake(item)

    def _wake(self, item: Item) -> None:
        # The domain matters only to needs within the head; without a head its crowd need not be asked.
        for line in (self._lanes[item.lane], *((self._domains[item.domain],) if self._head else ())):
            for index in sorted(line.waiting):
                future = line.waiting[index]
                if not future.done() and self._state(index) is not None:
                    future.set_result(time.perf_counter())

    def _state(self, index: int) -> Ticket | None:
        """How request ``index`` may go now, or None if it must wait."""
        if self._gating == "none":
            return Ticket(False)
        if self._gating == "watermark":
            return self._watermark(index)
        item = self._items[index]
        in_lane = self._position[index][0]
        if in_lane == 0:
            return Ticket(False)
        previous = self._lanes[item.lane].members[in_lane - 1]
        if self._gating == "completion":
            return Ticket(False) if self._ended[previous] else None
        if self._started[previous]:
            return Ticket(False)
        return Ticket(True) if self._ended[previous] else None

    def _watermark(self, index: int) -> Ticket | None:
        item, need = self._items[index], self._needs[index]
        lane, domain = self._lanes[item.lane], self._domains[item.domain]
        if max(lane.covered, domain.covered) >= need:
            return Ticket(False)
        in_lane, in_domain = self._position[index]
        all_ended = domain.ended_prefix >= in_domain if need <= self._head else lane.ended_prefix >= in_lane
        return Ticket(True) if all_ended else None


def needs(items: Sequence[Item], *, head: int = 0, warm: Mapping[Lane, int] | None = None) -> list[int]:
    """``min(P_i, C_i)`` per request: the tokens that must be in the cache before it is sent."""
    marks: dict[Lane, int] = dict(warm or {})
    seen = {lane[0] for lane in marks}
    result = []
    for item in items:
        mark = max(marks.get(item.lane, 0), head if item.domain in seen else 0)
        result.append(min(item.prefix, mark))
        marks[item.lane] = max(mark, item.prefix)
        seen.add(item.domain)
    return result


@dataclass(frozen=True, slots=True)
class Chain:
    """The longest chain of requests that must follow one another, and requests / chain: the mean concurrency that the
    gates permit however many slots there are."""

    longest: int
    requests: int

    @property
    def mean_concurrency(self) -> float:
        return self.requests / self.longest if self.longest else 0.0


def chain(items: Sequence[Item], gating: Gating, *, head: int = 0, warm: Mapping[Lane, int] | None = None) -> Chain:
    """Longest dependency chain of a pass, before it runs. Arguments as for ``Gates``."""
    if gating == "none" or not items:
        return Chain(min(len(items), 1), len(items))
    lanes: dict[Lane, _Front] = defaultdict(_Front)
    if gating in ("first_token", "completion"):
        counts: dict[Lane, int] = defaultdict(int)
        for item in items:
            counts[item.lane] += 1
        return Chain(max(counts.values()), len(items))
    domain_first: dict[int, int] = {}
    for lane, prefix in (warm or {}).items():
        lanes[lane].add(prefix, 0)
        domain_first[lane[0]] = 0
    longest = 0
    for item, need in zip(items, needs(items, head=head, warm=warm), strict=True):
        before = 0
        if need:
            before = lanes[item.lane].least(need)
            if need <= head:
                before = min(before, domain_first.get(item.domain, before))
        depth = before + 1
        lanes[item.lane].add(item.prefix, depth)
        domain_first[item.domain] = min(domain_first.get(item.domain, depth), depth)
        longest = max(longest, depth)
    return Chain(longest, len(items))


class _Front:
    """Least depth at which a prefix of at least a given length is cached: both lists rise together."""

    def __init__(self) -> None:
        self.prefixes: list[int] = []
        self.depths: list[int] = []

    def least(self, need: int) -> int:
        at = bisect_left(self.prefixes, need)
        return self.depths[at] if at < len(self.depths) else (1 << 60)

    def add(self, prefix: int, depth: int) -> None:
        if self.least(prefix) <= depth:
            return
        at = bisect_left(self.prefixes, prefix)
        if at < len(self.prefixes) and self.prefixes[at] == prefix:
            del self.prefixes[at], self.depths[at]
        while at and self.depths[at - 1] >= depth:
            at -= 1
            del self.prefixes[at], self.depths[at]
        self.prefixes.insert(at, prefix)
        self.depths.insert(at, depth)
