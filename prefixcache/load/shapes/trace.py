"""Arrival times of a recorded trace: JSON Lines as Mooncake publishes them, Parquet or CSV."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import polars as pl

from prefixcache.errors import InputError
from prefixcache.load.shapes.model import Replayed
from prefixcache.load.shapes.numbers import LARGEST
from prefixcache.load.shapes.rates import Floats


def trace_offsets(shape: Replayed) -> Floats:
    """Seconds since the earliest moment of the trace, scaled and sorted, shape (rows,).

    Raises:
        InputError: no such file or column, or moments that are none.
    """
    try:
        moments = _moments(shape)
    except OSError as error:
        raise _wrong(shape.path, error.strerror or str(error), "name a file that can be read.") from None
    if not moments.size:
        raise _wrong(shape.path, "it holds no request", "name a trace with at least one.")
    with np.errstate(over="ignore"):
        offsets: Floats = (np.sort(moments) - moments.min()) * shape.scale
    if not offsets[-1] <= LARGEST:  # some thirty years: a unit that is not the file's
        lasting = f"it lasts {offsets[-1]:.3g} s"
        raise _wrong(shape.path, lasting, "name the unit of its times, e.g. unit=ns, or a scale.")
    return offsets


def _moments(shape: Replayed) -> Floats:
    match shape.path.suffix.lower():
        case ".parquet":
            return _of_table(shape, pl.scan_parquet(shape.path))
        case ".csv":
            return _of_table(shape, pl.scan_csv(shape.path, try_parse_dates=True))
        case _:
            return _of_lines(shape)


def _of_lines(shape: Replayed) -> Floats:
    values: list[float] = []
    with open(shape.path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:
                raise _wrong(
                    shape.path, f"line {number} is not JSON", "name a file with a JSON object a line."
                ) from None
            value = row.get(shape.column) if isinstance(row, dict) else None
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise _no_moment(shape, f"line {number}")
            values.append(value)
    return np.array(values, dtype=np.float64) * shape.unit_s


def _of_table(shape: Replayed, table: pl.LazyFrame) -> Floats:
    try:
        if shape.column not in (names := table.collect_schema().names()):
            known = ", ".join(names[:20])
            raise _wrong(shape.path, f"it has no column {shape.column!r}", f"write column=NAME, one of {known}.")
        column = table.select(shape.column).collect()[shape.column]
    except pl.exceptions.PolarsError as error:
        raise _wrong(shape.path, str(error).splitlines()[0], "name a Parquet, CSV or JSON Lines file.") from None
    if column.null_count():
        raise _no_moment(shape, f"row {int(column.is_null().arg_max() or 0) + 1}")
    if isinstance(column.dtype, pl.Datetime):
        micros = column.cast(pl.Datetime("us")).cast(pl.Int64).to_numpy()
        return (micros - micros.min() if len(micros) else micros) / 1e6
    if not column.dtype.is_numeric():
        raise _no_moment(shape, f"the column of type {column.dtype}")
    moments: Floats = column.cast(pl.Float64).to_numpy() * shape.unit_s
    if not np.isfinite(moments).all():
        raise _no_moment(shape, f"row {int(np.flatnonzero(~np.isfinite(moments))[0]) + 1}")
    return moments


def _no_moment(shape: Replayed, where: str) -> InputError:
    return _wrong(
        shape.path, f"{where} has no number as {shape.column!r}", "name the key of the times with column=NAME."
    )


def _wrong(path: Path, what: str, remedy: str) -> InputError:
    return InputError(f"the trace {path} cannot be replayed: {what}", field="load", remedy=remedy)
