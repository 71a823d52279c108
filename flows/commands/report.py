"""`prefixcache report`: build the report of a run again, in either language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.commands.running import check_language
from flows.console import emit_json, out, reporting_errors
from flows.options import AsJson, Language, Slo
from prefixcache.help.messages import language_of, say


def report(
    run_dir: Annotated[Path, typer.Option("--run-dir", "-r", help="Folder of the run.")],
    slo: Slo = None,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Build report/prefix_cache_report.{json,html} from a run directory. Exit 1 if requests had failed."""
    with reporting_errors(as_json=as_json):
        check_language(lang)
        from prefixcache.report.build import build_prefix_cache_report

        figures = build_prefix_cache_report(run_dir, lang, slo)
        if as_json:
            emit_json(figures)
        else:
            from prefixcache.report.console import print_comparison

            print_comparison(figures, out, lang)
            path = run_dir / "report" / "prefix_cache_report.html"
            out.print(say("report.path", language_of(lang), path=path), soft_wrap=True)
        if figures["run_status"] != "complete":
            raise typer.Exit(1)
