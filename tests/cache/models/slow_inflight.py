"""Requests in flight, slowly and plainly: lists that are searched, whole prefixes compared, the product's own gates.

Nothing of the compiled model is used here. A block's content is the tuple of all tokens up to its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from prefixcache.load.sending.gate import Gates

NULL_BLOCKS = 1


@dataclass(eq=False)
class Request:
    number: int
    prompt: list[int]
    outputs: int
    domain: int = 0
    computed: int = 0
    sampled: int = 0
    blocks: list[int] = field(default_factory=list)
    hit_tokens: int | None = None
    admitted_at: int | None = None
    ended_at: int | None = None
    preempted: int = 0
    evicted: int = 0
    sent_s: float = 0.0
    ended_s: float = 0.0

    def content(self, place: int, size: int) -> tuple[Any, ...]:
        tokens: list[Any] = [*self.prompt, *(("output", self.number, j) for j in range(self.outputs))]
        return tuple(tokens[: (place + 1) * size])


@dataclass(eq=False)
class Engine:
    """One domain."""

    settings: Any
    free: list[int] = field(default_factory=list)
    content: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    stored: list[int] = field(default_factory=list)  # blocks with content, oldest first
    holders: dict[int, list[Request]] = field(default_factory=dict)
    waiting: list[Request] = field(default_factory=list)
    running: list[Request] = field(default_factory=list)
    coming: list[tuple[float, Request]] = field(default_factory=list)
    batch: list[tuple[Request, int]] = field(default_factory=list)
    ends: float | None = None
    steps: int = 0
    diary: list[list[tuple[str, list[tuple[Any, ...]]]]] = field(default_factory=list)
    """Per step what was removed and stored, contents in order."""
    told: list[float] = field(default_factory=list)  # when each step had ended

    def __post_init__(self) -> None:
        self.free = list(range(NULL_BLOCKS, self.settings.num_blocks))

    def find(self, request: Request) -> list[int]:
        size, found = self.settings.block_size, []
        total = len(request.prompt) + request.sampled
        while (len(found) + 1) * size <= total - 1:
            wanted = request.content(len(found), size)
            block = next((b for b in self.stored if self.content[b] == wanted), None)
            if block is None:
                break
            found.append(block)
        return found[: max(len(found) - self.settings.hit_drop, 0)]

    def give(self, request: Request, upto: int) -> None:
        size = self.settings.block_size
        while len(request.blocks) * size < upto:
            block = self.free.pop(0)
            if block in self.content:
                self.diary[-1].append(("removed", [self.content.pop(block)]))
                self.stored.remove(block)
                request.evicted += 1
            self.holders[block] = [request]
            request.blocks.append(block)
        new = [place for place in range(upto // size) if request.blocks[place] not in self.content]
        for place in new:
            self.content[request.blocks[place]] = request.content(place, size)
            self.stored.append(request.blocks[place])
        if new:
            self.diary[-1].append(("stored", [request.content(place, size) for place in new]))

    def take_back(self, request: Request) -> None:
        front, back = [], []
        for block in reversed(request.blocks):
            self.holders[block].remove(request)
            if not self.holders[block]:
                (back if block in self.content else front).append(block)
        self.free = front + self.free + back
        request.blocks = []

    def needs(self, request: Request, upto: int) -> int:
        return max(-(-upto // self.settings.block_size) - len(request.blocks), 0)

    def schedule(self) -> int:
        s = self.settings
        budget, self.batch = s.max_num_batched_tokens, []
        self.diary.append([])
        crowded = len(self.running) + len(self.waiting) > 1
        most = s.long_prefill_token_threshold if s.long_prefill_token_threshold and crowded else budget
        somebody_lost = False
        for request in list(self.running):
            if request not in self.running or not budget:
                break
            new = min(len(request.prompt) + request.sampled - request.computed, budget, most)
            while request in self.running and self.needs(request, request.computed + new) > len(self.free):
                loser = self.running.pop()
                self.take_back(loser)
                loser.computed, loser.preempted = 0, loser.preempted + 1
                self.waiting.insert(0, loser)
                somebody_lost = True
            if request not in self.running:
                break
            self.give(request, request.computed + new)
            self.batch.append((request, new))
            budget -= new
        while not somebody_lost and budget and self.waiting and len(self.running) < s.max_num_seqs:
            new = self.admit(self.waiting[0], budget, most)
            if not new:
                break
            self.running.append(self.waiting.pop(0))
            self.batch.append((self.running[-1], new))
            budget -= new
        self.steps += 1
        return sum(new for _, new in self.batch)

    def admit(self, request: Request, budget: int, most: int) -> int:
        s = self.settings
        found = self.find(request)
        hit = len(found) * s.block_size
        total = len(request.prompt) + request.sampled
        new = min(total - hit, budget, most)
        idle = [b for b in found if not self.holders.get(b)]
        spare = int(s.watermark * s.num_blocks) if self.running else 0
        whole = total if s.reserve_full_prompt else hit + new
        if -(-whole // s.block_size) - len(found) + len(idle) + spare > len(self.free):
            return 0
        for block in found:
            if block in self.free:
                self.free.remove(block)
            self.holders.setdefault(block, []).append(request)
        request.blocks, request.computed = found, hit
        self.give(request, hit + new)
        if request.hit_tokens is None:
            request.hit_tokens, request.admitted_at = hit, self.steps
        return new

    def complete(self) -> tuple[list[Request], list[Request]]:
        """Requests with their first token, and those that ended, in order."""
        first, ended = [], []
        for request, new in self.batch:
            request.computed += new
            if request.computed < len(request.prompt) + request.sampled:
                continue
            request.sampled += 1
            if request.sampled == 1:
                first.append(request)
            if request.sampled == request.outputs:
                self.take_back(request)
                request.ended_at = self.steps - 1
                self.running.remove(request)
                ended.append(request)
        return first, ended

    def next_time(self) -> float:
        if self.ends is not None:
            return self.ends
        return self.coming[0][0] if self.coming else float("inf")


@dataclass
class Played:
    requests: list[Request]
    engines: list[Engine]
    admitted: list[int]


def play(
    prompts: Sequence[tuple[list[int], int]],
    settings: Any,
    *,
    concurrency: int,
    domains: Sequence[int] | None = None,
    count: int = 1,
    gates: Gates | None = None,
    first_alone: bool = False,
    engines: list[Engine] | None = None,
    numbered_from: int = 0,
) -> Played:
    """Send all prompts (with their number of outputs) in order and play until all have ended."""
    homes = domains or [0] * len(prompts)
    requests = [Request(numbered_from + i, p, m, d) for i, ((p, m), d) in enumerate(zip(prompts, homes, strict=True))]
    engines = engines or [Engine(settings) for _ in range(count)]
    for engine in engines:
        engine.steps = 0
    gates = gates or Gates([], "none")
    slots, queue, at_gate, admitted = 1 if first_alone else concurrency, list(requests), [], []
    pace, now, last, ended_count, busy = settings.pace, 0.0, float("-inf"), 0, 0

    def passes(request: Request) -> bool:
        return gates._state(request.number - numbered_from) is not None

    def send(request: Request) -> None:
        nonlocal last
        last = max(now + pace.delay, last + pace.spacing)
        request.sent_s = now
        engines[request.domain].coming.append((last, request))

    def fill() -> None:
        nonlocal busy
        while queue and busy < slots:
            request, busy = queue.pop(0), busy + 1
            if passes(request):
                send(request)
            else:
                at_gate.append(request)

    fill()
    while ended_count < len(requests):
        engine = min(engines, key=Engine.next_time)
        now = engine.next_time()
        assert now < float("inf")
        if engine.ends is not None:
            first, ended = engine.complete()
            for request in [r for r, _ in engine.batch if r in first or r in ended]:
                if request in first:
                    gates.first_token(request.number - numbered_from) if gates._items else None
                if request in ended:
                    gates.ended(request.number - numbered_from) if gates._items else None
                    request.ended_s, ended_count, busy = now, ended_count + 1, busy - 1
                    slots = concurrency
                    fill()
            for request in list(at_gate):
                if passes(request):
                    at_gate.remove(request)
                    send(request)
        engine.ends = None
        while engine.coming and engine.coming[0][0] <= now:
            engine.waiting.append(engine.coming.pop(0)[1])
        if engine.running or engine.waiting:
            before = [r for r in engine.waiting if r.hit_tokens is None]
            tokens = engine.schedule()
            admitted += [r.number - numbered_from for r, _ in engine.batch if r in before]
            engine.ends = now + pace.step + pace.token * tokens
            engine.told.append(engine.ends)
    return Played(requests, engines, admitted)
