"""``runtime/series.parquet``, and ``series.jsonl.partial`` while a run lasts or where it was broken off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.files import replacing
from prefixcache.load.records.place import SERIES, SERIES_ROWS
from prefixcache.load.records.series import COLUMNS, COUNTS, TEXTS, Sample
from prefixcache.tables import read_parquet


def _type(name: str) -> pa.DataType:
    return pa.string() if name in TEXTS else pa.int64() if name in COUNTS else pa.float64()


SCHEMA = pa.schema([(name, _type(name)) for name in COLUMNS])
ROWS_AT_ONCE = 4096


class Rows(Protocol):
    """A JSONL file that grows (``prefixcache.load.records.store.Appender``)."""

    partial: Path

    def append(self, row: object) -> None: ...
    def close(self, *, complete: bool) -> None: ...


class SeriesFile:
    """Grows line by line, so that a killed run keeps it; a complete one becomes Parquet.

    Args:
        rows: the growing file.
        path: of the Parquet file.
    """

    def __init__(self, rows: Rows, path: Path) -> None:
        self.path = path
        self._rows: Rows | None = rows

    def append(self, sample: Sample) -> None:
        """Keep a sample.

        Raises:
            EnvironmentFailure: the disk is full or gone.
        """
        if self._rows is not None:
            self._rows.append(sample.to_row())

    def close(self, *, complete: bool) -> None:
        """Of a complete run the lines become Parquet; of another they stay as they are.

        Raises:
            EnvironmentFailure: the disk refuses the Parquet file; the lines stay.
        """
        rows, self._rows = self._rows, None
        if rows is None:
            return
        rows.close(complete=False)
        if not complete:
            return
        try:
            with replacing(self.path) as file, pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer:
                for batch in _batches(rows.partial):
                    writer.write_table(pa.Table.from_pylist(batch, schema=SCHEMA))
            rows.partial.unlink()
        except OSError as error:
            raise EnvironmentFailure(
                f"{self.path} cannot be written ({error.strerror or error})",
                remedy=f"Free some disk space and run again; {rows.partial.name} keeps the rows.",
                stage="run_benchmark",
            ) from error


def read_series(run_dir: Path) -> list[Sample]:
    """The samples of a run, finished or not, in their order.

    Raises:
        InputError: there are none, or they cannot be read.
    """
    path, rows = run_dir / "runtime" / SERIES, run_dir / "runtime" / f"{SERIES_ROWS}.partial"
    if not path.is_file() and not rows.is_file():
        raise InputError(
            f"{run_dir} holds no runtime/{SERIES}",
            field="--run-dir",
            remedy="Name the folder of a run; runs of older versions have no such file.",
        )
    try:
        found = read_parquet(path).to_dicts() if path.is_file() else [r for batch in _batches(rows) for r in batch]
        return [Sample.from_row(row) for row in found]
    except Exception as error:  # polars, pyarrow and orjson each have errors of their own
        raise InputError(
            f"{path if path.is_file() else rows} cannot be read ({type(error).__name__}: {str(error)[:200]})",
            field="--run-dir",
            remedy="The file was changed after it was written; run the dataset again.",
        ) from None


def _batches(path: Path) -> Iterator[list[dict[str, object]]]:
    """Rows in parts; a last line that a killed run left half-written is left out."""
    batch = []
    with open(path, "rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                batch.append(orjson.loads(line))
            if len(batch) == ROWS_AT_ONCE:
                yield batch
                batch = []
    if batch:
        yield batch
