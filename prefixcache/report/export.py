"""The per-request join as a file: CSV, XLSX, Parquet or JSON Lines."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Literal, get_args

import polars as pl

from prefixcache.errors import InputError
from prefixcache.files import replacing
from prefixcache.load.records.place import listed_files
from prefixcache.report.build import REPORT_HTML, REPORT_JSON
from prefixcache.report.join import join_requests
from prefixcache.report.xlsx import write_xlsx

Format = Literal["csv", "xlsx", "parquet", "jsonl"]
FORMATS: tuple[Format, ...] = get_args(Format)
RUN_PARTS = ("dataset", "dataset_variant", "runtime")
RUN_REPORTS = (f"report/{REPORT_JSON}", f"report/{REPORT_HTML}")
FREE_TEXT = ("error", "prompt")
"""Columns whose text comes from a server or a user; in CSV a spreadsheet might take it for a formula."""
_FORMULA = r"^[=+\-@\t\r]"


def export_requests(
    run_dir: Path, output: Path, kind: str | None = None, *, with_prompts: bool = False
) -> pl.DataFrame:
    """Write the join of a run (``prefixcache.report.join``) to a file; an earlier one is replaced.

    Args:
        kind: one of ``FORMATS``; None takes it from the file's ending.

    Returns:
        What was written.

    Raises:
        InputError: not a run, an unknown format, a place inside the run's own data, more than the format can hold.
    """
    chosen = format_of(kind, output)
    _check_place(run_dir, output)
    frame = join_requests(run_dir, with_prompts=with_prompts)
    with replacing(output) as file:
        _write(frame, chosen, file)
    return frame


def format_of(kind: str | None, output: Path) -> Format:
    """The format that was named, or the one of the file's ending.

    Raises:
        InputError: neither tells.
    """
    wanted = kind if kind is not None else output.suffix.lower().removeprefix(".")
    for known in FORMATS:
        if wanted == known:
            return known
    if kind is None:
        raise InputError(
            f"{output.name} does not tell the format",
            field="--format",
            remedy=f"give one of {', '.join(FORMATS)}.",
            stage="export",
        )
    raise InputError(f"{kind!r} is no format", field="--format", remedy=f"give one of {', '.join(FORMATS)}.")


def _check_place(run_dir: Path, output: Path) -> None:
    if output.is_dir():
        raise InputError(f"{output} is a folder", field="--output", remedy="name a file.", stage="export")
    where = output.resolve()
    for folder in dict.fromkeys([run_dir.resolve(), *where.parents]):
        inside = where.relative_to(folder).as_posix() if where.is_relative_to(folder) else None
        if inside is not None and (what := _record_of(folder, inside)):
            raise InputError(
                f"{output} {what}",
                field="--output",
                remedy="name another place; files of a run or a dataset are never overwritten.",
                stage="export",
            )


def _record_of(folder: Path, name: str) -> str | None:
    """What a file of this name is to a run or a dataset in that folder; None if nothing."""
    if (folder / "runtime").is_dir() and (folder / "dataset").is_dir():
        part = name.partition("/")[0]
        if part in RUN_PARTS:
            return f"lies inside the run's own {part}/"
        if name in RUN_REPORTS:
            return "is the run's report"
    if (folder / "manifest.json").is_file() and name in listed_files(folder):
        return f"is a file of the dataset in {folder.name}/"
    return None


def _write(frame: pl.DataFrame, kind: Format, file: BinaryIO) -> None:
    if kind == "parquet":
        frame.write_parquet(file)
    elif kind == "jsonl":
        frame.write_ndjson(file)
    elif kind == "csv":
        _harmless(frame).write_csv(file)
    else:
        try:
            write_xlsx(file, frame.columns, frame.iter_rows())
        except ValueError as error:
            raise InputError(
                f"Excel cannot hold this table: {error}",
                field="--format",
                remedy="write csv or parquet instead; nothing is cut off.",
                stage="export",
            ) from None


def _harmless(frame: pl.DataFrame) -> pl.DataFrame:
    """A leading apostrophe before free text that a spreadsheet would read as a formula."""
    texts = [pl.col(name) for name in FREE_TEXT if name in frame.columns]
    return frame.with_columns(
        pl.when(text.str.contains(_FORMULA)).then(pl.lit("'") + text).otherwise(text).alias(text.meta.output_name())
        for text in texts
    )
