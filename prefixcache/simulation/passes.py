"""One pass of a dataset served by simulated caches, one request at a time or with requests in flight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.models.domains import DomainCaches
from prefixcache.cache.models.trace import Served, Trace
from prefixcache.dataset.as_traces import DatasetTraces
from prefixcache.simulation.engines import Engine
from prefixcache.simulation.routes import Routing
from prefixcache.simulation.tiers import Tiers

if TYPE_CHECKING:
    from prefixcache.cache.models.inflight import InflightServed, Pace

Domains = NDArray[np.int32]


@dataclass(frozen=True)
class Server:
    """What is simulated.

    Attributes:
        blocks: of each domain; None: unbounded.
        concurrency: requests in flight over all domains; 1: one at a time.
        gating: when requests in flight may be sent.
        limits: fields of ``SchedulerSettings`` beside the sizes, with requests in flight; others are vLLM's defaults.
        pace: of server and client, with requests in flight; None: the default.
        tiers: slower tiers behind each domain's cache; None: none.
    """

    engine: Engine
    blocks: int | None
    concurrency: int = 1
    gating: str = "none"
    limits: Mapping[str, Any] = field(default_factory=dict)
    pace: Pace | None = None
    tiers: Tiers | None = None


def earlier_of(name: str, traces: DatasetTraces, routing: Routing) -> tuple[Trace, Domains] | None:
    """What is served before a pass and not counted: warmup prompts, or the requests themselves.

    Args:
        name: ``cold``, ``hot`` or ``replay``.
    """
    if name == "replay":
        return traces.requests, routing.domains
    if name != "hot":
        return None
    rounds = int((traces.manifest.get("execution") or {}).get("warmup_rounds") or 1)
    rows = np.array([row for row, _ in routing.warm] * rounds, dtype=np.int64)
    homes = np.array([home for _, home in routing.warm] * rounds, dtype=np.int32)
    return traces.warmup.take(rows), homes


def serve_pass(name: str, traces: DatasetTraces, routing: Routing, server: Server) -> Served:
    """What each request hits in the pass, from an empty cache on."""
    before = earlier_of(name, traces, routing)
    if server.concurrency > 1:
        return serve_in_flight(name, traces, routing, server)
    unit = traces.requests.unit
    if server.tiers is None:
        caches = DomainCaches(lambda: server.engine.cache(server.blocks, unit), routing.count)
    else:
        caches = DomainCaches(server.tiers.behind(server.engine, server.blocks, unit), routing.count)
    if before is not None:
        caches.serve(*before)
    return caches.serve(traces.requests, routing.domains)


def serve_in_flight(name: str, traces: DatasetTraces, routing: Routing, server: Server) -> InflightServed:
    """The pass by the model of requests in flight, which takes one at a time too."""
    from prefixcache.cache.models.inflight import GatePlan, InflightModel, SchedulerSettings

    assert server.blocks is not None
    before = earlier_of(name, traces, routing)
    settings = SchedulerSettings(
        server.blocks, traces.requests.unit, hit_drop=server.engine.drop, **dict(server.limits)
    )
    if server.pace is not None:
        settings = settings.at_pace(server.pace)
    model = InflightModel(settings, routing.count)
    warm: dict[tuple[int, str], int] = {}
    if before is not None:
        model.serve(before[0], concurrency=server.concurrency, domains=before[1])
        if name == "hot":
            groups, prefixes = (traces.warm_plan[key].to_list() for key in ("prefix_group_id", "planned_prefix_len"))
            warm = {(home, groups[row]): prefixes[row] for row, home in routing.warm}
    gates = GatePlan.of(
        server.gating if name != "replay" else "none",  # type: ignore[arg-type]
        routing.domains,
        traces.plan["prefix_group_id"].to_list(),
        traces.plan["planned_prefix_len"].to_numpy(),
        head=_head(traces),
        warm=warm,
        first_alone=name == "cold",
    )
    return model.serve(traces.requests, concurrency=server.concurrency, domains=routing.domains, gates=gates)


def _head(traces: DatasetTraces) -> int:
    unit = int(traces.manifest["hit_unit"])
    return len(traces.manifest["tokenizer"].get("head") or ()) // unit * unit
