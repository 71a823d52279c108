"""`prefixcache run`: send a dataset to a server, collect its counters, compare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from flows import metering_options as metering
from flows import sending_options as sending
from flows import service_options as service
from flows.commands.running import check_language, execute
from flows.console import emit_json, reporting_errors
from flows.dry_run_view import tell_dry_run
from flows.options import AsJson, DatasetPlace, Language, Live, NoPrefect, Slo, named_folder

OUTPUTS = Path("outputs")


def run(
    dataset: DatasetPlace,
    url: service.Urls,
    metrics_url: service.MetricsUrls = None,
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
    model: service.Model = None,
    concurrency: service.Concurrency = None,
    load: service.Load = None,
    max_in_flight: service.MaxInFlight = None,
    duration: service.Duration = None,
    limit: service.Limit = None,
    gating: service.Gating = None,
    send: service.Send = service.SEND,
    isolation: service.Isolation = service.ISOLATION,
    variant_dataset: service.VariantPlace = None,
    allow_residue: service.AllowResidue = False,
    overwrite: service.Overwrite = False,
    without_prompts: service.WithoutPrompts = False,
    insecure: service.Insecure = False,
    ca_file: service.CaFile = None,
    proxy: service.Proxy = None,
    kv_events: service.KvEvents = None,
    kv_events_replay: service.KvEventsReplay = None,
    slo: Slo = None,
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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what the run would take, send nothing.")] = False,
    prefill_tps: Annotated[
        float | None,
        typer.Option(
            "--prefill-tps", min=0, metavar="X", help="For --dry-run: prompt tokens the server computes per second."
        ),
    ] = None,
    decode_tps: Annotated[
        float | None,
        typer.Option("--decode-tps", min=0, metavar="X", help="For --dry-run: output tokens per second and request."),
    ] = None,
    lang: Language = "en",
    no_prefect: NoPrefect = False,
    as_json: AsJson = False,
) -> None:
    """Run a dataset and put target, design and measurement side by side. Exit 1 if requests failed."""
    given = dict(locals())  # before any other name is bound here
    with reporting_errors(as_json=as_json, again="again.run", flags=given):
        check_language(lang)
        from prefixcache.stages.fetch import here

        given["dataset"] = here(dataset, "--dataset")
        if variant_dataset:
            given["variant_dataset"] = here(variant_dataset, "--variant-dataset")
        if dry_run:
            tell_dry_run(given, as_json=as_json, lang=lang)
            return
        with _named(run_dir) as given["run_dir"]:
            report = execute(given, no_prefect=no_prefect, quiet=as_json, language=lang, live=live)
        if as_json:
            emit_json(report)
        if report["run_status"] != "complete":
            raise typer.Exit(1)


@contextmanager
def _named(run_dir: Path | None) -> Iterator[Path]:
    """The folder that was named; else a numbered one, which goes again, and a new `outputs`, if nothing was written."""
    if run_dir is not None:
        yield run_dir
        return
    made = not OUTPUTS.exists()
    own = next_run_dir(OUTPUTS)
    try:
        yield own
    finally:
        with suppress(OSError):
            own.rmdir()
            if made:
                OUTPUTS.rmdir()


def next_run_dir(parent: Path) -> Path:
    """outputs/run_001, or the next free number: made at once, so that of two runs each has its own.

    Raises:
        OSError: it cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    taken = [int(m.group(1)) for p in parent.glob("run_*") if (m := re.fullmatch(r"run_(\d+)", p.name))]
    number = max(taken, default=0) + 1
    while True:
        found = parent / f"run_{number:03d}"
        try:
            found.mkdir()
            return found
        except FileExistsError:
            number += 1
