"""A dataset as traces for cache models, at any block size: its prompts' real token ids, hashed shard by shard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from prefixcache.cache.matching.semantics import Matching
from prefixcache.cache.models.trace import Counts, Trace
from prefixcache.dataset.contents import read_manifest
from prefixcache.dataset.shards import flat_token_ids
from prefixcache.dataset.stored import DATA, WARMUP, check_prompts_are_here, rows_with_ids
from prefixcache.errors import InputError
from prefixcache.tables import read_ndjson, read_parquet

FIELD = "--dataset"
ROWS = 2000
"""Prompts hashed together where they come from lines of JSON."""
COLUMNS = ("request_id", "prefix_group_id", "planned_dp_id", "planned_prefix_len")
Ids = NDArray[np.int32]


@dataclass(frozen=True)
class DatasetTraces:
    """Requests and warmup prompts of a dataset, their blocks numbered together.

    Attributes:
        plan: one row per request in send order: ``COLUMNS`` and the planned figures of request_metadata.jsonl.
        warm_plan: ``COLUMNS`` of the warmup prompts, one row each.
        keys: of each block number, if asked for, shape (distinct,).
    """

    manifest: dict[str, Any]
    requests: Trace
    warmup: Trace
    plan: pl.DataFrame
    warm_plan: pl.DataFrame
    keys: NDArray[np.uint64] | None = None


def read_dataset_traces(root: Path, matching: Matching, *, with_keys: bool = False) -> DatasetTraces:
    """Hash a dataset's prompts.

    Args:
        matching: into which pieces a prompt falls; its unit need not be the dataset's block size.
        with_keys: tell the keys of the blocks too.

    Raises:
        InputError: no dataset, or one without the token ids of its prompts.
    """
    manifest = read_manifest(root)
    check_prompts_are_here(root, field=FIELD)
    try:
        plan = _plan(root)
        warm = _keyed(root, manifest, WARMUP, matching)
        requests = _keyed(root, manifest, DATA, matching)
        warm_plan = _warm_plan(root, manifest)
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError, pa.ArrowException) as error:
        raise InputError(
            f"its prompts cannot be read ({(str(error).splitlines() or [type(error).__name__])[0][:200]})",
            field=FIELD,
            remedy="a simulation needs the token ids of every prompt, in shards/ or in data.jsonl; generate the "
            "dataset again, or name the folder that `prefixcache generate` wrote.",
            dataset_id=manifest.get("dataset_id"),
        ) from None
    if len(plan) != len(requests.lengths):
        raise InputError(
            f"{len(requests.lengths)} prompts, request_metadata.jsonl has {len(plan)} rows",
            field=FIELD,
            remedy="run `prefixcache validate` and generate the dataset again.",
            dataset_id=manifest.get("dataset_id"),
        )
    outputs = plan["output_len"].to_numpy().astype(np.int64)
    keyed = _Keyed.joined([warm, requests])
    together = keyed.trace(np.concatenate([np.ones(len(warm.lengths), dtype=np.int64), outputs]), matching)
    first = len(warm.lengths)
    keys = None
    if with_keys:
        keys = np.empty(together.distinct, dtype=np.uint64)
        keys[together.blocks] = keyed.keys
    parts = together.part(first, len(together)), together.part(0, first)
    return DatasetTraces(manifest, *parts, plan, warm_plan, keys)


@dataclass(frozen=True)
class _Keyed:
    """Keys of pieces, pieces per prompt, token counts at the pieces' ends, tokens per prompt."""

    keys: NDArray[np.uint64]
    sizes: Counts
    stops: Counts
    lengths: Counts

    @classmethod
    def joined(cls, parts: list[_Keyed]) -> _Keyed:
        none = np.zeros(0, dtype=np.int64)
        return cls(
            np.concatenate([none.astype(np.uint64), *(part.keys for part in parts)]),
            np.concatenate([none, *(part.sizes for part in parts)]),
            np.concatenate([none, *(part.stops for part in parts)]),
            np.concatenate([none, *(part.lengths for part in parts)]),
        )

    def trace(self, outputs: Counts, matching: Matching) -> Trace:
        trace = Trace.of_new_keys(self.keys, np.cumsum(self.sizes), self.lengths, outputs, matching.unit)
        if matching.chunker is None:
            return trace
        begins = np.concatenate([np.zeros(1, dtype=np.int64), self.stops[:-1]])[: len(self.stops)]
        begins[trace.starts[self.sizes > 0]] = 0
        tokens = self.stops - begins
        return Trace(trace.blocks, trace.ends, self.lengths, outputs, matching.unit, trace.distinct, tokens)


def _keyed(root: Path, manifest: dict[str, Any], name: str, matching: Matching) -> _Keyed:
    parts = []
    for ids, ends in _pieces(root, manifest, name):
        keys, sizes, stops = matching.pieces_of_many(ids, ends)
        parts.append(_Keyed(keys, sizes, stops, np.diff(ends, prepend=0)))
    return _Keyed.joined(parts)


def _pieces(root: Path, manifest: dict[str, Any], name: str) -> Iterator[tuple[Ids, Counts]]:
    """Token ids of prompts one after the other and where each ends, piece by piece."""
    shards = _shards(manifest, name)
    for shard in shards:
        yield flat_token_ids(pq.read_table(root / shard, columns=["prompt_token_ids"]))
    if shards or (name == WARMUP and WARMUP not in manifest["files"]):
        return
    lines = rows_with_ids(root, manifest, name)
    while rows := list(islice(lines, ROWS)):
        lists = [np.array(row["prompt_token_ids"], dtype=np.int32) for row in rows]
        yield np.concatenate(lists), np.cumsum([len(ids) for ids in lists], dtype=np.int64)


def _shards(manifest: dict[str, Any], name: str) -> list[str]:
    begin = "shards/warmup." if name == WARMUP else "shards/requests-"
    return sorted(file for file in manifest["files"] if file.startswith(begin))


def _plan(root: Path) -> pl.DataFrame:
    plan = read_ndjson(root / "request_metadata.jsonl")
    needed = (*COLUMNS, "input_len", "output_len", "expected_hit_len")
    if missing := [name for name in needed if name not in plan.columns or plan[name].null_count()]:
        raise ValueError(f"request_metadata.jsonl lacks {missing[0]}")
    return plan


def _warm_plan(root: Path, manifest: dict[str, Any]) -> pl.DataFrame:
    shards = _shards(manifest, WARMUP)
    if shards:
        return read_parquet(root / shards[0], columns=list(COLUMNS))
    if WARMUP in manifest["files"]:
        return read_ndjson(root / WARMUP).select(COLUMNS)
    return pl.DataFrame(schema={name: pl.String if name.endswith("_id") else pl.Int64 for name in COLUMNS})
