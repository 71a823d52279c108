"""The model of requests in flight led by a record of the engine's steps, instead of by the order of sending."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prefixcache.cache.models.inflight.model import (
    InflightModel,
    InflightServed,
    limits_of,
    most_blocks,
    new_engines,
    new_samples,
)
from prefixcache.cache.models.inflight.state import Engines, Limits, Requests
from prefixcache.cache.models.trace import Numbers, Trace

NOBODY = -(1 << 40)
SPARE = 64
"""Slots beyond the concurrency: in the model a request may end some steps later than it did."""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One step of one domain's scheduler.

    Args:
        domain: whose.
        admitted: requests that were let in for the first time, in order.
        ended: requests that must have ended before it: the client had their last token when it sent one of those.
        early: the first of those that had been sent by then and were let in later. Let in with what was left of the
            budget, less than a block, it stores nothing, so that the record shows it a step late; -1: none.
        most: blocks that one request stored in it; more than the threshold for long prompts says that nobody waited.
    """

    domain: int
    admitted: Sequence[int]
    ended: Sequence[int] = ()
    early: int = -1
    most: int = 0


def serve_clocked(
    model: InflightModel,
    trace: Trace,
    steps: Sequence[RecordedStep],
    *,
    concurrency: int,
    domains: Numbers | None = None,
) -> InflightServed:
    """Serve requests, each let in at its recorded step; what they hit, and everything else, is the model's.

    Between two recorded steps the engine may have made others of which nothing is known, because they stored no block.
    The model makes as many as it takes until those have ended that must have, and until those fit that were let in.

    Args:
        model: keeps its state.
        steps: in the order of time; every request in one of them.
        concurrency: requests in flight at most.

    Raises:
        InputError: as :meth:`InflightModel.serve`.
    """
    where = np.zeros(len(trace), dtype=np.int32) if domains is None else np.asarray(domains, dtype=np.int32)
    requests = model.requests(trace, where)
    slots = min(len(trace), concurrency + SPARE) or 1
    driver = _Driver(
        model,
        requests,
        new_engines(model.domains, slots, most_blocks(trace)),
        limits_of(model.settings),
        list(range(slots)),
        set(),
    )
    for step in steps:
        driver.follow(step)
    driver.limits = driver.limits._replace(crowd=0, early=-1)
    for domain in range(model.domains):
        while driver.busy(domain):
            driver.step(domain)
    return model.served(requests, driver.engines, new_samples(0, model.domains))


@dataclass(slots=True)
class _Driver:
    model: InflightModel
    requests: Requests
    engines: Engines
    limits: Limits
    slots: list[int]
    queued: set[int]

    def busy(self, domain: int) -> bool:
        return bool(self.engines.running_count[domain] + self.engines.waiting_count[domain])

    def follow(self, step: RecordedStep) -> None:
        alone = bool(self.limits.threshold) and (step.most - 1) * self.limits.unit > self.limits.threshold
        early = -1 if alone else step.early
        self.limits = self.limits._replace(crowd=NOBODY if alone else 1, early=early)
        for r in step.ended:
            domain = int(self.requests.domain[r])
            while self.requests.ended_at[r] < 0 and self.busy(domain):
                self.step(domain)
        for r in (*step.admitted, *((early,) if early >= 0 else ())):
            self._enqueue(step.domain, r)
        self.step(step.domain)
        while any(self.requests.admitted_at[r] < 0 for r in step.admitted):
            self.step(step.domain)

    def _enqueue(self, domain: int, r: int) -> None:
        from prefixcache.cache.models.inflight.kernel import enqueue

        if r in self.queued:
            return
        while not self.slots:
            self.step(max(range(self.model.domains), key=self.busy))
        self.requests.slot[r] = self.slots.pop()
        self.queued.add(r)
        enqueue(self.engines, domain, r)

    def step(self, domain: int) -> None:
        from prefixcache.cache.models.inflight.kernel import complete, schedule

        pool = self.model.pool
        schedule(pool, self.requests, self.engines, self.limits, domain)
        if complete(pool, self.requests, self.engines, domain):
            sampled = self.engines.batch[domain, : self.engines.batch_count[domain]]
            self.slots += [int(self.requests.slot[r]) for r in sampled if self.requests.ended_at[r] >= 0]
