"""`prefixcache search`: the highest concurrency or rate at which an SLO is met."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flows import metering_options as metering
from flows import search_options as searching
from flows import sending_options as sending
from flows import service_options as service
from flows.commands.running import as_flow, check_language, run_progress
from flows.console import emit_json, err, note, out, reporting_errors, warn
from flows.options import AsJson, DatasetPlace, Language, Live, NoPrefect, named_folder
from flows.run_options import finish_search, search_of
from flows.secrets import refuse_blocks
from prefixcache.help.messages import language_of, say


def search(
    dataset: DatasetPlace,
    url: service.Urls,
    slo: searching.Objective,
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
    over: searching.Over = searching.OVER,
    low: searching.Low = searching.LOW,
    high: searching.High = searching.HIGH,
    resolution: searching.Resolution = searching.RESOLUTION,
    points: searching.Points = None,
    attainment: searching.Attainment = searching.ATTAINMENT,
    confirm: searching.Confirm = searching.CONFIRM,
    pass_name: searching.PassName = None,
    metrics_url: service.MetricsUrls = None,
    model: service.Model = None,
    max_in_flight: searching.MaxInFlight = None,
    duration: service.Duration = None,
    limit: service.Limit = None,
    gating: service.Gating = None,
    send: service.Send = service.SEND,
    isolation: service.Isolation = service.ISOLATION,
    variant_dataset: service.VariantPlace = None,
    allow_residue: service.AllowResidue = False,
    insecure: service.Insecure = False,
    ca_file: service.CaFile = None,
    proxy: service.Proxy = None,
    processes: sending.Processes = None,
    api: sending.Api = sending.API,
    header: sending.Headers = None,
    extra_body: sending.ExtraBody = None,
    retries: sending.Retries = 0,
    retry_wait: sending.RetryWait = sending.RETRY_WAIT_S,
    engine_warmup: sending.EngineWarmup = 0,
    rank_field: sending.RankField = None,
    timeout: sending.Timeout = sending.TIMEOUT_S,
    connect_timeout: sending.ConnectTimeout = None,
    first_byte_timeout: sending.FirstByteTimeout = None,
    total_timeout: sending.TotalTimeout = None,
    engine: metering.Engine = metering.ENGINE,
    role: metering.Roles = None,
    metrics_model: metering.MetricsModel = None,
    prometheus: metering.PrometheusUrl = None,
    selector: metering.Selector = "",
    probe_report: metering.ProbeReport = None,
    allow_misfit: metering.AllowMisfit = False,
    no_predict: metering.NoPredict = False,
    live: Live = False,
    lang: Language = "en",
    no_prefect: NoPrefect = False,
    as_json: AsJson = False,
) -> None:
    """Find the highest load at which the SLO is met, a run per point. Exit 1 if even the lowest load misses it."""
    given = dict(locals())  # before any other name is bound here
    with reporting_errors(as_json=as_json, again="again.resume", flags=given):
        check_language(lang)
        from prefixcache.stages.fetch import here

        given["dataset"] = here(dataset, "--dataset")
        if variant_dataset:
            given["variant_dataset"] = here(variant_dataset, "--variant-dataset")
        report = _searched(given, no_prefect=no_prefect, quiet=as_json, live=live, language=lang)
        if as_json:
            emit_json(report)
        else:
            _show(report, run_dir, lang)
        if report["best"] is None:
            raise typer.Exit(1)


def _searched(given: dict[str, Any], *, no_prefect: bool, quiet: bool, live: bool, language: str) -> dict[str, Any]:
    search_of(given, given["dataset"], given["run_dir"], None)  # a mistake is told before anything begins
    with run_progress(quiet=quiet, live=live, language=language) as progress:
        if not no_prefect:
            return as_flow("search", given, progress, language)
        refuse_blocks(given)
        points, bounds = search_of(given, given["dataset"], given["run_dir"], progress)
        return finish_search(points, bounds, points.measure, language_of(language))


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
