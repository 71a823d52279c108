"""What a file says, whatever its form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq


def said_by(path: Path) -> str:
    """The text of a file; of a Parquet file the values of its rows and its metadata (its bytes may spell anything)."""
    if path.suffix != ".parquet":
        return path.read_text(encoding="utf-8")
    table = pq.read_table(path)
    return f"{table.to_pylist()} {table.schema.metadata}"


WEATHER = frozenset(("load_lag", "sender_stalled"))
"""Warnings that a busy machine earns, whatever the code under test does."""


def warned_of(warnings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Codes of warnings, without those of the weather."""
    return [warning["code"] for warning in warnings if warning["code"] not in WEATHER]
