"""What was planned for each request beside what happened to it: one row per request and pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from prefixcache.analysis.rundir import RunDirectory, load_run
from prefixcache.analysis.tables import empty_table, read_table
from prefixcache.dataset.stored import DATA, check_prompts_are_here, sent_lines
from prefixcache.errors import InputError
from prefixcache.files import read_json

Columns = Mapping[str, type[pl.DataType] | pl.DataType]
_PLAN: Columns = {
    "request_id": pl.String,
    "prefix_group_id": pl.String,
    "order_index": pl.Int64,
    "input_len": pl.Int64,
    "output_len": pl.Int64,
    "planned_prefix_len": pl.Int64,
    "cached_watermark_before": pl.Int64,
    "cached_watermark_after": pl.Int64,
    "divergence_len": pl.Int64,
    "suffix_len": pl.Int64,
    "planned_dp_id": pl.Int64,
    "planned_route": pl.Int64,
    "collision_status": pl.String,
    "expected_hit_len": pl.Int64,
    "expected_hit_len_cold": pl.Int64,
    "expected_hit_len_hot": pl.Int64,
}
_RESULT: Columns = {
    "pass": pl.String,
    "phase": pl.String,
    "request_id": pl.String,
    "endpoint": pl.String,
    "actual_route": pl.Int64,
    "ready_s": pl.Float64,
    "gate_wait_s": pl.Float64,
    "lag_s": pl.Float64,
    "sent_s": pl.Float64,
    "first_byte_s": pl.Float64,
    "first_token_s": pl.Float64,
    "last_token_s": pl.Float64,
    "gate_broken": pl.Boolean,
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "cached_tokens": pl.Int64,
    "http_status": pl.Int64,
    "status": pl.String,
    "error": pl.String,
    "ttft_s": pl.Float64,
    "tpot_s": pl.Float64,
    "e2e_s": pl.Float64,
    "scheduled_s": pl.Float64,
    "first_text_s": pl.Float64,
    "chunks": pl.Int64,
    "itl_max_s": pl.Float64,
    "attempts": pl.Int64,
    "retried": pl.List(pl.String),
    "failure": pl.String,
    "connection": pl.String,
    "output_by": pl.String,
}
WATERMARKS = ("cached_watermark_before", "cached_watermark_after")
COLUMNS = (
    *("pass", "order_index", "request_id", "prefix_group_id", "input_len", "output_len", "planned_prefix_len"),
    *WATERMARKS,
    *("divergence_len", "suffix_len", "expected_hit_len", "expected_hit_ratio", "cached_tokens", "hit_difference"),
    *("status", "ttft_s", "tpot_s", "e2e_s", "gate_wait_s", "lag_s", "gate_broken", "prompt_tokens"),
    *("completion_tokens", "planned_dp_id", "planned_route", "actual_route", "endpoint", "ready_s", "sent_s"),
    *("first_byte_s", "first_token_s", "last_token_s", "http_status", "error", "collision_status"),
    *("scheduled_s", "first_text_s", "chunks", "itl_max_s", "attempts", "retried", "failure", "connection"),
    "output_by",
)
"""The join's columns in their order; `prompt` comes last where it was asked for."""


def join_requests(run_dir: Path, *, with_prompts: bool = False) -> pl.DataFrame:
    """Plan and results of a run, joined.

    Args:
        run_dir: what `run` wrote.
        with_prompts: add the column ``prompt``: the text; messages or token ids as JSON where those are sent.

    Returns:
        ``COLUMNS``, one row per planned request and pass, passes in the order they ran, requests in send order. What
        is not known is null: all results of a request that was not sent, and the watermarks in passes other than the
        target's (they are planned for that one). ``hit_difference`` is cached tokens by usage minus expected hits.

    Raises:
        InputError: not a run directory, or unreadable files.
    """
    run = load_run(run_dir)
    plan = read_table(run_dir / "dataset" / "request_metadata.jsonl", _PLAN).frame
    plan = plan.sort("order_index", maintain_order=True)
    results = _results(run_dir / "runtime" / "request_results.jsonl")
    frame = pl.concat([_one_pass(run, plan, results, name) for name in run.passes])
    if not with_prompts:
        return frame
    prompts = pl.DataFrame(
        list(_prompts(run_dir / "dataset")),
        schema={"request_id": pl.String, "prompt": pl.String},
        orient="row",
    )
    return frame.join(prompts, on="request_id", how="left", maintain_order="left")


def _results(path: Path) -> pl.DataFrame:
    """The measured answers, also of a run that broke off."""
    partial = path.with_name(f"{path.name}.partial")
    found = path if path.is_file() else partial
    frame = (read_table(found, _RESULT) if found.is_file() else empty_table(_RESULT)).frame
    one_cell = pl.col("retried").list.join(", ")  # a table's cell holds no list
    return frame.filter(pl.col("phase") == "measured").drop("phase").with_columns(one_cell)


def _one_pass(run: RunDirectory, plan: pl.DataFrame, results: pl.DataFrame, name: str) -> pl.DataFrame:
    own = f"expected_hit_len_{name}"
    expected = own if own in plan.columns and plan[own].null_count() < plan.height else "expected_hit_len"
    hidden = [] if name == run.target_pass else [pl.lit(None, pl.Int64).alias(column) for column in WATERMARKS]
    answers = results.filter(pl.col("pass") == name).drop("pass")
    answers = answers.unique("request_id", keep="last", maintain_order=True)
    return (
        plan.with_columns(pl.lit(name).alias("pass"), pl.col(expected).alias("expected_hit_len"), *hidden)
        .join(answers, on="request_id", how="left", maintain_order="left")
        .with_columns(
            (pl.col("expected_hit_len") / pl.col("input_len")).alias("expected_hit_ratio"),
            (pl.col("cached_tokens") - pl.col("expected_hit_len")).alias("hit_difference"),
        )
        .select(COLUMNS)
    )


def _prompts(dataset: Path) -> Iterator[tuple[str, str | None]]:
    check_prompts_are_here(dataset, field="--with-prompts", stage="export")
    for line in _lines(dataset):
        row = orjson.loads(line)
        yield str(row["request_id"]), _text(row)


def _lines(dataset: Path) -> Iterator[bytes]:
    if (dataset / DATA).is_file():
        with open(dataset / DATA, "rb") as file:
            yield from file
        return
    try:
        yield from sent_lines(dataset, read_json(dataset / "manifest.json"))
    except (OSError, ValueError, KeyError):
        raise InputError(
            f"the run's dataset has no {DATA} and no shards that can be read, so there are no prompts",
            field="--with-prompts",
            remedy="leave --with-prompts out.",
            stage="export",
        ) from None


def _text(row: dict[str, Any]) -> str | None:
    if row.get("prompt") is not None:
        return str(row["prompt"])
    for other in ("messages", "prompt_token_ids"):
        if row.get(other) is not None:
            return orjson.dumps(row[other]).decode()
    return None
