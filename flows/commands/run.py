"""`prefixcache run`: send a dataset to a server, collect its counters, compare."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from flows.commands.running import check_language, execute
from flows.console import emit_json, reporting_errors
from flows.dry_run_view import tell_dry_run
from flows.options import AsJson, DatasetPlace, Language, NoPrefect, Slo, named_folder, named_place
from flows.sending_options import (
    Api,
    ConnectTimeout,
    EngineWarmup,
    ExtraBody,
    FirstByteTimeout,
    Headers,
    Processes,
    RankField,
    Retries,
    RetryWait,
    TotalTimeout,
)

OUTPUTS = Path("outputs")


def run(
    dataset: DatasetPlace,
    url: Annotated[list[str], typer.Option("--url", "-u", help="Base URL or full path of the API. Repeatable.")],
    metrics_url: Annotated[
        list[str] | None, typer.Option("--metrics-url", help="Metrics page; default /metrics of each URL. Repeatable.")
    ] = None,
    run_dir: Annotated[
        Path | None,
        typer.Option(
            "--run-dir",
            "-r",
            help="Folder of the run, new, empty or that of an earlier run; default outputs/run_NNN.",
            parser=named_folder,
            metavar="PATH",
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model name; default the server's first.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Requests in flight; default the dataset's.")] = None,
    load: Annotated[
        str | None,
        typer.Option(
            "--load",
            help="closed:16, constant:200, poisson:200, gamma:200,burstiness=0.5, rates:10x30s,50x30s, "
            "ramp:10..200,seconds=60 or trace:FILE; default closed with --concurrency.",
        ),
    ] = None,
    max_in_flight: Annotated[
        int | None, typer.Option("--max-in-flight", min=1, help="Of an open load: requests in flight at most.")
    ] = None,
    duration: Annotated[
        float | None, typer.Option("--duration", help="Seconds of load after which nothing is sent any more.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Send only the first so many requests of the send order.")
    ] = None,
    gating: Annotated[str | None, typer.Option(help="watermark, first_token, completion or none.")] = None,
    send: Annotated[
        str, typer.Option(help="Send prompts as `text` or as token `ids`; `auto`: as text where the dataset has it.")
    ] = "auto",
    isolation: Annotated[
        str, typer.Option(help="How a pass meets no cache of before: auto, reset, salt, variant or none.")
    ] = "auto",
    variant_dataset: Annotated[
        Any,
        typer.Option(
            "--variant-dataset",
            help="Same plan, other content: for the second pass of compare.",
            parser=named_place,
            metavar="PATH",
        ),
    ] = None,
    allow_residue: Annotated[
        bool, typer.Option("--allow-residue", help="Go on where the cache cannot be proven empty.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier run in the folder.")] = False,
    without_prompts: Annotated[
        bool, typer.Option("--without-prompts", help="Keep no prompts in the run's folder, only what tells of them.")
    ] = False,
    insecure: Annotated[bool, typer.Option("--insecure", help="Take any TLS certificate of the server.")] = False,
    ca_file: Annotated[
        Path | None, typer.Option("--ca-file", help="PEM file of the authorities that signed its certificate.")
    ] = None,
    proxy: Annotated[
        str | None, typer.Option("--proxy", help="Forward proxy; those of the environment are not used.")
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            help="Seconds to wait for the next byte of an answer before its request fails; a whole request may take "
            "three times as long.",
        ),
    ] = 300.0,
    kv_events: Annotated[
        list[str] | None,
        typer.Option("--kv-events", help="Record the KV events published at tcp://HOST:PORT. One for each --url."),
    ] = None,
    kv_events_replay: Annotated[
        list[str] | None,
        typer.Option("--kv-events-replay", help="Where the server repeats events that were lost; likewise."),
    ] = None,
    slo: Slo = None,
    processes: Processes = None,
    api: Api = "openai",
    header: Headers = None,
    extra_body: ExtraBody = None,
    retries: Retries = 0,
    retry_wait: RetryWait = 0.5,
    engine_warmup: EngineWarmup = 0,
    rank_field: RankField = None,
    connect_timeout: ConnectTimeout = None,
    first_byte_timeout: FirstByteTimeout = None,
    total_timeout: TotalTimeout = None,
    live: Annotated[
        bool, typer.Option("--live", help="Show a dashboard while the run lasts; only on a terminal.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what the run would take, send nothing.")] = False,
    prefill_tps: Annotated[
        float | None, typer.Option(min=0, help="For --dry-run: prompt tokens the server computes per second.")
    ] = None,
    decode_tps: Annotated[
        float | None, typer.Option(min=0, help="For --dry-run: output tokens per second and request.")
    ] = None,
    lang: Language = "en",
    no_prefect: NoPrefect = False,
    as_json: AsJson = False,
) -> None:
    """Run a dataset and put target, design and measurement side by side. Exit 1 if requests failed."""
    with reporting_errors(as_json=as_json, again="again.run"):
        check_language(lang)
        from prefixcache.stages.fetch import here

        dataset = here(dataset, "--dataset")
        variant_dataset = here(variant_dataset, "--variant-dataset") if variant_dataset else None
        reach = {"insecure": insecure, "ca_file": ca_file, "proxy": proxy}
        if dry_run:
            rates = {"assumed_prefill_tps": prefill_tps, "assumed_decode_tps": decode_tps}
            chosen = {"metrics_urls": tuple(metrics_url or ()), "model": model, "send": send, **rates}
            chosen |= {"load": load, "max_in_flight": max_in_flight, "duration": duration, "limit": limit}
            tell_dry_run(dataset, url, concurrency, gating, chosen, reach, as_json, lang)
            return
        report = execute(
            dataset,
            run_dir or next_run_dir(OUTPUTS),
            no_prefect=no_prefect,
            quiet=as_json,
            live=live,
            urls=url,
            metrics_urls=metrics_url or [],
            model=model,
            concurrency=concurrency,
            load=load,
            max_in_flight=max_in_flight,
            duration=duration,
            limit=limit,
            gating=gating,
            send=send,
            isolation=isolation,
            variant_dataset=variant_dataset,
            allow_residue=allow_residue,
            overwrite=overwrite,
            without_prompts=without_prompts,
            slo=slo,
            kv_events=tuple(kv_events or ()),
            kv_events_replay=tuple(kv_events_replay or ()),
            timeouts={
                "timeout": timeout,
                "connect_timeout": connect_timeout,
                "first_byte_timeout": first_byte_timeout,
                "total_timeout": total_timeout,
            },
            sending={
                "processes": processes,
                "api": api,
                "header": header,
                "extra_body": extra_body,
                "retries": retries,
                "retry_wait": retry_wait,
                "engine_warmup": engine_warmup,
                "rank_field": rank_field,
            },
            reach=reach,
            language=lang,
        )
        if as_json:
            emit_json(report)
        if report["run_status"] != "complete":
            raise typer.Exit(1)


def next_run_dir(parent: Path) -> Path:
    """outputs/run_001, or the next free number."""
    taken = [int(m.group(1)) for p in parent.glob("run_*") if (m := re.fullmatch(r"run_(\d+)", p.name))]
    return parent / f"run_{max(taken, default=0) + 1:03d}"
