"""Requests in flight on vLLM's scheduler and block pool, step by step (docs/cache-models.md, "Requests in flight").

Rules, as in vllm/v1/core/sched/scheduler.py and block_pool.py, for models with full attention:

1. A step serves running requests in order, then waiting ones, first come first served, out of
   ``max_num_batched_tokens``; at most ``max_num_seqs`` run.
2. A request is looked up when it is let in, against all blocks stored so far, those of the same step included. It is
   let in if the blocks of its whole prompt are free; otherwise nobody behind it is.
3. Only its chunk's blocks are taken, and known by their content, at once.
4. A running request that gets no block preempts the last running one, which starts again from the front of the queue;
   nobody is let in then.
5. A request's blocks are released after the step that samples its last token, last block first, each when nobody else
   holds it.

The scheduler is the synchronous one (``--no-async-scheduling``, the only one on a CPU). With asynchronous scheduling,
the default on GPUs, blocks are released a step later; that is not modelled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefixcache.cache.models.inflight.gating import GatePlan, no_gates
from prefixcache.cache.models.inflight.settings import SchedulerSettings
from prefixcache.cache.models.inflight.state import Engines, Limits, Pace, Pool, Requests, Samples, Times
from prefixcache.cache.models.trace import Counts, Numbers, Served, Trace
from prefixcache.errors import InputError

SAMPLES = 2048


@dataclass(frozen=True)
class Usage:
    """The cache over time, at steps evenly spread, at most 2,048.

    Attributes:
        time: in units of the pace, shape (s,).
        held: blocks that running requests hold, shape (s, domains).
        running, waiting: requests, shape (s,).
    """

    time: Times
    held: Numbers
    running: Numbers
    waiting: Numbers


@dataclass(frozen=True)
class InflightServed(Served):
    """What became of requests in flight; one row a request, in send order.

    Attributes:
        admitted: requests as they were let in for the first time, shape (n,).
        admitted_at, ended_at: the step of its domain in which a request was let in first, and ended, shape (n,).
        preemptions: shape (n,).
        steps: of each domain, shape (domains,).
        usage: over time.
        sent_time, first_time, last_time: when the client sent it and had its first and last token, in units of the
            pace, shape (n,); NaN where a record led the model.
    """

    admitted: Counts = None  # type: ignore[assignment]  # a field without default cannot follow Served's
    admitted_at: Counts = None  # type: ignore[assignment]
    ended_at: Counts = None  # type: ignore[assignment]
    preemptions: Counts = None  # type: ignore[assignment]
    steps: Counts = None  # type: ignore[assignment]
    usage: Usage = None  # type: ignore[assignment]
    sent_time: Times = None  # type: ignore[assignment]
    first_time: Times = None  # type: ignore[assignment]
    last_time: Times = None  # type: ignore[assignment]


class InflightModel:
    """Schedulers and pools that keep their state from call to call: first a warmup trace, then the measured one.

    Args:
        settings: of every domain.
        domains: cache domains (DP ranks), each with a pool and a queue of its own.
    """

    def __init__(self, settings: SchedulerSettings, domains: int = 1) -> None:
        self.settings, self.domains = settings, domains
        self._of_traces = 0  # block numbers of all traces so far
        self.pool = new_pool(settings.num_blocks, domains)

    def serve(
        self,
        trace: Trace,
        *,
        concurrency: int,
        domains: Numbers | None = None,
        gates: GatePlan | None = None,
    ) -> InflightServed:
        """Send these requests in order, ``concurrency`` at most in flight over all domains, until all have ended.

        Args:
            trace: unit: the block size of the settings.
            concurrency: slots of the client; one that waits for a gate is taken.
            domains: of each request, shape (n,); None: all go to the first.
            gates: when a request may be sent; None: as soon as a slot is free.

        Raises:
            InputError: a request does not fit into the pool, or sizes do not fit together.
        """
        from prefixcache.cache.models.inflight.kernel import run

        where = np.zeros(len(trace), dtype=np.int32) if domains is None else np.asarray(domains, dtype=np.int32)
        plan = no_gates(len(trace)) if gates is None else gates
        self._check(trace, where, plan, concurrency)
        requests = self.requests(trace, where)
        slots = min(concurrency, max(len(trace), 1))
        engines = new_engines(self.domains, slots, most_blocks(trace))
        samples = new_samples(SAMPLES, self.domains)
        pace = Pace(*(getattr(self.settings.pace, name) for name in Pace._fields))
        arrays = plan.arrays(where, self.domains)
        limits = limits_of(self.settings)
        done = run(self.pool, requests, engines, limits, arrays, pace, samples, slots, plan.first_alone)
        assert done >= 0, "the model is stuck: nothing runs and nothing can be let in"
        return self.served(requests, engines, samples)

    def reset(self) -> None:
        """What ``POST /reset_prefix_cache`` does between two calls: contents go, the queues keep their order."""
        self.pool.key[:] = -1
        self.pool.first[:] = -1
        self.pool.holding[:] = 0

    def requests(self, trace: Trace, where: Numbers) -> Requests:
        """Arrays of the requests of one call; their outputs get block numbers of their own."""
        outputs = np.maximum(trace.output_tokens, 1)
        generated = (trace.input_tokens + outputs - 1) // trace.unit - trace.sizes
        own = self._number(trace.distinct, int(generated.sum())) + np.cumsum(generated) - generated
        zero, unknown = (np.full(len(trace), value, dtype=np.int64) for value in (0, -1))
        return Requests(
            keys=trace.blocks,
            start=trace.starts,
            size=trace.sizes,
            own=own,
            tokens=trace.input_tokens,
            outputs=outputs,
            domain=where,
            slot=zero.astype(np.int32),
            **{name: zero.copy() for name in ("done", "made", "blocks", "stored", "runs", "evicted", "holding")},
            **{name: unknown.copy() for name in ("hits", "admitted_at", "ended_at")},
            preempted=zero.copy(),
            order=zero.copy(),
            admitted=np.zeros(1, dtype=np.int64),
            sent_time=np.full(len(trace), np.nan),
            first_time=np.full(len(trace), np.nan),
            last_time=np.full(len(trace), np.nan),
        )

    def served(self, requests: Requests, engines: Engines, samples: Samples) -> InflightServed:
        """The arrays as they are handed out."""
        rows = int(samples.filled[0])
        usage = Usage(
            samples.time[:rows].copy(),
            samples.held[:rows].copy(),
            samples.running[:rows].copy(),
            samples.waiting[:rows].copy(),
        )
        hits = requests.hits * self.settings.block_size
        return InflightServed(
            hits=hits,
            external_hits=np.zeros_like(hits),
            evicted=requests.evicted,
            used=requests.holding,
            runs=requests.runs,
            admitted=requests.order,
            admitted_at=requests.admitted_at,
            ended_at=requests.ended_at,
            preemptions=requests.preempted,
            steps=engines.steps,
            usage=usage,
            sent_time=requests.sent_time,
            first_time=requests.first_time,
            last_time=requests.last_time,
        )

    def _number(self, of_traces: int, generated: int) -> int:
        """Room for the block numbers of a call; the first of those that its outputs fill. Generated blocks are numbered
        behind all traces' and move up when a later trace has more."""
        pool, more = self.pool, max(of_traces - self._of_traces, 0)
        if more:
            pool.key[pool.key >= self._of_traces] += more
        parts = (pool.first[:, : self._of_traces], _none(self.domains, more), pool.first[:, self._of_traces :])
        begin = int(pool.first.shape[1]) + more
        if more or generated:
            self.pool = pool._replace(first=np.concatenate([*parts, _none(self.domains, generated)], axis=1))
        self._of_traces += more
        return begin

    def _check(self, trace: Trace, where: Numbers, plan: GatePlan, concurrency: int) -> None:
        if concurrency < 1:
            raise InputError(f"{concurrency} is below 1", field="concurrency", remedy="write at least 1.")
        if trace.unit != self.settings.block_size:
            raise InputError(
                f"the trace's blocks have {trace.unit} tokens, the server's {self.settings.block_size}",
                field="block_size",
                remedy="use the same size for both.",
            )
        if len(where) != len(trace) or len(plan.lane) != len(trace):
            raise InputError(
                f"{len(trace)} requests, {len(where)} domains, {len(plan.lane)} gates",
                field="domains",
                remedy="give one of each per request.",
            )
        if len(where) and not 0 <= where.min() <= where.max() < self.domains:
            raise InputError(
                f"domains {where.min()} to {where.max()} of {self.domains}",
                field="domains",
                remedy=f"write 0 to {self.domains - 1}.",
            )
        needed, usable = needed_blocks(trace), self.settings.num_blocks - 1
        if len(needed) and needed.max() > usable:
            at = int(np.argmax(needed))
            raise InputError(
                f"request {at + 1} needs {needed[at]} blocks for {trace.input_tokens[at]} input and "
                f"{trace.output_tokens[at]} output tokens, the pool has {usable} to use (one is the null block)",
                field="num_blocks",
                remedy=f"write at least {int(needed[at]) + 1}, or leave out longer requests.",
            )


