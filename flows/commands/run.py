"""`prefixcache run`: send a dataset to a server, collect its counters, compare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from flows.console import emit_json, err, note, out, reporting_errors, warn
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
    sending_of,
)
from prefixcache.errors import InputError
from prefixcache.help.messages import finding_of, language_of, say

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
            _dry_run(dataset, url, concurrency, gating, chosen, reach, as_json, lang)
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


def check_language(language: str) -> None:
    if language not in ("en", "zh"):
        raise InputError(f"{language!r} is unknown", field="--lang", remedy="write en or zh.")


def next_run_dir(parent: Path) -> Path:
    """outputs/run_001, or the next free number."""
    taken = [int(m.group(1)) for p in parent.glob("run_*") if (m := re.fullmatch(r"run_(\d+)", p.name))]
    return parent / f"run_{max(taken, default=0) + 1:03d}"


def execute(
    dataset: Path,
    run_dir: Path,
    *,
    no_prefect: bool,
    quiet: bool,
    urls: list[str],
    metrics_urls: list[str],
    language: str,
    reach: dict[str, Any] | None = None,
    timeouts: dict[str, Any] | None = None,
    sending: dict[str, Any] | None = None,
    live: bool = False,
    **choices: Any,
) -> dict[str, Any]:
    """Run and report, through Prefect or in process; prints the comparison unless ``quiet``; returns the report.

    ``reach``: ``insecure, ca_file, proxy``, how servers are reached. ``timeouts``, ``sending``: the command's options.
    ``live``: show the dashboard, if there is a terminal.
    """
    from prefixcache.engines.http import Connection, Timeouts
    from prefixcache.load.options import RunOptions
    from prefixcache.load.sending import Sending

    connection = Connection(**(reach or {}))
    timeouts = timeouts or {"timeout": 300.0}
    options = RunOptions(
        urls=tuple(urls),
        metrics_urls=tuple(metrics_urls),
        connection=connection,
        timeouts=Timeouts.of(*timeouts.values()),
        sending=sending_of(sending) if sending else Sending(),
        **choices,
    )
    choices |= timeouts | (sending or {})  # the flow makes its own of them
    with run_progress(quiet=quiet, live=live, language=language) as progress:
        if no_prefect:
            from prefixcache.load.run import run_benchmark
            from prefixcache.report.build import build_prefix_cache_report

            run_benchmark(dataset, run_dir, options, progress)
            report = build_prefix_cache_report(run_dir, language)
        else:
            report = _as_flow(dataset, run_dir, urls, metrics_urls, language, progress, reach or {}, choices)
    if not quiet:
        from prefixcache.report.console import print_comparison

        print_comparison(report, out, language)
        warn([entry[f"text_{language}"] for entry in report["warnings"]])
        path = run_dir / "report" / "prefix_cache_report.html"
        out.print(say("report.path", language_of(language), path=path), soft_wrap=True)
    return report


def _as_flow(
    dataset: Path,
    run_dir: Path,
    urls: list[str],
    metrics_urls: list[str],
    language: str,
    progress: Any,
    reach: dict[str, Any],
    choices: dict[str, Any],
) -> dict[str, Any]:
    from flows.addresses import shown
    from flows.local_server import ready_prefect
    from prefixcache.engines.endpoint import parse_endpoint

    for url in (*urls, *metrics_urls):  # a malformed one must not reach Prefect's records
        parse_endpoint(url)
    ready_prefect()
    from flows.results import value_of
    from flows.run import run as flow
    from flows.secrets import veiled
    from tasks.run_benchmark import watched

    plain = {name: str(value.resolve()) if isinstance(value, Path) else value for name, value in choices.items()}
    plain |= {name: list(value) for name, value in plain.items() if isinstance(value, tuple)}
    plain |= {"header": veiled(plain["header"])} if plain.get("header") else {}
    ca_file, proxy = reach.get("ca_file"), reach.get("proxy")
    with watched(progress):
        report: dict[str, Any] = value_of(
            flow(
                dataset=str(dataset.resolve()),
                run_dir=str(run_dir.resolve()),
                url=shown(urls),
                metrics_url=shown(metrics_urls),
                language=language,
                insecure=bool(reach.get("insecure")),
                ca_file=str(ca_file.resolve()) if ca_file else None,
                proxy=shown([proxy])[0] if proxy else None,
                return_state=True,
                **plain,
            )
        )
    return report


@contextmanager
def run_progress(*, quiet: bool, live: bool = False, language: str = "en") -> Iterator[Any]:
    """A line per pass and phase on stderr, or the dashboard; silent without a terminal. Notes are printed in any
    case."""
    if live and err.is_terminal:
        from flows.live_view import live_progress

        with live_progress(err, language_of(language)) as show_frames:
            yield show_frames
        return
    if live:
        note(say("live.no_terminal", language_of(language)))
    columns = (
        SpinnerColumn(finished_text="[green]✓[/]"),
        TextColumn("{task.description:<18}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, disable=quiet or not err.is_terminal) as bars:
        rows: dict[str, Any] = {}

        def show(event: Any) -> None:
            name = f"{event.pass_name} {event.phase}".strip()
            failed = f"[red]{event.failed} failed[/]" if event.failed else ""
            if name not in rows:
                rows[name] = bars.add_task(name, total=event.total, failed=failed)
            bars.update(rows[name], completed=event.done, total=event.total, failed=failed)
            if event.note:
                note(event.note)

        yield show


def _dry_run(
    dataset: Path,
    urls: list[str],
    concurrency: int | None,
    gating: str | None,
    chosen: dict[str, Any],
    reach: dict[str, Any],
    as_json: bool,
    lang: str = "en",
) -> None:
    from prefixcache.engines.http import Connection
    from prefixcache.load.dry_run import dry_run
    from prefixcache.load.options import RunOptions

    facts = dry_run(
        dataset,
        RunOptions(
            urls=tuple(urls),
            concurrency=concurrency,
            gating=gating,  # type: ignore[arg-type]
            connection=Connection(**reach),
            **chosen,
        ),
    )
    if as_json:
        emit_json(facts)
        return
    show_facts(facts, lang)
    check, language = facts["server_check"], language_of(lang)
    if error := check["error"]:
        remedy = say("remedy", language, text=finding_of(error.get("remedy") or "", language))
        warn([f"{finding_of(error['message'], language)}{'。' if language == 'zh' else '. '}{remedy}"])
    warn([entry["message"] for entry in check["warnings"]])


def show_facts(facts: dict[str, Any], language: str = "en") -> None:
    """What a run would take, a line per figure and a block per pass."""
    lang = language_of(language)
    seconds = facts["estimated_time"]["seconds"]
    time = say("run.time_unknown", lang) if seconds is None else say("run.about", lang, seconds=f"{seconds:,.0f}")
    if seconds == 0:
        time = say("run.overhead_only", lang)
    assumption = finding_of(facts["estimated_time"]["assumption"], lang)
    what = {name: facts[name] for name in ("execution_mode", "concurrency", "load", "gating")}
    how = "run.how" if facts["load"] == f"closed:{facts['concurrency']}" else "run.how_load"
    out.print(f"[bold]{facts['dataset_id']}[/]  {say(how, lang, **what)}", soft_wrap=True)
    out.print(say("run.time", lang, time=time, assumption=assumption), soft_wrap=True)
    names = ("requests", "warmup", "input_tokens", "output_tokens", "expected_hits", "kv_tokens", "chain")
    table = Table(*(say(f"column.{name}", lang) for name in ("pass", *names)))
    for column in table.columns[1:]:
        column.justify = "right"
    for row in facts["passes"]:
        figures = ("requests", "warmup_requests", "input_tokens", "output_tokens", "expected_hit_tokens")
        table.add_row(row["name"], *(f"{row[name]:,}" for name in figures), f"{row['kv_tokens_needed']:,}",
                      f"{row['longest_chain']} → {row['permitted_mean_concurrency']:.1f}")  # fmt: skip
    out.print(table)
    out.print(f"[dim]{say('run.legend', lang)}[/]", soft_wrap=True)
