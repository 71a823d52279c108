"""A dataset served by the caches of an engine: what it would hit there, request by request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from prefixcache.cache.matching.semantics import CHAINED, CHUNKS, INDEPENDENT, Matching
from prefixcache.dataset.as_traces import DatasetTraces, read_dataset_traces
from prefixcache.dataset.contents import read_manifest
from prefixcache.errors import InputError
from prefixcache.schemas.versions import VERSIONS
from prefixcache.simulation import engines
from prefixcache.simulation.engines import Engine
from prefixcache.simulation.figures import pass_figures
from prefixcache.simulation.passes import Server, earlier_of, serve_pass
from prefixcache.simulation.routes import Routing, routing_of
from prefixcache.simulation.sizes import FIELD, as_given, named_as_flags
from prefixcache.simulation.sweep import sweep

PASSES = ("cold", "hot", "replay")
GATING = ("watermark", "first_token", "completion", "none")


def simulate_dataset(
    root: Path,
    *,
    engine: str = engines.VLLM,
    num_blocks: int | None = None,
    block_size: int | None = None,
    domains: int | None = None,
    routing: str | None = None,
    concurrency: int = 1,
    gating: str | None = None,
    max_num_batched_tokens: int | None = None,
    max_num_seqs: int | None = None,
    only_pass: str | None = None,
    with_sweep: bool = False,
) -> dict[str, Any]:
    """Simulate the passes of a dataset, each from an empty cache on.

    Args:
        root: folder of the dataset.
        num_blocks: blocks of each domain's cache (SGLang: pages); None: unbounded.
        block_size: tokens per block; default the dataset's hit unit.
        domains, routing: cache domains and how requests come to them; default as planned.
        concurrency: requests in flight; more than 1 needs vLLM and a number of blocks.
        gating: when requests in flight may be sent; default the dataset's.
        max_num_batched_tokens, max_num_seqs: of vLLM's scheduler, with requests in flight.
        only_pass: ``cold``, ``hot`` or ``replay``; default the dataset's passes.
        with_sweep: add hits against capacity, one request at a time.

    Raises:
        InputError: no dataset, one without token ids, or options that do not go together.
    """
    manifest = read_manifest(root)
    unit = block_size or int(manifest["hit_unit"])
    server = Server(
        Engine.named(engine, int(manifest.get("hit_drop") or 0)),
        num_blocks,
        concurrency,
        max_num_batched_tokens,
        max_num_seqs,
        gating or str((manifest.get("execution") or {}).get("gating") or "none"),
    )
    server.engine.check_size(num_blocks, with_sweep)
    _check(server, gating, only_pass)
    traces = read_dataset_traces(root, _matching(engine, unit, manifest))
    routes = routing_of(manifest, traces.plan, traces.warm_plan, domains=domains, policy=routing)
    names = [only_pass] if only_pass else [row["name"] for row in manifest["passes"]]
    _check_warmup(names, traces)
    report: dict[str, Any] = {
        "schema_version": VERSIONS["dataset_simulation"],
        "dataset_id": manifest["dataset_id"],
        "engine": engine,
        "block_size": unit,
        "num_blocks": as_given(num_blocks),
        "hit_drop": server.engine.drop,
        "domains": routes.count,
        "routing": routes.policy,
        "concurrency": concurrency,
        "gating": server.gating if concurrency > 1 else None,
        "passes": [_pass(name, traces, routes, server) for name in names],
        "warnings": _warnings(manifest, unit, server),
    }
    if with_sweep:
        report["sweeps"] = [{"name": name, **_sweep(name, traces, routes, server.engine)} for name in names]
    return report


def _pass(name: str, traces: DatasetTraces, routes: Routing, server: Server) -> dict[str, Any]:
    with named_as_flags():
        served = serve_pass(name, traces, routes, server)
    return pass_figures(name, traces, routes, served, server.blocks)


def _sweep(name: str, traces: DatasetTraces, routes: Routing, engine: Engine) -> dict[str, Any]:
    before = earlier_of(name, traces, routes)
    homes = range(routes.count)
    parts = [traces.requests.take(np.flatnonzero(routes.domains == home)) for home in homes]
    if before is None:
        return sweep(engine, parts)
    return sweep(engine, parts, [before[0].take(np.flatnonzero(before[1] == home)) for home in homes])


def _matching(engine: str, unit: int, manifest: dict[str, Any]) -> Matching:
    rules = manifest.get("collision_detection") or {}
    if engine == engines.CHUNKS:
        return Matching.of({"chunk": rules.get("chunk"), "cache_match_semantics": CHUNKS}, unit)
    return Matching(INDEPENDENT if engine == engines.INDEPENDENT else CHAINED, unit)


def _check(server: Server, gating: str | None, only_pass: str | None) -> None:
    name = server.engine.name
    if gating is not None and gating not in GATING:
        raise InputError(f"{gating!r} is unknown", field="--gating", remedy=f"write one of {', '.join(GATING)}.")
    if only_pass is not None and only_pass not in PASSES:
        raise InputError(f"{only_pass!r} is no pass", field="--pass", remedy=f"write one of {', '.join(PASSES)}.")
    if server.concurrency == 1:
        return
    if name != engines.VLLM:
        raise InputError(
            f"requests in flight are modelled for vllm, not for {name}",
            field="--concurrency",
            remedy="leave it out, or use --engine vllm.",
        )
    if server.blocks is None:
        raise InputError(
            "requests in flight need a pool of a size",
            field=FIELD,
            remedy="write the server's number of blocks per domain (vLLM prints it when it starts: num_gpu_blocks).",
        )


def _check_warmup(names: list[str], traces: DatasetTraces) -> None:
    if "hot" in names and not len(traces.warm_plan):
        raise InputError(
            "the dataset has no warmup prompts",
            field="--pass",
            remedy="choose cold or replay, or generate it with execution.mode warmup or compare.",
            dataset_id=traces.manifest["dataset_id"],
        )


def _warnings(manifest: dict[str, Any], unit: int, server: Server) -> list[str]:
    valid = manifest.get("valid_hit_units") or []
    found = []
    if valid and unit not in valid:
        listed = ", ".join(str(each) for each in valid[:8])
        found.append(
            f"the dataset was made for hit units {listed}; at {unit} tokens its requests hit otherwise than designed"
        )
    if server.engine.name in engines.SCATTERED:
        found.append(f"the eviction of {server.engine.name} caches was not measured on an engine; it is taken as LRU")
    return found
