"""Request traces with block hashes, in Mooncake's format: one JSON object a line.

``{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 2353, 2354]}``: a hash id stands
for a block of the prompt and all before it, 512 tokens in the published traces. Where a request has fewer ids than
complete blocks only those count (``hash_ids[: input_length // block_size]``), and the reader is warned. UTF-8, with or
without a byte order mark.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import orjson

from prefixcache.cache.models.trace import Counts, Trace
from prefixcache.config.base import MOST_TOKENS
from prefixcache.errors import InputError
from prefixcache.files import require_file

FIELD = "--trace"
NEEDED = ("timestamp", "input_length", "hash_ids")
LARGEST = (1 << 64) - 1


@dataclass(frozen=True)
class RequestTrace:
    """Requests in the order they are served in: by time, equal times in the file's order.

    Attributes:
        trace: their blocks; equal hash ids have equal numbers.
        lines: line of the file of each request, from 1.
    """

    trace: Trace
    lines: Counts
    warnings: tuple[str, ...] = ()


def read_request_trace(path: Path, unit: int, *, partial: bool = False, outputs: bool = True) -> RequestTrace:
    """Read a trace file.

    Args:
        unit: tokens per block.
        partial: count a last block that is not full, too.
        outputs: whether ``output_length`` is needed; else it may be left out.

    Raises:
        InputError: the file cannot be read, or a line is no request: with its number.
    """
    rows: list[tuple[float, int, int, list[int]]] = []
    lines = []
    needed = (*NEEDED, "output_length") if outputs else NEEDED
    try:
        require_file(path)
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if number == 1:
                    line = _without_mark(line)
                if line.strip():
                    rows.append(_request(line, number, needed, unit))
                    lines.append(number)
    except OSError as error:
        raise InputError(
            f"cannot read {path.name}: {error.strerror or error}", field=FIELD, remedy="check the path."
        ) from None
    if not rows:
        raise InputError(f"{path.name} holds no requests", field=FIELD, remedy="name a trace with one request a line.")
    order = sorted(range(len(rows)), key=lambda row: rows[row][0])
    trace = _trace([rows[row] for row in order], unit, partial)
    return RequestTrace(trace, np.array(lines, dtype=np.int64)[order], tuple(_warnings(rows, lines, unit)))


def with_unnamed_blocks(trace: Trace) -> Trace:
    """With a block of its own for every complete one without an id: engines give it room all the same."""
    sizes, full = trace.sizes, trace.input_tokens // trace.unit
    missing = np.maximum(full - sizes, 0)
    if not missing.any():
        return trace
    ends = np.cumsum(sizes + missing)
    depth = np.arange(int(ends[-1])) - np.repeat(ends - sizes - missing, sizes + missing)
    named = depth < np.repeat(sizes, sizes + missing)
    blocks = np.empty(len(depth), dtype=np.int32)
    blocks[named] = trace.blocks
    blocks[~named] = trace.distinct + np.arange(int(missing.sum()))
    distinct = trace.distinct + int(missing.sum())
    return Trace(blocks, ends, trace.input_tokens, trace.output_tokens, trace.unit, distinct)


def _trace(rows: Sequence[tuple[float, int, int, list[int]]], unit: int, partial: bool) -> Trace:
    inputs = np.array([row[1] for row in rows], dtype=np.int64)
    outputs = np.array([row[2] for row in rows], dtype=np.int64)
    given = [ids if partial else ids[: length // unit] for _, length, _, ids in rows]
    flat = np.fromiter(chain.from_iterable(given), dtype=np.uint64)
    ends = np.cumsum([len(ids) for ids in given], dtype=np.int64)
    return Trace.of_new_keys(flat, ends, inputs, outputs, unit)


def _warnings(rows: Sequence[tuple[float, int, int, list[int]]], lines: Sequence[int], unit: int) -> list[str]:
    found = []
    most = max(rows, key=lambda row: len(row[3]) * unit - row[1])
    if (len(most[3]) - 1) * unit >= most[1]:
        found.append(
            f"a request of {most[1]} tokens has {len(most[3])} hash ids, more than blocks of {unit} tokens: the "
            "trace's blocks seem to be smaller than --block-size"
        )
    short = [number for number, (_, length, _, ids) in enumerate(rows) if len(ids) < length // unit]
    if short:
        _, length, _, ids = rows[short[0]]
        found.append(
            f"{len(short)} lines have fewer hash ids than complete blocks of {unit} tokens, only those count; the "
            f"first, line {lines[short[0]]}, has {len(ids)} for {length} tokens, which are {length // unit} blocks: "
            "the trace's blocks seem to be larger than --block-size, or its lines are cut"
        )
    return found


def _without_mark(line: bytes) -> bytes:
    """The first line without the mark that some editors put before UTF-8."""
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in line[:4]:
        raise InputError(
            "the file is UTF-16 text",
            field=FIELD,
            remedy="save it as UTF-8, e.g. iconv -f UTF-16 -t UTF-8 IN > OUT.",
        )
    return line.removeprefix(codecs.BOM_UTF8)


def _request(line: bytes, number: int, needed: Sequence[str], unit: int) -> tuple[float, int, int, list[int]]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        _wrong(number, f"is no JSON ({str(error)[:80]})", "write one JSON object a line; NaN is none.")
    if not isinstance(row, dict):
        _wrong(number, "is no JSON object", 'write {"timestamp": …, "input_length": …, "hash_ids": […]}.')
    if missing := [name for name in needed if row.get(name) is None]:
        _wrong(number, f"has no {missing[0]}", f"every request needs {', '.join(needed)}.")
    time = row["timestamp"]
    if isinstance(time, bool) or not isinstance(time, (int, float)) or time < 0:
        _wrong(number, f"has timestamp {_shown(time)}, which is no time", "write a number from 0.")
    lengths = [_length(row, name, number) for name in ("input_length", "output_length")]
    ids = row["hash_ids"]
    if not isinstance(ids, list):
        _wrong(number, f"has hash_ids {_shown(ids)}, which is no list", "write a list of whole numbers.")
    if not all(type(item) is int and 0 <= item <= LARGEST for item in ids):
        bad = next(item for item in ids if type(item) is not int or not 0 <= item <= LARGEST)
        _wrong(number, f"has the hash id {_shown(bad)}", f"hash ids are whole numbers from 0 to {LARGEST} (64 bits).")
    return time, lengths[0], lengths[1], ids


def _length(row: dict[str, Any], name: str, number: int) -> int:
    value = row.get(name, 0)
    if type(value) is not int or not 0 <= value <= MOST_TOKENS:
        _wrong(number, f"has {name} {_shown(value)}, which is no length", f"write a number from 0 to {MOST_TOKENS}.")
    return value


def _shown(value: Any) -> str:
    return orjson.dumps(value).decode()[:60]


def _wrong(number: int, what: str, remedy: str) -> NoReturn:
    raise InputError(f"line {number} {what}", field=FIELD, remedy=remedy)
