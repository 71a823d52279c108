"""`prefixcache metrics`: what servers counted between two moments, from saved pages or a Prometheus server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.console import emit_json, out, reporting_errors, warn
from flows.options import AsJson, Language, named_file
from prefixcache.errors import InputError
from prefixcache.help.messages import language_of

PANEL = "From a Prometheus server"


def metrics(
    before: Annotated[
        list[Path] | None,
        typer.Option(
            "--before",
            help="Saved /metrics page at the start, plain or gzip. Repeatable.",
            parser=named_file,
            metavar="FILE",
        ),
    ] = None,
    after: Annotated[
        list[Path] | None,
        typer.Option(
            "--after",
            help="The same server's page at the end; paired with --before by position. Repeatable.",
            parser=named_file,
            metavar="FILE",
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="Framework, or a YAML file that describes one.", metavar="auto|NAME|FILE")
    ] = "auto",
    role: Annotated[
        list[str] | None,
        typer.Option(
            "--role",
            help="What each server does: prefill, decode or mixed (default), in their order. Repeatable.",
            metavar="ROLE",
        ),
    ] = None,
    model_name: Annotated[
        str | None, typer.Option("--model-name", help="Only series of this model, and those that name none.")
    ] = None,
    prometheus: Annotated[
        str | None,
        typer.Option("--prometheus", help="Ask this Prometheus server instead.", metavar="URL", rich_help_panel=PANEL),
    ] = None,
    selector: Annotated[
        str,
        typer.Option(
            "--selector", help="Which targets, e.g. '{job=\"vllm\"}'.", metavar="LABELS", rich_help_panel=PANEL
        ),
    ] = "",
    start: Annotated[
        str | None,
        typer.Option("--from", help="Start: ISO 8601 or Unix seconds.", metavar="TIME", rich_help_panel=PANEL),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--to", help="End, likewise; default now.", metavar="TIME", rich_help_panel=PANEL),
    ] = None,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Say what servers counted between two moments: queries, hits and hit ratio, by engine and in total."""
    with reporting_errors(as_json=as_json, flags=("engine", "prometheus", "role")):
        chosen = language_of(lang)
        if prometheus is None:
            told = _from_files(before or [], after or [], engine, role or [], model_name)
        else:
            if before or after:
                raise InputError(
                    "is given beside --prometheus",
                    field="--before" if before else "--after",
                    remedy="Give saved pages, or --prometheus with --from and --to.",
                )
            told = _from_prometheus(prometheus, selector, start, end, engine, role or [], model_name)
        if as_json:
            emit_json(told)
            return
        from flows.sheet_view import show_grid
        from prefixcache.report.counted import counted_lines, counted_tables

        for grid in counted_tables(told, chosen):
            show_grid(grid)
        for line in counted_lines(told, chosen):
            out.print(line, soft_wrap=True, markup=False)
        warn(told["warnings"])


def _from_files(
    before: list[Path], after: list[Path], engine: str, roles: list[str], model: str | None
) -> dict[str, Any]:
    from prefixcache.engines.offline import read_pairs, snapshots

    if not before and not after:
        raise InputError(
            "no pages are given",
            field="--before",
            remedy="Give --before FILE --after FILE, or --prometheus URL with --from and --to.",
        )
    pairs = read_pairs(before, after, model)
    first, second = snapshots(pairs)
    return _told(first, second, [pair.endpoint for pair in pairs], engine, roles)


def _from_prometheus(
    url: str, selector: str, start: str | None, end: str | None, engine: str, roles: list[str], model: str | None
) -> dict[str, Any]:
    from prefixcache.engines.history import snapshots_between

    first, second = snapshots_between(url, selector, start, end, model)
    return _told(first, second, sorted({*first.pages, *second.pages}), engine, roles)


def _told(first: Any, second: Any, endpoints: list[str], engine: str, roles: list[str]) -> dict[str, Any]:
    from prefixcache.engines.offline import adapter_of
    from prefixcache.engines.roles import roles_of
    from prefixcache.engines.told import tell
    from prefixcache.schemas.versions import VERSIONS

    told = tell(adapter_of(engine, first, second), first, second, roles_of(roles, endpoints))
    return {"schema_version": VERSIONS["metrics"], **told}
