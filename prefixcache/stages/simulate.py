"""Stage simulate: the certificate, hits of the real token ids in a simulated cache next to the planned ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

from prefixcache.artifact import Artifact
from prefixcache.cache.certificate import KeyedPrompts, simulate_pass
from prefixcache.cache.matching.semantics import Matching
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.dataset.shards import token_ids
from prefixcache.files import replacing, write_json
from prefixcache.stages.job import Job
from prefixcache.stages.marking import matching_of
from prefixcache.stages.stage import Stage
from prefixcache.stages.workspace import WORK

CERTIFICATE, HITS = f"{WORK}/certificate.json", f"{WORK}/simulated_hits.parquet"
MOST_LISTED = 20
SIMULATORS = {
    "chained_prefix": "unbounded block trie over real token ids, in send order",
    "independent_block": "unbounded cache of blocks found anywhere, over real token ids, in send order",
    "content_defined_chunk": "unbounded cache of content-defined chunks over real token ids, in send order",
}
Tokens = NDArray[np.int64]


class ShardReader:
    """Keys and plan columns of all shards, in send order. ``warmup``: the warmup shard, if there is one."""

    def __init__(self, paths: list[Path], warmup: Path | None, matching: Matching) -> None:
        self.unit = matching.unit
        self.columns: dict[str, list[Any]] = {}
        self._hits: dict[tuple[str, int], Tokens] = {}
        self.requests = KeyedPrompts.of(self._prompts(paths), matching.unit, matching)
        warm: list[tuple[NDArray[np.int32], int]] = []
        if warmup is not None:
            table = pq.read_table(warmup)
            warm = list(zip(token_ids(table), table["planned_dp_id"].to_pylist(), strict=True))
        self.warmup = KeyedPrompts.of(warm, matching.unit, matching)

    def _prompts(self, paths: list[Path]) -> Iterator[tuple[NDArray[np.int32], int]]:
        for path in paths:
            table = pq.read_table(path)
            for name in table.column_names:
                if name not in ("prompt", "prompt_token_ids"):
                    self.columns.setdefault(name, []).extend(table[name].to_pylist())
            yield from zip(token_ids(table), table["planned_dp_id"].to_pylist(), strict=True)

    def numbers(self, name: str) -> Tokens:
        return np.array(self.columns[name], dtype=np.int64)

    def hits(self, name: str, drop: int) -> Tokens:
        """Simulated hit tokens per request of one pass."""
        key = (name, drop)
        if key not in self._hits:
            self._hits[key] = simulate_pass(name, self.requests, self.warmup, self.unit, drop)
        return self._hits[key]


def open_shards(root: Path, shards: list[Artifact], matching: Matching) -> ShardReader:
    paths = [shard.path(root) for shard in shards]
    requests = [path for path in paths if path.stem != "warmup"]
    warmup = [path for path in paths if path.stem == "warmup"]
    return ShardReader(requests, warmup[0] if warmup else None, matching)


def hit_column(config: PrefixCacheDatasetConfig, name: str) -> str:
    """Column of the planned hits of one pass."""
    return f"expected_hit_len_{name}" if len(config.passes) > 1 else "expected_hit_len"


def certify(config: PrefixCacheDatasetConfig, data: ShardReader) -> dict[str, object]:
    """The certificate as plain data: per pass planned and simulated hits, and which requests differ."""
    passes = []
    for name in config.passes:
        planned = data.numbers(hit_column(config, name))
        simulated = data.hits(name, config.hit_drop)
        wrong = np.flatnonzero(planned != simulated)
        passes.append(
            {
                "name": name,
                "planned_hit_tokens": int(planned.sum()),
                "simulated_hit_tokens": int(simulated.sum()),
                "mismatched_requests": len(wrong),
                "first_mismatches": [
                    {
                        "request_id": data.columns["request_id"][i],
                        "planned": int(planned[i]),
                        "simulated": int(simulated[i]),
                    }
                    for i in wrong[:MOST_LISTED].tolist()
                ],
            }
        )
    return {
        "simulator": SIMULATORS[config.suffix.collision_detection.cache_match_semantics],
        "hit_unit": data.unit,
        "requests": len(data.requests),
        "holds": all(row["mismatched_requests"] == 0 for row in passes),
        "passes": passes,
    }


def simulate(root: Path, job: Job, shards: list[Artifact]) -> Artifact:
    """certificate.json, and simulated_hits.parquet: in send order the simulator's value of each column of hits."""
    config = job.config
    data = open_shards(root, shards, matching_of(config))
    write_json(root / CERTIFICATE, certify(config, data))
    columns = {hit_column(config, name): data.hits(name, config.hit_drop) for name in config.passes}
    columns["expected_hit_len"] = data.hits(config.target_pass, config.hit_drop)
    with replacing(root / HITS) as file:
        pl.DataFrame(columns).write_parquet(file)
    return Artifact.of("certificate", root, [CERTIFICATE, HITS], len(data.requests))


SIMULATE = Stage("simulate", 2, simulate)