def simulate_inflight(
    trace: Trace,
    *,
    domains: Numbers | None,
    settings: SchedulerSettings,
    concurrency: int,
    gates: GatePlan | None = None,
) -> InflightServed:
    """Serve one trace from an empty cache; see :meth:`InflightModel.serve`."""
    count = 1 if domains is None or not len(domains) else int(np.max(domains)) + 1
    return InflightModel(settings, count).serve(trace, concurrency=concurrency, domains=domains, gates=gates)


def needed_blocks(trace: Trace) -> Counts:
    """Blocks that each request holds at its end: all tokens but the last one sampled, shape (n,)."""
    needed: Counts = -(-(trace.input_tokens + np.maximum(trace.output_tokens - 1, 0)) // trace.unit)
    return needed


def most_blocks(trace: Trace) -> int:
    """Of any request, at least 1."""
    return int(needed_blocks(trace).max(initial=1))


def _none(domains: int, numbers: int) -> Numbers:
    return np.full((domains, numbers), -1, dtype=np.int32)


def limits_of(settings: SchedulerSettings) -> Limits:
    """The settings as the loop takes them."""
    return Limits(
        unit=settings.block_size,
        budget=settings.max_num_batched_tokens,
        seats=settings.max_num_seqs,
        threshold=settings.long_prefill_token_threshold,
        reserve=settings.reserve_full_prompt,
        margin=int(settings.watermark * settings.num_blocks),
        drop=settings.hit_drop,
        crowd=0,
        early=-1,
    )


def new_pool(blocks: int, domains: int) -> Pool:
    """Empty pools; in each all blocks but the null block stand in the free queue, in order."""
    numbers = np.arange(blocks * domains, dtype=np.int32).reshape(domains, blocks)
    zero = np.zeros(blocks * domains, dtype=np.int32)
    return Pool(
        after=np.roll(numbers, -1, axis=1).reshape(-1),
        before=np.roll(numbers, 1, axis=1).reshape(-1),
        holders=zero,
        key=zero - 1,
        twin_after=zero.copy(),
        twin_before=zero.copy(),
        first=np.full((domains, 0), -1, dtype=np.int32),
        free=np.full(domains, blocks - 1, dtype=np.int64),
        holding=np.zeros(domains, dtype=np.int64),
    )


def new_samples(rows: int, domains: int) -> Samples:
    """Room for so many samples; every step is taken until it is full."""
    none = np.zeros(rows, dtype=np.int32)
    return Samples(np.zeros(rows), np.zeros((rows, domains), dtype=np.int32), none, none.copy(), np.array([0, 1]))


def new_engines(domains: int, slots: int, longest: int) -> Engines:
    """Idle engines for ``slots`` requests in flight of at most ``longest`` blocks."""
    places = np.zeros((domains, slots + 1), dtype=np.int32)
    none = np.zeros(domains, dtype=np.int64)
    return Engines(
        running=places,
        running_count=none,
        waiting=places.copy(),
        waiting_first=none.copy(),
        waiting_count=none.copy(),
        coming=places.copy(),
        coming_time=np.zeros((domains, slots + 1)),
        coming_first=none.copy(),
        coming_count=none.copy(),
        batch=places.copy(),
        batch_new=places.astype(np.int64),
        batch_count=none.copy(),
        ends=np.full(domains, np.inf),
        steps=none.copy(),
        rows=np.zeros((slots, longest), dtype=np.int32),
    )
