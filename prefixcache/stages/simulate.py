"""Stages check_collisions and simulate: what the real token ids do in a cache, next to what was planned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from prefixcache.artifact import Artifact
from prefixcache.cache.certificate import KeyedPrompts, duplicate_branches, simulate_pass
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.dataset.shards import token_ids
from prefixcache.files import write_json
from prefixcache.stages.job import Job
from prefixcache.stages.stage import Stage

COLLISIONS, CERTIFICATE = ".work/collisions.json", ".work/certificate.json"
MOST_LISTED = 20
Tokens = NDArray[np.int64]


class ShardReader:
    """Keys and plan columns of all shards, in send order. ``warmup``: the warmup shard, if there is one."""

    def __init__(self, paths: list[Path], warmup: Path | None, unit: int) -> None:
        self.unit = unit
        self.columns: dict[str, list[Any]] = {}
        self.requests = KeyedPrompts.of(self._prompts(paths), unit)
        self.warmup_prefixes = np.zeros(0, dtype=np.int64)
        warm: list[tuple[NDArray[np.int32], int]] = []
        if warmup is not None:
            table = pq.read_table(warmup)
            self.warmup_prefixes = table["planned_prefix_len"].to_numpy()
            warm = list(zip(token_ids(table), table["planned_dp_id"].to_pylist(), strict=True))
        self.warmup = KeyedPrompts.of(warm, unit)

    def _prompts(self, paths: list[Path]) -> Iterator[tuple[NDArray[np.int32], int]]:
        for path in paths:
            table = pq.read_table(path)
            for name in table.column_names:
                if name not in ("prompt", "prompt_token_ids"):
                    self.columns.setdefault(name, []).extend(table[name].to_pylist())
            yield from zip(token_ids(table), table["planned_dp_id"].to_pylist(), strict=True)

    def numbers(self, name: str) -> Tokens:
        return np.array(self.columns[name], dtype=np.int64)


def open_shards(root: Path, shards: list[Artifact], unit: int) -> ShardReader:
    paths = [shard.path(root) for shard in shards]
    requests = [path for path in paths if path.stem != "warmup"]
    warmup = [path for path in paths if path.stem == "warmup"]
    return ShardReader(requests, warmup[0] if warmup else None, unit)


def check_collisions(root: Path, job: Job, shards: list[Artifact]) -> Artifact:
    """collisions.json: requests whose first non-shared block is not unique behind its prefix (RFC 3.3.14)."""
    data = open_shards(root, shards, job.config.unit)
    prefixes = np.concatenate([data.numbers("planned_prefix_len"), data.warmup_prefixes])
    found = duplicate_branches(data.requests, data.warmup, prefixes, job.config.unit)
    names = data.columns["request_id"]
    write_json(
        root / COLLISIONS,
        {
            "cache_match_semantics": job.config.suffix.collision_detection.cache_match_semantics,
            "checked_requests": len(names),
            "first_non_shared_block_duplicates": len(found),
            "requests": [names[i] for i in found[:MOST_LISTED]],
        },
    )
    return Artifact.of("collisions", root, [COLLISIONS], len(names))


def certify(config: PrefixCacheDatasetConfig, data: ShardReader) -> dict[str, object]:
    """The certificate as plain data: per pass planned and simulated hits, and which requests differ."""
    passes = []
    for name in config.passes:
        column = f"expected_hit_len_{name}" if len(config.passes) > 1 else "expected_hit_len"
        planned = data.numbers(column)
        simulated = simulate_pass(name, data.requests, data.warmup, data.unit)
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
        "simulator": "unbounded block trie over real token ids, in send order",
        "hit_unit": data.unit,
        "requests": len(data.requests.keys),
        "holds": all(row["mismatched_requests"] == 0 for row in passes),
        "passes": passes,
    }


def simulate(root: Path, job: Job, shards: list[Artifact]) -> Artifact:
    """certificate.json."""
    data = open_shards(root, shards, job.config.unit)
    write_json(root / CERTIFICATE, certify(job.config, data))
    return Artifact.of("certificate", root, [CERTIFICATE], len(data.requests.keys))


CHECK_COLLISIONS = Stage("check_collisions", 1, check_collisions)
SIMULATE = Stage("simulate", 1, simulate)
