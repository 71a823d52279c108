"""`prefixcache simulate`: what a request trace or a dataset would hit in a cache of a given engine and size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.console import emit_json, err, reporting_errors, warn
from flows.options import AsJson, Language, named_file, named_place
from flows.simulation_view import show_dataset, show_trace
from prefixcache.errors import InputError
from prefixcache.help.messages import language_of, say

MOST = 1 << 24
Trace = Annotated[
    Path | None,
    typer.Option("--trace", help="Request trace with block hashes, JSON lines (Mooncake's format).", parser=named_file,
                 metavar="PATH"),
]  # fmt: skip
Dataset = Annotated[
    Any,
    typer.Option("--dataset", "-d", help="Folder or address that `generate` wrote.", parser=named_place,
                 metavar="PATH"),
]  # fmt: skip
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="lru, vllm, sglang, unbounded; of a dataset also independent_block, content_defined_chunk. "
        "Default lru for a trace, vllm for a dataset.",
    ),
]
BlockSize = Annotated[
    int | None,
    typer.Option("--block-size", "-b", min=1, max=MOST, help="Tokens per block (SGLang: page). Default 512 for a "
                 "trace, the hit unit for a dataset."),
]  # fmt: skip
NumBlocks = Annotated[
    str | None,
    typer.Option(
        "--num-blocks", "-n", help="Blocks of each domain's cache, or unbounded; of a trace several, with commas."
    ),
]
Domains = Annotated[
    int | None, typer.Option("--domains", "--dp", min=1, max=1024, help="Caches that share nothing (DP ranks).")
]
Routing = Annotated[
    str | None,
    typer.Option(
        "--routing",
        help="round_robin, group_round_robin, bound, sticky, random, explicit; of a trace round_robin or random.",
    ),
]
Concurrency = Annotated[
    int, typer.Option("--concurrency", min=1, max=100_000, help="Requests in flight; 1: one at a time.")
]


def simulate(
    trace: Trace = None,
    dataset: Dataset = None,
    engine: Engine = None,
    num_blocks: NumBlocks = None,
    block_size: BlockSize = None,
    count_partial: Annotated[
        bool, typer.Option("--count-partial", help="Of a trace: count last blocks that are not full, too.")
    ] = False,
    domains: Domains = None,
    routing: Routing = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of random routes of a trace.")] = 0,
    concurrency: Concurrency = 1,
    gating: Annotated[
        str | None,
        typer.Option("--gating", help="With requests in flight: watermark, first_token, completion, none."),
    ] = None,
    max_num_batched_tokens: Annotated[
        int | None, typer.Option("--max-num-batched-tokens", min=1, help="With requests in flight: tokens of a step.")
    ] = None,
    max_num_seqs: Annotated[
        int | None, typer.Option("--max-num-seqs", min=1, help="With requests in flight: requests that run at once.")
    ] = None,
    only_pass: Annotated[
        str | None, typer.Option("--pass", help="Of a dataset: cold, hot or replay; default its own passes.")
    ] = None,
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
        if (trace is None) == (dataset is None):
            raise InputError(
                "neither a trace nor a dataset is given" if trace is None else "a trace and a dataset are given",
                field="--trace, --dataset",
                remedy="give one of them.",
            )
        flags: dict[str, Any] = {
            "--count-partial": count_partial or None,
            "--seed": seed or None,
            "--concurrency": concurrency if concurrency > 1 else None,
            "--gating": gating,
            "--max-num-batched-tokens": max_num_batched_tokens,
            "--max-num-seqs": max_num_seqs,
            "--pass": only_pass,
        }
        of_trace = ("--count-partial", "--seed")
        _refuse(flags, {name for name in flags if (name in of_trace) == (trace is None)}, trace is not None)
        from prefixcache.simulation.sizes import parse_sizes

        sweep = sweep or html is not None
        sizes = None if num_blocks is None else parse_sizes(num_blocks)
        if trace is not None:
            from prefixcache.simulation.request_trace import simulate_trace

            report = simulate_trace(
                trace,
                block_size=block_size or 512,
                num_blocks=_sizes(sizes, engine or "lru", sweep),
                engine=engine or "lru",
                count_partial=count_partial,
                domains=domains or 1,
                routing=routing or "round_robin",
                seed=seed,
                with_sweep=sweep,
            )
        else:
            from prefixcache.simulation.dataset import simulate_dataset
            from prefixcache.stages.fetch import here

            report = simulate_dataset(
                here(dataset, "--dataset"),
                engine=engine or "vllm",
                num_blocks=_one_size(_sizes(sizes, engine or "vllm", sweep)),
                block_size=block_size,
                domains=domains,
                concurrency=concurrency,
                gating=gating,
                max_num_batched_tokens=max_num_batched_tokens,
                max_num_seqs=max_num_seqs,
                only_pass=only_pass,
                routing=routing,
                with_sweep=sweep,
            )
        if html is not None:
            from prefixcache.report.sweep import write_sweep

            write_sweep(report, html, chosen)
        warn(report["warnings"])
        if as_json:
            emit_json(report)
            return
        (show_trace if trace is not None else show_dataset)(report, chosen)
        if html is not None:
            err.print(say("report.path", chosen, path=html), soft_wrap=True)


def _refuse(flags: dict[str, Any], names: set[str], trace: bool) -> None:
    for name in sorted(names):
        if flags[name] is not None:
            raise InputError(
                f"does not go with a {'trace' if trace else 'dataset'}",
                field=name,
                remedy=f"leave it out, or give --{'dataset' if trace else 'trace'}.",
            )


def _sizes(sizes: list[int | None] | None, engine: str, sweep: bool) -> list[int | None]:
    """As given; what needs none may leave them out."""
    if sizes is not None:
        return sizes
    if sweep or engine == "unbounded":
        return [None]
    raise InputError(
        "is missing",
        field="--num-blocks",
        remedy="write the blocks of each domain's cache, or unbounded; --sweep needs none.",
    )


def _one_size(sizes: list[int | None]) -> int | None:
    if len(sizes) > 1:
        raise InputError(
            f"{len(sizes)} sizes are given, a dataset is simulated at one",
            field="--num-blocks",
            remedy="write one, or use --sweep for hits against capacity.",
        )
    return sizes[0]
