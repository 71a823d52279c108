"""What a file says, whatever its form."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq


def said_by(path: Path) -> str:
    """The text of a file; of a Parquet file the values of its rows and its metadata (its bytes may spell anything)."""
    if path.suffix != ".parquet":
        return path.read_text(encoding="utf-8")
    table = pq.read_table(path)
    return f"{table.to_pylist()} {table.schema.metadata}"
