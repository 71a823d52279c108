"""`prefixcache replay`: the live view of a run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.console import emit_json, out, reporting_errors
from flows.options import AsJson, Language, named_folder
from prefixcache.errors import InputError
from prefixcache.help.messages import language_of

FASTEST = 10_000.0


def replay(
    run_dir: Annotated[
        Path,
        typer.Option("--run-dir", "-r", help="Folder of the run.", parser=named_folder, metavar="PATH"),
    ],
    speed: Annotated[float, typer.Option("--speed", help="How much faster than the run went.")] = 10.0,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Show a run's live view again; where stdout is no terminal, its last frame."""
    with reporting_errors(as_json=as_json):
        language = language_of(lang)
        if not 0 < speed <= FASTEST:
            raise InputError(f"{speed:g} is not above 0 and at most {FASTEST:g}", field="--speed", remedy="write 10.")
        from prefixcache.load.records.series_file import read_series

        samples = read_series(run_dir)
        if as_json:
            from prefixcache.schemas.versions import VERSIONS

            rows = [sample.to_row() for sample in samples]
            emit_json({"schema_version": VERSIONS["run_series"], "samples": rows})
            return
        if not samples:
            raise InputError(
                f"{run_dir} ended before its first sample", field="--run-dir", remedy="Name the folder of another run."
            )
        if out.is_terminal:
            from flows.live_view import play

            play(samples, out, language, speed)
        else:
            from prefixcache.report.dashboard import frame

            out.print(frame(samples, language, out.width))
