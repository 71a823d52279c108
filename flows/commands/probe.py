"""`prefixcache probe`: how a server's prefix cache really works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows import metering_options as metering
from flows import sending_options as sending
from flows import service_options as service
from flows.console import emit_json, err, out, reporting_errors, warn
from flows.options import AsJson, Language, named_file
from flows.secrets import refuse_blocks
from prefixcache.errors import InputError
from prefixcache.help.messages import language_of, say

if TYPE_CHECKING:
    from prefixcache.help.words import Language as Chosen
    from prefixcache.probe.findings import ProbeReport

TIME_LIMIT_S = 60.0


def probe(
    url: Annotated[str, typer.Option("--url", "-u", metavar="URL", help="Base URL or full path of the API.")],
    metrics_url: service.MetricsUrls = None,
    model: service.Model = None,
    tokenizer: Annotated[
        str | None,
        typer.Option("--tokenizer", metavar="PATH", help="Folder or hub name to compare the server's tokenizer with."),
    ] = None,
    capacity: Annotated[
        bool, typer.Option("--capacity", help="Fill the cache with random prompts to see how much it holds.")
    ] = False,
    no_reset: Annotated[
        bool,
        typer.Option("--no-reset", help="Never empty the cache, neither to try the route nor at the end."),
    ] = False,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="For everything; what is not reached is unknown.")
    ] = TIME_LIMIT_S,
    write_config: Annotated[
        Path | None,
        typer.Option(
            "--write-config",
            metavar="FILE",
            parser=named_file,
            help="Write what was found as keys of a configuration.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file of --write-config if it exists.")
    ] = False,
    api: sending.Api = sending.API,
    header: sending.Headers = None,
    rank_field: sending.RankField = None,
    engine: metering.Engine = metering.ENGINE,
    insecure: service.Insecure = False,
    ca_file: service.CaFile = None,
    proxy: service.Proxy = None,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Find out how a server's prefix cache works, by prompts of its own. Exit 1 if what it says is not so."""
    with reporting_errors(as_json=as_json, flags=("header", "rank_field", "engine")):
        chosen = language_of(lang)
        _check_free(write_config, overwrite)
        refuse_blocks({"header": header})
        from prefixcache.engines.http import Connection
        from prefixcache.files import write_bytes
        from prefixcache.load.sending import Sending, parse_headers
        from prefixcache.probe.fragment import fragment
        from prefixcache.probe.options import ProbeOptions
        from prefixcache.probe.run import probe_server

        options = ProbeOptions(
            url,
            tuple(metrics_url or ()),
            model=model,
            tokenizer=tokenizer,
            capacity=capacity,
            reset=not no_reset,
            time_limit=time_limit,
            connection=Connection(insecure, Path(ca_file) if ca_file else None, proxy),
            engine=engine,
            sending=Sending(api=api, headers=parse_headers(tuple(header or ())), rank_field=rank_field),
        )
        with err.status(say("probe.step", chosen, step="…")) as status:
            if as_json or not err.is_terminal:
                status.stop()
            report = probe_server(options, lambda step: status.update(say("probe.step", chosen, step=step)))
        if write_config is not None:
            _check_free(write_config, overwrite)
            write_bytes(write_config, fragment(report, tokenizer).encode())
        if as_json:
            emit_json(report.to_json())
        else:
            _show(report, chosen, write_config)
        if report.exit_code:
            raise typer.Exit(report.exit_code)


def _show(report: ProbeReport, lang: Chosen, written: Path | None) -> None:
    from flows.probe_view import card, closing, opening

    for line in opening(report, lang):
        out.print(line, soft_wrap=True)
    out.print(card(report, lang))
    for line in closing(report, lang):
        out.print(line, soft_wrap=True)
    if written is not None:
        out.print(say("probe.written", lang, path=written), soft_wrap=True, markup=False)
    warn([each.text(lang) for each in report.warnings])


def _check_free(file: Path | None, overwrite: bool) -> None:
    if file is None:
        return
    if file.is_dir():
        raise InputError(f"{file} is a folder", field="--write-config", remedy="name a file.", stage="probe")
    if file.exists() and not overwrite:
        raise InputError(
            f"{file} exists",
            field="--write-config",
            remedy="name another file, or --overwrite to replace it.",
            stage="probe",
        )
