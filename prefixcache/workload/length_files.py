"""Lengths read from files: JSON list, JSONL, CSV, Parquet, or plain integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import polars as pl
from numpy.typing import NDArray

from prefixcache.config.base import MOST_TOKENS
from prefixcache.errors import InputError
from prefixcache.files import require_file
from prefixcache.tables import read_csv, read_ndjson, read_parquet


def read_lengths(file: str, column: str | None, *, field: str) -> NDArray[np.int64]:
    """Positive token lengths, int64, in file order.

    Raises:
        InputError: the file cannot be read, lacks the column, or holds something else than whole numbers.
    """
    path = Path(file)
    where = f"{field}.file"
    try:
        values = _values(path, column or field, field)
    except OSError as error:
        raise InputError(
            f"cannot read {path.name}: {error.strerror or error}", field=where, remedy="check the path."
        ) from None
    except (orjson.JSONDecodeError, pl.exceptions.PolarsError, ValueError, OverflowError) as error:
        reason = (str(error).splitlines() or ["broken"])[0][:200]
        raise InputError(f"{path.name} cannot be read as lengths: {reason}", field=where, remedy="mend it.") from None
    if not len(values):
        raise InputError(f"{path.name} holds no lengths", field=where, remedy="name a file with lengths.")
    if values.min() < 1 or values.max() > MOST_TOKENS:
        bad = int(np.flatnonzero((values < 1) | (values > MOST_TOKENS))[0])
        raise InputError(
            f"{path.name} entry {bad + 1} is {values[bad]}, not a length",
            field=where,
            remedy=f"lengths are 1 to {MOST_TOKENS} tokens.",
        )
    return values


def _values(path: Path, column: str, field: str) -> NDArray[np.int64]:
    require_file(path)
    suffix = path.suffix.lower()
    if suffix == ".json":
        data = orjson.loads(path.read_bytes())
        if not isinstance(data, list) or not all(type(item) is int for item in data):
            raise ValueError("expected a list of whole numbers")
        return np.asarray(data, dtype=np.int64)
    if suffix in (".jsonl", ".ndjson", ".csv", ".parquet"):
        frame = _frame(path, suffix)
        if column not in frame.columns:
            raise InputError(
                f"{path.name} has no column {column!r}; it has: {', '.join(frame.columns[:12])}",
                field=f"{field}.column",
                remedy="name one of them.",
            )
        series = frame[column]
        if not series.dtype.is_integer() or series.null_count():
            raise ValueError(f"column {column!r} holds something else than whole numbers")
        return series.cast(pl.Int64).to_numpy().astype(np.int64)
    return np.array([int(word) for word in path.read_text(encoding="utf-8").split()], dtype=np.int64)


def _frame(path: Path, suffix: str) -> pl.DataFrame:
    if not path.is_file():
        raise FileNotFoundError(2, "No such file", str(path))
    if suffix == ".csv":
        return read_csv(path)
    if suffix == ".parquet":
        return read_parquet(path)
    return read_ndjson(path)
