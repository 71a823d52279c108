"""`prefixcache compare`: runs, or the passes of one run, request by request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.console import emit_json, err, out, reporting_errors, warn
from flows.options import AsJson, Language, named_file, named_folder
from prefixcache.help.messages import language_of, say


def compare(
    run: Annotated[
        list[Path],
        typer.Option(
            "--run",
            help="Folder of a run; the first is the baseline. One alone: its passes are compared. Repeatable.",
            parser=named_folder,
            metavar="PATH",
        ),
    ],
    label: Annotated[
        list[str] | None, typer.Option("--label", help="Names for the runs, in their order. Repeatable.")
    ] = None,
    resamples: Annotated[int, typer.Option("--resamples", help="Bootstrap resamples.")] = 2000,
    confidence: Annotated[float, typer.Option("--confidence", help="Share that the intervals are to cover.")] = 0.95,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the resampling.")] = 0,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write the comparison as a page.", parser=named_file, metavar="PATH"),
    ] = None,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Compare runs request by request: speed-ups with bootstrap intervals, hit ratios, what else differs."""
    with reporting_errors(as_json=as_json):
        chosen = language_of(lang)
        from prefixcache.analysis.paired.bootstrap import Draws
        from prefixcache.analysis.paired.compare import compare_runs

        report = compare_runs(run, label or [], Draws(resamples, confidence, seed))
        if html is not None:
            from prefixcache.report.paired import write_comparison

            write_comparison(report, html, chosen)
        if as_json:
            emit_json(report)
            return
        from flows.sheet_view import show_grid
        from prefixcache.report.paired import comparison_tables, headline, method_note, pairing_line, warning_lines

        for each in report["comparisons"]:
            out.print(f"[bold]{headline(each, chosen)}[/]", soft_wrap=True)
            out.print(pairing_line(each, chosen), soft_wrap=True)
            for grid in comparison_tables(report, each, chosen):
                show_grid(grid)
            if not each["differences"]:
                out.print(say("compare.nothing", chosen))
            warn(warning_lines(each, chosen))
        out.print(f"[dim]{method_note(report, chosen)}[/]", soft_wrap=True)
        if html is not None:
            err.print(say("report.path", chosen, path=html), soft_wrap=True)
