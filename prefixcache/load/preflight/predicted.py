"""What a service will make of a dataset's hits, simulated before the load: under each contradiction and under all.

The caches are those of ``prefixcache simulate``: matched in the server's unit, evicted by its engine's rule, one for
each DP rank. Requests are served one at a time in send order. Up to ``MOST_READ`` input tokens the blocks are those of
the real token ids; above, they are written down from the plan, which says the same wherever the dataset's certificate
holds: two requests of a group share the shorter of their planned prefixes and nothing behind it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.errors import InputError
from prefixcache.load.dataset import RunDataset
from prefixcache.load.preflight.conditions import Conditions
from prefixcache.load.preflight.planned_trace import planned_trace
from prefixcache.load.preflight.predicted_routes import Routes

if TYPE_CHECKING:
    from prefixcache.cache.models.trace import Served, Trace

Counts = NDArray[np.int64]
SHOWN = 5
"""Affected requests that are named."""
MOST_READ = 50_000_000
"""Input tokens up to which the prompts are read and hashed: three seconds, and a few more where the loops are compiled
for the first time."""
MOST_HASHED = 5_000_000
"""Blocks up to which they are: a page size of 1 makes as many of them as there are tokens."""
MOST_BLOCKS = 30_000_000
"""Blocks of the plan, above which nothing is simulated: it would take longer than about ten seconds."""


@dataclass(frozen=True, slots=True)
class Affected:
    """A request that will hit otherwise than designed; hits in tokens, None: the server refuses it."""

    request_id: str
    group: str
    designed: int
    predicted: int | None

    def to_json(self) -> dict[str, Any]:
        return {
            "request_id": self.request_id,
            "group": self.group,
            "designed_hit_tokens": self.designed,
            "predicted_hit_tokens": self.predicted,
        }


@dataclass(frozen=True, slots=True)
class PassPrediction:
    """One pass; ``affected`` requests hit otherwise than designed, ``without_hit`` of them nothing at all.

    ``input_tokens`` are those of the requests that the server takes.
    """

    name: str
    requests: int
    designed_hit_tokens: int
    designed_input_tokens: int
    hit_tokens: int
    input_tokens: int
    affected: int
    without_hit: int
    first: tuple[Affected, ...]

    @property
    def designed_ratio(self) -> float | None:
        return self.designed_hit_tokens / self.designed_input_tokens if self.designed_input_tokens else None

    @property
    def ratio(self) -> float | None:
        return self.hit_tokens / self.input_tokens if self.input_tokens else None

    @property
    def effect_pp(self) -> float | None:
        designed, predicted = self.designed_ratio, self.ratio
        return None if designed is None or predicted is None else 100 * (predicted - designed)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "designed_hit_ratio": self.designed_ratio,
            "predicted_hit_ratio": self.ratio,
            "predicted_hit_tokens": self.hit_tokens,
            "predicted_input_tokens": self.input_tokens,
            "effect_pp": self.effect_pp,
            "requests_affected": self.affected,
            "requests_without_hit": self.without_hit,
        }


@dataclass(frozen=True, slots=True)
class Prediction:
    """All passes under some conditions; ``target`` is the pass that the dataset's target constrains."""

    target: PassPrediction
    passes: tuple[PassPrediction, ...]

    @property
    def effect_pp(self) -> float | None:
        return self.target.effect_pp

    @property
    def text(self) -> str:
        """For people, after the finding it belongs to."""
        figures = self.target
        if figures.ratio is None or figures.designed_ratio is None or figures.effect_pp is None:
            return "predicted: the server takes none of the requests"
        ratio, designed = (100 * value for value in (figures.ratio, figures.designed_ratio))
        effect = f"{figures.effect_pp:+.2f}".replace("-", "\u2212")
        found = f"predicted: {ratio:.2f} % instead of {designed:.2f} % ({effect} pp)"
        if not figures.affected:
            return found
        more = ", …" if figures.affected > len(figures.first) else ""
        named = ", ".join(f"{one.request_id} of {one.group}" for one in figures.first) + more
        return (
            f"{found}; {figures.affected:,} of {figures.requests:,} requests hit otherwise than designed, "
            f"{figures.without_hit:,} of them nothing: {named}"
        )

    def to_json(self) -> dict[str, Any]:
        found = self.target.to_json()
        keys = ("designed_hit_ratio", "predicted_hit_ratio", "effect_pp", "requests_affected", "requests_without_hit")
        return {
            **{key: found[key] for key in keys},
            "first_affected": [one.to_json() for one in self.target.first],
            "passes": [one.to_json() for one in self.passes],
        }


