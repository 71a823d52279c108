"""One rank at work: a queue in front, one prefill at a time, any number of requests decoding.

Time is simulated from two rates against absolute deadlines on the event loop's clock, so lateness does not add up.
Cache lookups happen when a request's prefill starts, and its blocks are known from then on, as in vLLM.

Simpler than vLLM in two ways: a prompt is computed in one piece and alone, not in chunks shared with others; and the
blocks of the whole output are promised at admission, so that no running request is ever preempted.
"""

from __future__ import annotations

import asyncio
from collections import deque

from prefixcache.reference.cache import BlockPool
from prefixcache.reference.kv_events import EventPublisher
from prefixcache.reference.matching import Cache, Held
from prefixcache.reference.sequence import Sequence
from prefixcache.reference.series import RankSeries, Watched


class Rank:
    """Scheduler of one data-parallel rank. Everything runs in the event loop's thread.

    Args:
        pool: its cache.
        prefill_tps: uncached prompt tokens per second, 0 for no time at all.
        decode_tps: output tokens per second of each request, 0 for no time at all.
        metrics: its series.
        publisher: told of what the cache holds; None: nobody is.
    """

    def __init__(
        self,
        pool: Cache,
        prefill_tps: float,
        decode_tps: float,
        metrics: RankSeries,
        publisher: EventPublisher | None = None,
    ) -> None:
        self.pool = pool
        self._publisher = publisher
        if publisher is not None and isinstance(pool, BlockPool):
            pool.watch()
        self.running: set[Sequence] = set()
        self.waiting: deque[Sequence] = deque()
        self._prefill_tps = prefill_tps
        self._decode_tps = decode_tps
        self._metrics = metrics
        self._prefilling: Sequence | None = None
        self._admitting = False
        self._free_at = 0.0  # when the prefill unit was or will be done with its last prompt
        metrics.watch(
            Watched(
                running=lambda: len(self.running),
                waiting=lambda: len(self.waiting),
                held=lambda: pool.held_tokens,
                usable=lambda: pool.usable_tokens,
                evicted=lambda: pool.evicted_tokens,
            )
        )

    def submit(self, sequence: Sequence) -> None:
        """Queue a request; with both rates 0 and blocks enough it is finished when this returns."""
        sequence.arrived = self._now()
        self.waiting.append(sequence)
        self._admit(sequence.arrived)

    def abort(self, sequence: Sequence) -> None:
        """End a request early. What it has put into the cache stays; one that still waits counts nowhere."""
        if sequence.finished:
            return
        if sequence in self.running:
            self._end(sequence, "abort")
        else:
            self.waiting.remove(sequence)
            sequence.finished = "abort"
        self._admit(self._now())  # also where the one that left was only waiting: it may have blocked the queue
        sequence.notify()

    def abort_all(self) -> None:
        """End every request early."""
        for sequence in [*self.waiting, *self.running]:
            self.abort(sequence)

    def reset(self) -> bool:
        """Forget the cache. False, and nothing done, while requests hold blocks."""
        return self.pool.reset()

    def _tell(self, sequence: Sequence) -> None:
        if self._publisher is not None and isinstance(self.pool, BlockPool):
            self._publisher.tell(self.pool.changes(), sequence.prompt, sequence.output)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _admit(self, at: float) -> None:
        """Start prefills from the head of the queue; a head that does not fit blocks those behind it.

        Args:
            at: the moment (event loop's clock) of what made this attempt worth while; it may lie a little back.
        """
        if self._admitting:  # a request that takes no time ends in here; the loop below goes on with the next
            return
        self._admitting = True
        try:
            while self.waiting and self._prefilling is None:
                head = self.waiting[0]
                written = len(head.prompt) + len(head.output) - 1
                lease = self.pool.admit(head.keys, len(head.prompt), written)
                if lease is None:
                    return
                self.waiting.popleft()
                self._tell(head)
                self._start(head, lease, max(at, head.arrived, self._free_at))
        finally:
            self._admitting = False

    def _start(self, sequence: Sequence, lease: Held, at: float) -> None:
        sequence.lease = lease
        sequence.cached = lease.hit_tokens
        self.running.add(sequence)
        self._metrics.looked_up(sequence)
        if self._prefill_tps:
            done = at + (len(sequence.prompt) - sequence.cached) / self._prefill_tps
            self._prefilling = sequence
            sequence.timer = asyncio.get_running_loop().call_at(done, self._prefilled, sequence, done)
        else:
            self._prefilled(sequence, at)

    def _prefilled(self, sequence: Sequence, at: float) -> None:
        """The whole prompt is computed: the first token comes out and the next prefill may start."""
        self._prefilling = None
        self._free_at = at
        self._metrics.prefilled(sequence, self._now() - sequence.arrived)
        sequence.first_at = at
        self._decode(sequence, at)
        self._admit(at)

    def _decode(self, sequence: Sequence, at: float) -> None:
        """Emit every token that is due; come back for the next one, or end. ``at`` is when this call was due."""
        assert sequence.lease is not None
        due = len(sequence.output)
        if self._decode_tps:
            due = min(due, 1 + int((self._now() - sequence.first_at) * self._decode_tps + 1e-6))
        # A timer may fire a hair early; each call emits one token at least, so it always moves on.
        due = max(due, sequence.emitted + 1)
        made, sequence.emitted = due - sequence.emitted, due
        self._metrics.generated(sequence, made)
        # A sampled token gets its KV entry when the following one is computed: the last one never does.
        self.pool.grow(sequence.lease, len(sequence.prompt) + due - 1)
        self._tell(sequence)
        if due == len(sequence.output):
            self._end(sequence, sequence.finish)
            self._admit(at)
        else:
            deadline = sequence.first_at + due / self._decode_tps
            sequence.timer = asyncio.get_running_loop().call_at(deadline, self._decode, sequence, deadline)
        sequence.notify()

    def _end(self, sequence: Sequence, reason: str) -> None:
        assert sequence.lease is not None
        if sequence.timer is not None:
            sequence.timer.cancel()
            sequence.timer = None
        if self._prefilling is sequence:
            self._prefilling = None
            self._free_at = self._now()
        self.running.discard(sequence)
        self.pool.release(sequence.lease)
        sequence.lease = None
        sequence.finished = reason
        self._metrics.ended(sequence, reason, self._now() - sequence.arrived)
