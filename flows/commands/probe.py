"""`prefixcache probe`: how a server's prefix cache really works."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows import metering_options as metering
from flows import sending_options as sending
from flows import service_options as service
from flows.console import emit_json, err, out, reporting_errors, warn
from flows.options import AsJson, Language, named_file
from prefixcache.errors import InputError
from prefixcache.help.messages import language_of, say

if TYPE_CHECKING:
    from prefixcache.help.words import Language as Chosen
    from prefixcache.probe.findings import ProbeReport

TIME_LIMIT_S = 60.0
FLAGS = ("url", "metrics_url", "model", "api", "header", "rank_field", "engine", "insecure", "ca_file", "proxy")
"""Parameters that an error's field may name."""


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
    with reporting_errors(as_json=as_json, flags=FLAGS):
        chosen = language_of(lang)
        _check_free(write_config, overwrite)
        from prefixcache.engines.http import Connection
        from prefixcache.files import write_bytes
        from prefixcache.load.sending.options import Sending
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
            sending=Sending(api=api, headers=_headers(header), rank_field=rank_field),
        )
        with err.status(say("probe.step", chosen, step="…")) as status:
            if as_json or not err.is_terminal:
                status.stop()
            report = probe_server(options, lambda step: status.update(say("probe.step", chosen, step=step)))
        if as_json:
            emit_json(report.to_json())
        else:
            _show(report, chosen)
        if write_config is not None:  # last: what was found is told even if it cannot be written
            _check_free(write_config, overwrite)
            write_bytes(write_config, fragment(report, tokenizer).encode())
            if not as_json:
                out.print(say("probe.written", chosen, path=write_config), soft_wrap=True, markup=False)
        if report.exit_code:
            raise typer.Exit(report.exit_code)


def _show(report: ProbeReport, lang: Chosen) -> None:
    from flows.probe_view import card, closing, opening

    for line in opening(report, lang):
        out.print(line, soft_wrap=True)
    out.print()
    out.print(card(report, lang))
    out.print()
    for line in closing(report, lang):
        out.print(line, soft_wrap=True)
    warn([each.text(lang) for each in report.warnings])


def _headers(lines: list[str] | None) -> dict[str, str]:
    """Headers by name.

    Raises:
        InputError: a line without a colon, or the name of a Secret block.
    """
    from flows.secrets import BLOCK
    from prefixcache.load.sending.options import parse_headers

    found = parse_headers(tuple(lines or ()))
    if any(value.startswith(BLOCK) for value in found.values()):
        raise InputError(
            "a Secret block is kept by Prefect, and a probe runs without it",
            field="header",
            remedy="write the value itself; it is never shown.",
            stage="probe",
        )
    return found


def _check_free(file: Path | None, overwrite: bool) -> None:
    if file is None:
        return
    folder = next(each for each in (file.absolute().parent, *file.absolute().parents) if each.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(f"{folder} takes no file", field="--write-config", remedy="name another place.", stage="probe")
    if file.is_dir():
        raise InputError(f"{file} is a folder", field="--write-config", remedy="name a file.", stage="probe")
    if file.exists() and not overwrite:
        raise InputError(
            f"{file} exists",
            field="--write-config",
            remedy="name another file, or --overwrite to replace it.",
            stage="probe",
        )
