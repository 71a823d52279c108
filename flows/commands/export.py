"""`prefixcache export`: the per-request join of a run as CSV, XLSX, Parquet or JSON Lines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.console import emit_json, out, reporting_errors
from flows.options import AsJson, Language, RunFolder
from prefixcache.help.messages import language_of, say


def export(
    run_dir: RunFolder,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; an earlier one is replaced.")],
    kind: Annotated[
        str | None, typer.Option("--format", "-f", help="csv, xlsx, parquet or jsonl; default by the file's ending.")
    ] = None,
    with_prompts: Annotated[bool, typer.Option("--with-prompts", help="Add the prompts as a column.")] = False,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Write plan and results of every request side by side, one row per request and pass."""
    with reporting_errors(as_json=as_json):
        chosen = language_of(lang)
        from prefixcache.report.export import export_requests, format_of

        frame = export_requests(run_dir, output, kind, with_prompts=with_prompts)
        if as_json:
            emit_json(
                {
                    "output": str(output),
                    "format": format_of(kind, output),
                    "rows": frame.height,
                    "columns": frame.columns,
                }
            )
        else:
            rows, columns = f"{frame.height:,}", str(frame.width)
            out.print(say("export.done", chosen, rows=rows, columns=columns, path=output), soft_wrap=True, markup=False)
