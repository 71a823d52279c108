"""One name or number per request, read from a file: JSON list, JSONL, CSV, Parquet, or words between spaces."""

from __future__ import annotations

from pathlib import Path

import orjson
import polars as pl

from prefixcache.errors import InputError
from prefixcache.files import require_file
from prefixcache.tables import read_csv, read_ndjson, read_parquet


def read_names(file: str, column: str, *, field: str) -> list[str]:
    """Texts in file order; whole numbers are taken by their digits.

    Raises:
        InputError: the file cannot be read, lacks the column, or holds something else.
    """
    path = Path(file)
    where = f"{field}.file"
    try:
        values = _values(path, column, field)
    except OSError as error:
        raise InputError(
            f"cannot read {path.name}: {error.strerror or error}", field=where, remedy="check the path."
        ) from None
    except (orjson.JSONDecodeError, pl.exceptions.PolarsError, ValueError) as error:
        reason = (str(error).splitlines() or ["broken"])[0][:200]
        raise InputError(f"{path.name} cannot be read: {reason}", field=where, remedy="mend it.") from None
    if not values:
        raise InputError(f"{path.name} is empty", field=where, remedy="name a file with one entry per request.")
    return values


def _values(path: Path, column: str, field: str) -> list[str]:
    require_file(path)
    suffix = path.suffix.lower()
    if suffix == ".json":
        data = orjson.loads(path.read_bytes())
        if not isinstance(data, list) or not all(type(item) in (int, str) for item in data):
            raise ValueError("expected a list of texts or whole numbers")
        return [str(item) for item in data]
    if suffix not in (".jsonl", ".ndjson", ".csv", ".parquet"):
        return path.read_text(encoding="utf-8").split()
    if not path.is_file():
        raise FileNotFoundError(2, "No such file", str(path))
    read = {".csv": read_csv, ".parquet": read_parquet}.get(suffix, read_ndjson)
    frame = read(path)  # type: ignore[operator]
    if column not in frame.columns:
        raise InputError(
            f"{path.name} has no column {column!r}; it has: {', '.join(frame.columns[:12])}",
            field=f"{field}.column",
            remedy="name one of them.",
        )
    series = frame[column]
    if series.null_count() or not (series.dtype.is_integer() or series.dtype == pl.String):
        raise ValueError(f"column {column!r} holds something else than texts or whole numbers")
    return [str(value) for value in series.to_list()]
