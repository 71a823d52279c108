"""A dataset served by the caches of an engine: what it would hit there, request by request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from prefixcache.simulation.tiers import tiers_of

if TYPE_CHECKING:
    from prefixcache.cache.models.inflight import Pace

PASSES = ("cold", "hot", "replay")
GATING = ("watermark", "first_token", "completion", "none")
ONE_AT_A_TIME = "the sweep serves one request at a time, whatever --concurrency says; only the passes are in flight"


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
    long_prefill_token_threshold: int | None = None,
    reserve_full_prompt: bool | None = None,
    watermark: float | None = None,
    pace: Pace | None = None,
    host_blocks: int | str | None = None,
    external_blocks: int | str | None = None,
    tier_write: str | None = None,
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
        max_num_batched_tokens, max_num_seqs, long_prefill_token_threshold, reserve_full_prompt, watermark: of vLLM's
            scheduler, with requests in flight; default vLLM's.
        pace: of server and client, with requests in flight; default that of the model.
        host_blocks, external_blocks: of slower tiers behind each domain's cache, a number or ``unbounded``; default
            no such tier.
        tier_write: ``through`` (default) or ``evicted``.
        only_pass: ``cold``, ``hot`` or ``replay``; default the dataset's passes.
        with_sweep: add hits against capacity, one request at a time.

    Raises:
        InputError: no dataset, one without token ids, or options that do not go together.
    """
    manifest = read_manifest(root)
    unit = block_size or int(manifest["hit_unit"])
    limits = {
        "max_num_batched_tokens": max_num_batched_tokens,
        "max_num_seqs": max_num_seqs,
        "long_prefill_token_threshold": long_prefill_token_threshold,
        "reserve_full_prompt": reserve_full_prompt,
        "watermark": watermark,
    }
    server = Server(
        Engine.named(engine, int(manifest.get("hit_drop") or 0)),
        num_blocks,
        concurrency,
        gating or gating_of(manifest),
        {name: value for name, value in limits.items() if value is not None},
        pace,
        tiers_of(host_blocks, external_blocks, tier_write),
    )
    server.engine.check_size(num_blocks, with_sweep)
    _check(server, gating, only_pass, with_sweep)
    if server.tiers is not None:
        server.tiers.check(server.engine, num_blocks, concurrency, with_sweep)
    traces = read_dataset_traces(root, matching_of(engine, unit, manifest))
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
    if server.tiers is not None:
        report["tiers"] = server.tiers.to_json()
    if with_sweep:
        report["sweeps"] = [{"name": name, **_sweep(name, traces, routes, server.engine)} for name in names]
        if concurrency > 1:
            report["warnings"].append(ONE_AT_A_TIME)
    return report


def _pass(name: str, traces: DatasetTraces, routes: Routing, server: Server) -> dict[str, Any]:
    with named_as_flags():
        served = serve_pass(name, traces, routes, server)
    return pass_figures(name, traces, routes, served, server.blocks, server.tiers)


def gating_of(manifest: dict[str, Any]) -> str:
    """As the dataset was planned."""
    return str((manifest.get("execution") or {}).get("gating") or "none")


def _sweep(name: str, traces: DatasetTraces, routes: Routing, engine: Engine) -> dict[str, Any]:
    before = earlier_of(name, traces, routes)
    homes = range(routes.count)
    parts = [traces.requests.take(np.flatnonzero(routes.domains == home)) for home in homes]
    if before is None:
        return sweep(engine, parts)
    return sweep(engine, parts, [before[0].take(np.flatnonzero(before[1] == home)) for home in homes])


def matching_of(engine: str, unit: int, manifest: dict[str, Any]) -> Matching:
    """Into which pieces the engine cuts a prompt."""
    rules = manifest.get("collision_detection") or {}
    if engine == engines.CHUNKS:
        return Matching.of({"chunk": rules.get("chunk"), "cache_match_semantics": CHUNKS}, unit)
    return Matching(INDEPENDENT if engine == engines.INDEPENDENT else CHAINED, unit)


def _check(server: Server, gating: str | None, only_pass: str | None, with_sweep: bool) -> None:
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
    if server.blocks is None and with_sweep:
        raise InputError(
            "a sweep serves one request at a time",
            field="--concurrency",
            remedy="leave it out, or give --num-blocks too: the passes are then simulated in flight at that size.",
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
    if server.tiers is not None:
        found.append("no engine's slower tiers were measured block for block; see docs/cache-models.md")
    return found
