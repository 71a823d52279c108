"""A run's JSONL files as typed tables: a column that a file lacks is null, a row cut off by a crash is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from prefixcache.errors import InputError

CHUNK = 50_000

Columns = Mapping[str, type[pl.DataType] | pl.DataType]

PLAN_COLUMNS: Columns = {
    "request_id": pl.String,
    "prefix_group_id": pl.String,
    "order_index": pl.Int64,
    "input_len": pl.Int64,
    "planned_prefix_len": pl.Int64,
    "cached_watermark_before": pl.Int64,
    "expected_hit_len": pl.Int64,
    "expected_hit_len_cold": pl.Int64,
    "expected_hit_len_hot": pl.Int64,
    "planned_dp_id": pl.Int64,
    "planned_route": pl.Int64,
}
RESULT_COLUMNS: Columns = {
    "pass": pl.String,
    "phase": pl.String,
    "request_id": pl.String,
    "prefix_group_id": pl.String,
    "endpoint": pl.String,
    "planned_dp_id": pl.Int64,
    "actual_route": pl.Int64,
    "scheduled_s": pl.Float64,
    "ready_s": pl.Float64,
    "sent_s": pl.Float64,
    "first_byte_s": pl.Float64,
    "first_token_s": pl.Float64,
    "first_text_s": pl.Float64,
    "last_token_s": pl.Float64,
    "gate_wait_s": pl.Float64,
    "lag_s": pl.Float64,
    "gate_broken": pl.Boolean,
    "input_len": pl.Int64,
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "cached_tokens": pl.Int64,
    "status": pl.String,
    "failure": pl.String,
    "attempts": pl.Int64,
    "retried": pl.List(pl.String),
    "connection": pl.String,
    "output_by": pl.String,
    "chunks": pl.Int64,
    "itl_max_s": pl.Float64,
    "ttft_s": pl.Float64,
    "tpot_s": pl.Float64,
    "e2e_s": pl.Float64,
}
SAMPLE_COLUMNS: Columns = {
    "pass": pl.String,
    "t_s": pl.Float64,
    "endpoint": pl.String,
    "engine": pl.String,
    "kv_usage": pl.Float64,
}


@dataclass(frozen=True)
class Table:
    """Rows of a JSONL file; ``cut`` if its last line was not whole (the writer was killed)."""

    frame: pl.DataFrame
    cut: bool = False


def read_table(path: Path, columns: Columns) -> Table:
    """Read the named columns of a JSONL file; other keys are passed over.

    Raises:
        InputError: a line that is not a JSON object of the expected types, unless it is the last and was cut off.
    """
    names, frames, rows = tuple(columns), [], []
    cut = False
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                data = orjson.loads(line)
            except orjson.JSONDecodeError:
                if not line.endswith(b"\n"):
                    cut = True
                    break
                raise _wrong(path, f"line {number} is not JSON") from None
            if not isinstance(data, dict):
                raise _wrong(path, f"line {number} is not a JSON object")
            rows.append(tuple(data.get(name) for name in names))
            if len(rows) == CHUNK:
                frames.append(_frame(path, rows, columns))
                rows = []
    frames.append(_frame(path, rows, columns))
    return Table(pl.concat(frames), cut)


def empty_table(columns: Columns) -> Table:
    return Table(pl.DataFrame(schema=dict(columns)))


def _frame(path: Path, rows: list[tuple[Any, ...]], columns: Columns) -> pl.DataFrame:
    try:
        return pl.DataFrame(rows, schema=dict(columns), orient="row")
    except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
        raise _wrong(path, f"a value is of the wrong type ({str(error).splitlines()[0]})") from None


def _wrong(path: Path, what: str) -> InputError:
    return InputError(
        f"{path} cannot be read: {what}",
        field="run_dir",
        remedy="The file was changed after it was written; run the dataset again.",
        stage="report",
    )
