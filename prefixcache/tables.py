"""Tables from files whose names are taken as they are: Polars would read ``len[1].csv`` as a pattern."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from prefixcache.files import require_file


def read_parquet(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """A Parquet file, or some of its columns."""
    require_file(path)
    return pl.read_parquet(path, columns=columns, glob=False)


def read_rows_between(path: Path, first: int, last: int) -> pl.DataFrame:
    """Rows [first, last) of a Parquet file."""
    return pl.scan_parquet(path, glob=False).slice(first, last - first).collect()


def read_csv(path: Path, *, as_text: bool = False) -> pl.DataFrame:
    """A CSV file; ``as_text``: every value is left as it stands."""
    require_file(path)
    with open(path, "rb") as file:
        return pl.read_csv(file, infer_schema=not as_text)


def read_ndjson(path: Path) -> pl.DataFrame:
    """A file with one JSON object a line."""
    require_file(path)
    with open(path, "rb") as file:
        return pl.read_ndjson(file)
