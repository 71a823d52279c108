"""`prefixcache simulate`: what a request trace or a dataset would hit in a cache of a given engine and size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.commands.simulate_options import (
    DATASET,
    RECORD,
    TRACE,
    BatchedTokens,
    BlockSize,
    Calibrate,
    ClockedBy,
    Concurrency,
    Dataset,
    Domains,
    Engine,
    ExternalBlocks,
    Gating,
    HostBlocks,
    Like,
    LongPrefill,
    NumBlocks,
    OnlyPass,
    Routing,
    Seqs,
    TierWrite,
    Trace,
    check_flags,
    kind_of,
    one_size,
    sizes_of,
)
from flows.console import emit_json, err, reporting_errors, warn
from flows.options import AsJson, Language, named_file
from flows.simulation_view import show_clocked, show_dataset, show_trace
from prefixcache.help.messages import language_of, say

SHOWS = {TRACE: show_trace, DATASET: show_dataset, RECORD: show_clocked}


def simulate(
    trace: Trace = None,
    dataset: Dataset = None,
    like: Like = None,
    clocked_by: ClockedBy = None,
    engine: Engine = None,
    num_blocks: NumBlocks = None,
    block_size: BlockSize = None,
    host_blocks: HostBlocks = None,
    external_blocks: ExternalBlocks = None,
    tier_write: TierWrite = None,
    count_partial: Annotated[
        bool, typer.Option("--count-partial", help="Of a trace: count last blocks that are not full, too.")
    ] = False,
    domains: Domains = None,
    routing: Routing = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of random routes of a trace.")] = 0,
    concurrency: Concurrency = None,
    gating: Gating = None,
    max_num_batched_tokens: BatchedTokens = None,
    max_num_seqs: Seqs = None,
    long_prefill_token_threshold: LongPrefill = None,
    calibrate: Calibrate = False,
    only_pass: OnlyPass = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Hits against capacity, and what 50, 90 and 99 % of the ideal need.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Draw the sweep into this file.", parser=named_file, metavar="PATH")
    ] = None,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Simulate a request trace or a dataset in an engine's cache: hits, evictions, use of the cache."""
    with reporting_errors(as_json=as_json):
        chosen = language_of(lang)
        kind = kind_of(trace, dataset, clocked_by, like)
        sweep = sweep or html is not None
        options: dict[str, Any] = {
            "engine": engine,
            "block_size": block_size,
            "domains": domains,
            "routing": routing,
            "concurrency": concurrency,
            "gating": gating,
            "max_num_batched_tokens": max_num_batched_tokens,
            "max_num_seqs": max_num_seqs,
            "long_prefill_token_threshold": long_prefill_token_threshold,
            "host_blocks": host_blocks,
            "external_blocks": external_blocks,
            "tier_write": tier_write,
        }
        check_flags(
            kind,
            {f"--{name.replace('_', '-')}": value for name, value in options.items()}
            | {"--num-blocks": num_blocks, "--count-partial": count_partial or None, "--seed": seed or None}
            | {"--like": like, "--calibrate": calibrate or None, "--pass": only_pass, "--sweep": sweep or None},
        )
        from prefixcache.simulation.sizes import parse_sizes

        sizes = None if num_blocks is None else parse_sizes(num_blocks)
        given = {name: value for name, value in options.items() if value is not None}
        if trace is not None:
            from prefixcache.simulation.request_trace import simulate_trace

            report = simulate_trace(
                trace,
                block_size=block_size or 512,
                num_blocks=sizes_of(sizes, engine or "lru", sweep),
                engine=engine or "lru",
                count_partial=count_partial,
                domains=domains or 1,
                routing=routing or "round_robin",
                seed=seed,
                with_sweep=sweep,
            )
        elif clocked_by is not None:
            from prefixcache.simulation.clocked import simulate_clocked

            report = simulate_clocked(clocked_by, given | _given_size(sizes), only_pass=only_pass)
        else:
            for name in ("host_blocks", "external_blocks"):
                if name in given:
                    given[name] = _tier_size(given[name], name)
            more = {"only_pass": only_pass, "with_sweep": sweep}
            report = _of_dataset(dataset, like, given, sizes, calibrate=calibrate, **more)
        if html is not None:
            from prefixcache.report.sweep import write_sweep

            write_sweep(report, html, chosen)
        warn(report["warnings"])
        if as_json:
            emit_json(report)
            return
        SHOWS[kind](report, chosen)
        if html is not None:
            err.print(say("report.path", chosen, path=html), soft_wrap=True)


def _of_dataset(
    dataset: Any,
    like: Path | None,
    given: dict[str, Any],
    sizes: list[int | None] | None,
    *,
    calibrate: bool,
    **more: Any,
) -> dict[str, Any]:
    from prefixcache.simulation.dataset import simulate_dataset
    from prefixcache.simulation.like import simulate_like
    from prefixcache.stages.fetch import here

    if like is not None:
        root = like / "dataset" if dataset is None else here(dataset, "--dataset")
        return simulate_like(root, like, given | _given_size(sizes), calibrate=calibrate, **more)
    size = one_size(sizes_of(sizes, given.get("engine", "vllm"), more["with_sweep"]))
    return simulate_dataset(here(dataset, "--dataset"), num_blocks=size, **given, **more)


def _given_size(sizes: list[int | None] | None) -> dict[str, int | None]:
    return {} if sizes is None else {"num_blocks": one_size(sizes)}


def _tier_size(text: str, name: str) -> int | str:
    from prefixcache.simulation.sizes import UNBOUNDED, parse_sizes

    field = f"--{name.replace('_', '-')}"
    size = one_size(parse_sizes(text, field), field)
    return UNBOUNDED if size is None else size
