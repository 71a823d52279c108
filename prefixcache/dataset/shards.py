"""Shards: the canonical Parquet form of a dataset, rows in send order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.content.assembly import Prompt
from prefixcache.content.collisions.repair import Repairs
from prefixcache.files import replacing

DATA_FIELDS = ("request_id", "prompt", "prompt_token_ids", "max_tokens")
# What every row of request_metadata.jsonl has, in this order (RFC 3.3.16).
METADATA_FIELDS = (
    "request_id",
    "prefix_group_id",
    "order_index",
    "input_len",
    "output_len",
    "planned_prefix_len",
    "cached_watermark_before",
    "expected_hit_len",
    "expected_hit_ratio",
    "cached_watermark_after",
    "divergence_len",
    "suffix_len",
    "planned_dp_id",
    "planned_route",
    "collision_status",
    "collision_retries",
    "collision_repair",
    "sample_ids",
)
COMPARE_FIELDS = ("expected_hit_len_cold", "expected_hit_len_hot")
WARMUP_FIELDS = (
    "request_id",
    "prefix_group_id",
    "planned_dp_id",
    "planned_route",
    "input_len",
    "planned_prefix_len",
    "prompt",
    "prompt_token_ids",
    "max_tokens",
)
_IDS = pa.list_(pa.int32())


def request_table(
    config: PrefixCacheDatasetConfig,
    plan: pl.DataFrame,
    prompts: list[Prompt],
    total: int,
    repairs: Repairs = Repairs(),
) -> pa.Table:
    """One shard. ``plan``: its rows in send order; ``total``: requests of the whole dataset (for the ids' width)."""
    indices = plan["index"].to_numpy()
    width = len(str(total - 1))
    hits, lengths = plan["expected_hit_len"].to_numpy(), plan["input_len"].to_numpy()
    extra = [name for name in COMPARE_FIELDS if name in plan.columns]
    columns: dict[str, Any] = {
        "request_id": [f"{config.dataset_id}-{index:0{width}d}" for index in plan["index"].to_list()],
        **_common(config, plan),
        "order_index": plan["order_index"].to_numpy(),
        "input_len": lengths,
        "output_len": plan["output_len"].to_numpy(),
        "planned_prefix_len": plan["planned_prefix_len"].to_numpy(),
        "cached_watermark_before": plan["cached_watermark_before"].to_numpy(),
        "expected_hit_len": hits,
        "expected_hit_ratio": hits / lengths,
        "cached_watermark_after": plan["cached_watermark_after"].to_numpy(),
        "divergence_len": np.array([prompt.divergence_len for prompt in prompts], dtype=np.int64),
        "suffix_len": np.array([prompt.suffix_len for prompt in prompts], dtype=np.int64),
        "collision_status": repairs.statuses(indices),
        "collision_retries": repairs.retries(indices),
        "collision_repair": pa.array(repairs.names(indices), type=pa.string()),
        "sample_ids": pa.array([prompt.samples for prompt in prompts], type=pa.list_(pa.int64())),
        **{name: plan[name].to_numpy() for name in extra},
        "max_tokens": plan["output_len"].to_numpy(),
        **_content(config, prompts),
    }
    order = dict.fromkeys([*METADATA_FIELDS, *extra, *DATA_FIELDS])
    return pa.table({name: columns[name] for name in order})


def warmup_table(config: PrefixCacheDatasetConfig, plan: pl.DataFrame, prompts: list[Prompt]) -> pa.Table:
    """Warmup prompts, one row per lane."""
    columns: dict[str, Any] = {
        "request_id": [f"{config.dataset_id}-warmup-{lane}" for lane in plan["lane"].to_list()],
        **_common(config, plan),
        "input_len": plan["input_len"].to_numpy(),
        "planned_prefix_len": plan["planned_prefix_len"].to_numpy(),
        "max_tokens": np.ones(len(plan), dtype=np.int64),
        **_content(config, prompts),
    }
    return pa.table({name: columns[name] for name in WARMUP_FIELDS})


def _common(config: PrefixCacheDatasetConfig, plan: pl.DataFrame) -> dict[str, Any]:
    names = config.prefix.group_ids()
    domains = plan["domain"].to_list()
    routes = domains if config.routing.domains > 1 else [None] * len(domains)
    return {
        "prefix_group_id": [names[group] for group in plan["group"].to_list()],
        "planned_dp_id": plan["domain"].to_numpy(),
        "planned_route": pa.array(routes, type=pa.int64()),
    }


def _content(config: PrefixCacheDatasetConfig, prompts: list[Prompt]) -> dict[str, Any]:
    ends = np.cumsum([0, *(len(prompt.ids) for prompt in prompts)], dtype=np.int32)
    flat = np.concatenate([prompt.ids for prompt in prompts]) if prompts else np.zeros(0, dtype=np.int32)
    without = config.output.prompts == "ids"
    return {
        "prompt": pa.array([None if without else _text_of(prompt) for prompt in prompts], type=pa.large_string()),
        "prompt_token_ids": pa.ListArray.from_arrays(pa.array(ends), pa.array(flat, type=pa.int32())),
    }


def _text_of(prompt: Prompt) -> str | None:
    return None if prompt.text is None else prompt.text.decode()


def write_table(path: Path, table: pa.Table) -> None:
    """Zstandard Parquet, one row group, token ids byte-stream-split; written aside and renamed."""
    ids = "prompt_token_ids.list.element"
    dictionary = [name for name in table.column_names if name not in ("prompt", "prompt_token_ids")]
    with replacing(path) as file:
        pq.write_table(
            table,
            file,
            compression="zstd",
            use_dictionary=dictionary,
            use_byte_stream_split=[ids],
            row_group_size=max(len(table), 1),
        )


def read_rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Rows of one shard as plain data; token ids come as int32 arrays."""
    table = pq.read_table(path, columns=list(columns))
    plain = {name: table[name].to_pylist() for name in columns if name != "prompt_token_ids"}
    ids = token_ids(table) if "prompt_token_ids" in columns else []
    for row in range(len(table)):
        yield {name: ids[row] if name == "prompt_token_ids" else plain[name][row] for name in columns}


def flat_token_ids(table: pa.Table) -> tuple[np.ndarray[Any, np.dtype[np.int32]], np.ndarray[Any, np.dtype[np.int64]]]:
    """The ids column as one int32 array, one prompt after the other, and where each prompt ends in it."""
    column = table["prompt_token_ids"].combine_chunks()
    offsets = column.offsets.to_numpy().astype(np.int64)
    begin = int(offsets[0]) if len(offsets) else 0
    end = int(offsets[-1]) if len(offsets) else 0
    return column.values.to_numpy()[begin:end], offsets[1:] - begin


def token_ids(table: pa.Table) -> list[np.ndarray[Any, np.dtype[np.int32]]]:
    """The ids column as one int32 array per row, views of one buffer."""
    column = table["prompt_token_ids"].combine_chunks()
    flat = column.values.to_numpy()
    offsets = column.offsets.to_numpy()
    return [flat[begin:end] for begin, end in pairwise(offsets)]
