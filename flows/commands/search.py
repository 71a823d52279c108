"""`prefixcache search`: the highest concurrency or rate at which an SLO is met."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.commands.running import check_language, run_progress
from flows.console import emit_json, err, note, out, reporting_errors, warn
from flows.options import AsJson, DatasetPlace, Language, NoPrefect, named_folder, named_place
from flows.sending_options import (
    Api,
    EngineWarmup,
    ExtraBody,
    Headers,
    Processes,
    RankField,
    Retries,
    RetryWait,
    sending_of,
)
from prefixcache.help.messages import language_of, say


def search(
    dataset: DatasetPlace,
    url: Annotated[list[str], typer.Option("--url", "-u", help="Base URL or full path of the API. Repeatable.")],
    slo: Annotated[
        str, typer.Option("--slo", help="Thresholds, seconds or ms: ttft=0.5,tpot=50ms,e2e=3; any of the three.")
    ],
    run_dir: Annotated[
        Path,
        typer.Option(
            "--run-dir",
            "-r",
            help="Folder of the search; points that were finished in it are not run again.",
            parser=named_folder,
            metavar="PATH",
        ),
    ],
    over: Annotated[
        str, typer.Option("--over", help="concurrency (closed loop), or rate (Poisson arrivals per second).")
    ] = "concurrency",
    low: Annotated[float, typer.Option("--low", help="Lowest load.")] = 1,
    high: Annotated[float, typer.Option("--high", help="Highest load.")] = 256,
    resolution: Annotated[float, typer.Option("--resolution", help="Loads are multiples of this.")] = 1,
    attainment: Annotated[
        float, typer.Option("--attainment", help="Share of the requests that must hold all thresholds.")
    ] = 0.99,
    confirm: Annotated[
        int, typer.Option("--confirm", help="Points above the first miss that are measured all the same.")
    ] = 1,
    only_pass: Annotated[
        str | None, typer.Option("--pass", help="The pass that is judged: cold, hot or replay; default the target's.")
    ] = None,
    metrics_url: Annotated[
        list[str] | None, typer.Option("--metrics-url", help="Metrics page; default /metrics of each URL. Repeatable.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model name; default the server's first.")] = None,
    max_in_flight: Annotated[
        int | None, typer.Option("--max-in-flight", min=1, help="Over rates: requests in flight at most.")
    ] = None,
    duration: Annotated[
        float | None, typer.Option("--duration", help="Seconds of load after which nothing is sent any more.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Send only the first so many requests of the send order.")
    ] = None,
    gating: Annotated[str | None, typer.Option(help="watermark, first_token, completion or none.")] = None,
    send: Annotated[str, typer.Option(help="As for run: auto, text or ids.")] = "auto",
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
    insecure: Annotated[bool, typer.Option("--insecure", help="Take any TLS certificate of the server.")] = False,
    ca_file: Annotated[
        Path | None, typer.Option("--ca-file", help="PEM file of the authorities that signed its certificate.")
    ] = None,
    proxy: Annotated[
        str | None, typer.Option("--proxy", help="Forward proxy; those of the environment are not used.")
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", help="As for run.")] = 300.0,
    processes: Processes = None,
    api: Api = "openai",
    header: Headers = None,
    extra_body: ExtraBody = None,
    retries: Retries = 0,
    retry_wait: RetryWait = 0.5,
    engine_warmup: EngineWarmup = 0,
    rank_field: RankField = None,
    lang: Language = "en",
    no_prefect: NoPrefect = False,
    as_json: AsJson = False,
) -> None:
    """Find the highest load at which the SLO is met, a run per point. Exit 1 if even the lowest load misses it."""
    with reporting_errors(as_json=as_json, again="again.resume"):
        check_language(lang)
        from prefixcache.stages.fetch import here

        choices: dict[str, Any] = {
            "model": model, "duration": duration, "limit": limit, "gating": gating, "send": send,
            "isolation": isolation, "allow_residue": allow_residue,
            "variant_dataset": here(variant_dataset, "--variant-dataset") if variant_dataset else None,
        }  # fmt: skip
        asked: dict[str, Any] = {
            "slo": slo, "over": over, "low": low, "high": high, "resolution": resolution, "attainment": attainment,
            "confirm": confirm, "pass_name": only_pass, "max_in_flight": max_in_flight,
        }  # fmt: skip
        reach = {"insecure": insecure, "ca_file": ca_file, "proxy": proxy}
        sending: dict[str, Any] = {
            "processes": processes, "api": api, "header": header, "extra_body": extra_body, "retries": retries,
            "retry_wait": retry_wait, "engine_warmup": engine_warmup, "rank_field": rank_field,
        }  # fmt: skip
        place = here(dataset, "--dataset")
        with run_progress(quiet=as_json) as progress:
            if no_prefect:
                report = _in_process(
                    place, run_dir, url, metrics_url or [], asked, choices, sending, reach, timeout, progress, lang
                )
            else:
                report = _as_flow(
                    place, run_dir, url, metrics_url or [], asked, choices, sending, reach, timeout, progress, lang
                )
        if as_json:
            emit_json(report)
        else:
            _show(report, run_dir, lang)
        if report["best"] is None:
            raise typer.Exit(1)


def _in_process(
    dataset: Path,
    run_dir: Path,
    urls: list[str],
    metrics_urls: list[str],
    asked: dict[str, Any],
    choices: dict[str, Any],
    sending: dict[str, Any],
    reach: dict[str, Any],
    timeout: float,
    progress: Any,
    language: str,
) -> dict[str, Any]:
    from prefixcache.analysis.slo import parse_slo
    from prefixcache.analysis.slo_search import Bounds, bound
    from prefixcache.engines.http import Connection, Timeouts
    from prefixcache.load.options import RunOptions
    from prefixcache.load.slo_points import SloPoints, search_slo
    from prefixcache.report.slo_curve import SEARCH_HTML, write_slo_curve

    options = RunOptions(
        urls=tuple(urls),
        metrics_urls=tuple(metrics_urls),
        connection=Connection(**reach),
        timeouts=Timeouts.of(timeout),
        sending=sending_of(sending),
        **choices,
    )
    low, high, step = (bound(asked[name]) for name in ("low", "high", "resolution"))
    bounds = Bounds(low, high, step, asked["attainment"], asked["confirm"])
    points = SloPoints(dataset, run_dir, options, asked["over"], parse_slo(asked["slo"]), asked["pass_name"],
                       asked["max_in_flight"], progress)  # fmt: skip
    report = search_slo(points, bounds)
    write_slo_curve(report, run_dir / SEARCH_HTML, language_of(language))
    return report


def _as_flow(
    dataset: Path,
    run_dir: Path,
    urls: list[str],
    metrics_urls: list[str],
    asked: dict[str, Any],
    choices: dict[str, Any],
    sending: dict[str, Any],
    reach: dict[str, Any],
    timeout: float,
    progress: Any,
    language: str,
) -> dict[str, Any]:
    from flows.addresses import shown
    from flows.local_server import ready_prefect
    from prefixcache.engines.endpoint import parse_endpoint

    for url in (*urls, *metrics_urls):  # a malformed one must not reach Prefect's records
        parse_endpoint(url)
    ready_prefect()
    from flows.results import value_of
    from flows.search import search as flow
    from flows.secrets import veiled
    from tasks.run_benchmark import watched

    variant, ca_file, proxy = choices["variant_dataset"], reach["ca_file"], reach["proxy"]
    with watched(progress):
        report: dict[str, Any] = value_of(
            flow(
                dataset=str(dataset.resolve()),
                run_dir=str(run_dir.resolve()),
                url=shown(urls),
                metrics_url=shown(metrics_urls),
                **asked,
                **choices | {"variant_dataset": str(variant.resolve()) if variant else None},
                insecure=reach["insecure"],
                ca_file=str(ca_file.resolve()) if ca_file else None,
                proxy=shown([proxy])[0] if proxy else None,
                **sending | {"header": veiled(sending["header"] or [])},
                timeout=timeout,
                language=language,
                return_state=True,
            )
        )
    return report


def _show(report: dict[str, Any], run_dir: Path, lang: str) -> None:
    from flows.sheet_view import show_grid
    from prefixcache.report.slo_curve import SEARCH_HTML, answer, head, points_table

    chosen = language_of(lang)
    out.print(head(report, chosen), soft_wrap=True)
    show_grid(points_table(report, chosen))
    out.print(f"[bold]{answer(report, chosen)}[/]", soft_wrap=True)
    warn([warning[f"text_{chosen}"] for warning in report["warnings"]])
    reused = sum(point["reused"] for point in report["points"])
    if reused:
        note(say("search.from_before", chosen, count=reused, points=len(report["points"])))
    err.print(say("search.page", chosen, path=run_dir / SEARCH_HTML), soft_wrap=True)