class Predictor:
    """Simulates a dataset as it will be sent.

    Args:
        dataset: what is run, already cut to the run's limit.
        endpoints: how many there are.
        by_rank: cache domains are ranks that the client pins.
        base: the conditions of the plan itself.

    Attributes:
        seconds: what all simulations took so far.
        source: ``token_ids`` or ``plan``: what the blocks were made of; None before the first.
    """

    def __init__(self, dataset: RunDataset, *, endpoints: int = 1, by_rank: bool = False) -> None:
        self.dataset = dataset
        self.by_rank = by_rank
        self.endpoints = endpoints
        blocks, size = dataset.planned_blocks, dataset.block_size
        self.base = Conditions() if blocks is None else Conditions(pool_tokens=(blocks - 1) * size, engine="vllm")
        self.seconds = 0.0
        self.source: str | None = None
        self._lengths = np.array([r.input_len for r in dataset.requests], dtype=np.int64)
        self._outputs = np.array([r.output_len for r in dataset.requests], dtype=np.int64)
        self._traces: dict[int, tuple[Trace, Trace]] = {}

    def predict(self, change: Conditions) -> Prediction:
        """Hits of every pass where the plan's conditions are changed.

        Raises:
            InputError: too large to simulate in time, or a cache too small for one of its requests.
        """
        began = time.perf_counter()
        try:
            passes = tuple(self._pass(name, self._over(change)) for name in self.dataset.passes)
        finally:
            self.seconds += time.perf_counter() - began
        wanted = target_pass(self.dataset)
        return Prediction(next(one for one in passes if one.name == wanted), passes)

    def _over(self, change: Conditions) -> Conditions:
        """A server's pool takes the place of the planned one, whichever is larger."""
        base = self.base if change.pool_tokens is None else replace(self.base, pool_tokens=None)
        return base.merged(change)

    def _pass(self, name: str, conditions: Conditions) -> PassPrediction:
        requests = self.dataset.requests
        designed = np.array([r.hits.get(name, 0) for r in requests], dtype=np.int64)
        taken = np.ones(len(requests), dtype=bool)
        if conditions.longest is not None:
            taken = self._lengths + self._outputs <= conditions.longest
        if conditions.pool_tokens is not None:  # what no empty cache could hold is never served
            unit = conditions.unit or self.dataset.hit_unit
            needed = -(-(self._lengths + self._outputs) // unit)
            # SGLang's allocator asks for a page more than it fills, unless pages are single tokens.
            spare = 1 if conditions.engine == "sglang" and unit > 1 else 0
            taken &= needed + spare <= conditions.pool_tokens // unit
        hits = np.zeros(len(requests), dtype=np.int64)
        if conditions.caching:
            hits[taken] = self._hits(name, conditions, np.flatnonzero(taken))
        other = np.flatnonzero((hits != designed) | ~taken)
        first = tuple(
            Affected(
                requests[at].request_id,
                requests[at].group,
                int(designed[at]),
                int(hits[at]) if taken[at] else None,
            )
            for at in other[:SHOWN].tolist()
        )
        return PassPrediction(
            name,
            len(requests),
            int(designed.sum()),
            int(self._lengths.sum()),
            int(hits.sum()),
            int(self._lengths[taken].sum()),
            len(other),
            int(np.count_nonzero((designed > 0) & (hits == 0))),
            first,
        )

    def _hits(self, name: str, conditions: Conditions, taken: Counts) -> Counts:
        """Hit tokens of the requests that the server takes, in send order."""
        from prefixcache.cache.models.domains import DomainCaches
        from prefixcache.simulation.engines import LRU, VLLM, Engine

        unit = conditions.unit or self.dataset.hit_unit
        warm, measured = self._traces_at(unit)
        planned = int(self.dataset.manifest.get("hit_drop") or 0)
        engine = Engine.named(conditions.engine or LRU, planned if conditions.drop is None else conditions.drop)
        blocks = None
        if conditions.pool_tokens is not None:
            blocks = conditions.pool_tokens // unit + (engine.name == VLLM)
        routes = Routes(self.dataset, self.endpoints, self.by_rank, conditions)
        caches = DomainCaches(lambda: engine.cache(blocks, unit), routes.count)
        prepared = self.dataset.prepared_by(name)
        if prepared == "warmup" and len(warm):
            for _ in range(self.dataset.warmup_rounds):
                caches.serve(warm, routes.of(self.dataset.warmup))
        if prepared == "replay" or (conditions.filled and name == "cold"):
            everything = [self.dataset.requests[at] for at in taken.tolist()]
            caches.serve(measured.take(taken), routes.of(everything))
        served: Served = caches.serve(
            measured.take(taken), routes.of([self.dataset.requests[at] for at in taken.tolist()])
        )
        return served.hits

    def _traces_at(self, unit: int) -> tuple[Trace, Trace]:
        """Warmup prompts and requests as blocks of ``unit`` tokens, numbered together."""
        if unit not in self._traces:
            self._traces[unit] = self._read(unit)
        return self._traces[unit]

    def _read(self, unit: int) -> tuple[Trace, Trace]:
        tokens = int(self._lengths.sum()) + sum(w.input_len for w in self.dataset.warmup)
        if tokens // unit > MOST_BLOCKS:
            raise InputError(
                f"the dataset has {tokens // unit:,} blocks of {unit} tokens, which would take too long to simulate "
                f"before a run ({MOST_BLOCKS:,} at most)",
                field="dataset",
                remedy="see `prefixcache simulate`.",
            )
        if tokens <= MOST_READ and tokens // unit <= MOST_HASHED:
            try:
                found = self._from_ids(unit)
                self.source = "token_ids"
                return found
            except InputError:
                pass  # no ids in the dataset: the plan says the same
        self.source = "plan"
        return self._from_plan(unit)

    def _from_ids(self, unit: int) -> tuple[Trace, Trace]:
        from prefixcache.cache.matching.semantics import CHAINED, Matching
        from prefixcache.dataset.as_traces import read_dataset_traces

        found = read_dataset_traces(self.dataset.directory, Matching(CHAINED, unit))
        return found.warmup, found.requests.part(0, len(self.dataset.requests))

    def _from_plan(self, unit: int) -> tuple[Trace, Trace]:
        head = len(self.dataset.manifest["tokenizer"].get("head") or ())
        trace = planned_trace((*self.dataset.warmup, *self.dataset.requests), unit, head)
        first = len(self.dataset.warmup)
        return trace.part(0, first), trace.part(first, len(trace))


def target_pass(dataset: RunDataset) -> str:
    """The pass whose ratio the target constrains: hot for ``static_prefix_ratio``, else cold; else the only one."""
    target: dict[str, Any] = dataset.manifest.get("target") or {}
    wanted = "hot" if target.get("semantics") == "static_prefix_ratio" else "cold"
    return wanted if wanted in dataset.passes else dataset.passes[0]
