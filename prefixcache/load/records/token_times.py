"""``runtime/token_times.parquet``: when each answer's tokens came, for exact inter-token latencies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from prefixcache.errors import EnvironmentFailure

SCHEMA = pa.schema(
    [("pass", pa.string()), ("phase", pa.string()), ("request_id", pa.string()), ("times", pa.list_(pa.float32()))]
)
ROWS_HELD = 1024


class TokenTimes:
    """Grows row group by row group beside its name and takes it when closed as complete.

    Rows: pass, phase, request id, and the seconds from sending to each event that brought tokens.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.partial = path.with_name(f"{path.name}.partial")
        self._writer: pq.ParquetWriter | None = pq.ParquetWriter(self.partial, SCHEMA, compression="zstd")
        self._rows: list[tuple[str, str, str, Sequence[float]]] = []

    def append(self, pass_name: str, phase: str, request_id: str, times: Sequence[float]) -> None:
        """Keep a row; written with those around it.

        Raises:
            EnvironmentFailure: the disk is full or gone.
        """
        if self._writer is None:
            return
        self._rows.append((pass_name, phase, request_id, times))
        if len(self._rows) >= ROWS_HELD:
            self._flush(self._writer)

    def close(self, *, complete: bool) -> None:
        """Write what is held; a complete file is synced and renamed, of another nothing is left: it has no end that a
        reader could use, and ``request_results.jsonl`` keeps the requests.

        Raises:
            EnvironmentFailure: the disk refuses what a complete file still needs.
        """
        writer, self._writer = self._writer, None
        if writer is None:
            return
        try:
            if complete:
                self._flush(writer)
            writer.close()
            if complete:
                with open(self.partial, "rb+") as file:
                    os.fsync(file.fileno())
                os.replace(self.partial, self.path)
            else:
                self.partial.unlink(missing_ok=True)
        except OSError as error:
            if complete:
                raise _refused(self.partial, error) from error

    def _flush(self, writer: pq.ParquetWriter) -> None:
        if not self._rows:
            return
        columns = list(zip(*self._rows, strict=True))
        arrays = [pa.array(list(column), type=field.type) for column, field in zip(columns, SCHEMA, strict=True)]
        try:
            writer.write_table(pa.Table.from_arrays(arrays, schema=SCHEMA))
        except OSError as error:
            raise _refused(self.partial, error) from error
        self._rows = []


def _refused(path: Path, error: OSError) -> EnvironmentFailure:
    return EnvironmentFailure(
        f"{path} cannot be written ({error.strerror or error})",
        remedy="Free some disk space and run again; the rows of request_results.jsonl so far are kept.",
        stage="run_benchmark",
    )
