"""Rows of a dataset in another order, without holding them in memory: shards by memory map, JSONL lines by offset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from prefixcache.dataset.shards import token_ids

Numbers = NDArray[np.int64]


class ShardRows:
    """The rows of all shards, in their order, to be taken in any other.

    Args:
        paths: Parquet files.
        work: folder for uncompressed copies, which are mapped instead of read.
    """

    def __init__(self, paths: Sequence[Path], work: Path) -> None:
        work.mkdir(parents=True, exist_ok=True)
        self._tables = [_mapped(path, work / f"{path.stem}.arrow") for path in paths]
        sizes = [len(table) for table in self._tables]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def column(self, name: str) -> list[Any]:
        return [value for table in self._tables for value in table[name].to_pylist()]

    def ids(self) -> Iterator[NDArray[np.int32]]:
        """Token ids row by row."""
        for table in self._tables:
            yield from token_ids(table)

    def take(self, rows: Numbers) -> pa.Table:
        """These rows, in this order."""
        shard = np.searchsorted(self.starts, rows, side="right") - 1
        parts, places = [], []
        for number in np.unique(shard).tolist():
            mine = np.flatnonzero(shard == number)
            parts.append(self._tables[number].take(pa.array(rows[mine] - self.starts[number])))
            places.append(mine)
        back = np.argsort(np.concatenate(places), kind="stable")
        table = pa.concat_tables(parts).combine_chunks().take(pa.array(back)).combine_chunks()
        return table.cast(pa.schema([_as_made(field) for field in table.schema]))


def _as_made(field: pa.Field) -> pa.Field:
    """Parquet names a list's values `element`; generation's schema has Arrow's own name, and bytes shall be equal."""
    if pa.types.is_list(field.type):
        return pa.field(field.name, pa.list_(field.type.value_type), field.nullable)
    return field


def _mapped(path: Path, copy: Path) -> pa.Table:
    table = pq.read_table(path)
    with pa.OSFile(str(copy), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    del table
    return pa.ipc.open_file(pa.memory_map(str(copy))).read_all()


def replaced(table: pa.Table, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> pa.Table:
    """The table with other values in some columns, their types kept."""
    for name, values in columns.items():
        if name in table.column_names:
            place = table.column_names.index(name)
            kind = table.schema.field(name)
            table = table.set_column(place, kind, pa.array(values, type=kind.type, from_pandas=True))
    return table


class LineRows:
    """The lines of a JSONL file by their ``request_id``; only offsets are held."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "rb")  # noqa: SIM115
        self._place: dict[str, tuple[int, int]] = {}
        at = 0
        for line in self._file:
            self._place[_request_id(line)] = (at, len(line))
            at += len(line)

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._place

    def lines(self, request_ids: Iterable[str]) -> Iterator[bytes]:
        """These lines, byte for byte, in this order."""
        for request_id in request_ids:
            start, length = self._place[request_id]
            line = os.pread(self._file.fileno(), length, start)
            yield line if line.endswith(b"\n") else line + b"\n"

    def close(self) -> None:
        self._file.close()


def _request_id(line: bytes) -> str:
    # Parsing whole prompts for their ids would take minutes; the id is the first key.
    head = b'{"request_id":"'
    if line.startswith(head):
        end = line.find(b'"', len(head))
        if end > 0 and b"\\" not in line[len(head) : end]:
            return line[len(head) : end].decode()
    return str(orjson.loads(line)["request_id"])
