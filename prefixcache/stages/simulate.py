"""Stage simulate: the certificate, hits of the real token ids in a simulated cache next to the planned ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prefixcache.artifact import Artifact
from prefixcache.cache.bounded import SIMULATOR, PoolSize, bounded_passes
from prefixcache.cache.certificate import simulate_pass
from prefixcache.cache.matching.semantics import Matching
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.files import replacing, write_json
from prefixcache.stages.hash_blocks import is_warmup, open_prompts
from prefixcache.stages.job import Job
from prefixcache.stages.marking import matching_of
from prefixcache.stages.stage import Stage
from prefixcache.stages.workspace import WORK
from prefixcache.tables import read_parquet
from prefixcache.workload.capacity import pool_of

CERTIFICATE, HITS = f"{WORK}/certificate.json", f"{WORK}/simulated_hits.parquet"
MOST_LISTED = 20
SIMULATORS = {
    "chained_prefix": "unbounded block trie over real token ids, in send order",
    "independent_block": "unbounded cache of blocks found anywhere, over real token ids, in send order",
    "content_defined_chunk": "unbounded cache of content-defined chunks over real token ids, in send order",
}
Tokens = NDArray[np.int64]


class ShardReader:
    """Planned columns of all shards and simulated hits, in send order.

    Args:
        shards, keys: the shards and, from the stage hash_blocks, the keys of each.
        pool: the caches' size, where hits were planned for caches that evict.
    """

    def __init__(
        self, root: Path, shards: list[Artifact], keys: list[Artifact], matching: Matching, pool: PoolSize | None = None
    ) -> None:
        self.unit = matching.unit
        self.pool = pool
        self._paths = [path for shard in shards if (path := shard.path(root)).stem != "warmup"]
        self._warm_path = next((path for shard in shards if (path := shard.path(root)).stem == "warmup"), None)
        self._hits: dict[tuple[str, int], Tokens] = {}
        self.requests = open_prompts(root, [each for each in keys if not is_warmup(root, each)], matching)
        self.warmup = open_prompts(root, [each for each in keys if is_warmup(root, each)], matching)

    def column(self, name: str) -> pl.Series:
        return pl.concat([read_parquet(path, columns=[name]) for path in self._paths])[name]

    def hits(self, name: str, drop: int) -> Tokens:
        """Simulated hit tokens per request of one pass."""
        key = (name, drop)
        if key not in self._hits:
            if self.pool is None:
                self._hits[key] = simulate_pass(name, self.requests, self.warmup, self.unit, drop)
            else:
                self._hits[key] = self._bounded(name, self.pool)
        return self._hits[key]

    def _bounded(self, name: str, pool: PoolSize) -> Tokens:
        outputs, domains = (self.column(of).to_numpy().astype(np.int64) for of in ("output_len", "planned_dp_id"))
        warm = np.zeros(0, dtype=np.int64)
        if self._warm_path is not None:
            warm = read_parquet(self._warm_path, columns=["planned_dp_id"])["planned_dp_id"].to_numpy().astype(np.int64)
        return bounded_passes([name], self.requests, outputs, domains, self.warmup, warm, pool)[name]


def hit_column(config: PrefixCacheDatasetConfig, name: str) -> str:
    """Column of the planned hits of one pass."""
    return f"expected_hit_len_{name}" if len(config.passes) > 1 else "expected_hit_len"


def certify(config: PrefixCacheDatasetConfig, data: ShardReader) -> dict[str, object]:
    """The certificate as plain data: per pass planned and simulated hits, and which requests differ."""
    passes = []
    for name in config.passes:
        planned = data.column(hit_column(config, name)).to_numpy().astype(np.int64)
        simulated = data.hits(name, config.hit_drop)
        wrong = np.flatnonzero(planned != simulated)
        names = data.column("request_id") if len(wrong) else pl.Series([], dtype=pl.String)
        passes.append(
            {
                "name": name,
                "planned_hit_tokens": int(planned.sum()),
                "simulated_hit_tokens": int(simulated.sum()),
                "mismatched_requests": len(wrong),
                "first_mismatches": [
                    {
                        "request_id": names[i],
                        "planned": int(planned[i]),
                        "simulated": int(simulated[i]),
                    }
                    for i in wrong[:MOST_LISTED].tolist()
                ],
            }
        )
    return {
        "simulator": SIMULATORS[config.suffix.collision_detection.cache_match_semantics]
        if data.pool is None
        else SIMULATOR.format(blocks=data.pool.num_blocks),
        "hit_unit": data.unit,
        "requests": len(data.requests),
        "holds": all(row["mismatched_requests"] == 0 for row in passes),
        "passes": passes,
    }


def simulate(root: Path, job: Job, shards: list[Artifact], keys: list[Artifact]) -> Artifact:
    """certificate.json, and simulated_hits.parquet: in send order the simulator's value of each column of hits."""
    config = job.config
    data = ShardReader(root, shards, keys, matching_of(config), pool_of(config))
    write_json(root / CERTIFICATE, certify(config, data))
    columns = {hit_column(config, name): data.hits(name, config.hit_drop) for name in config.passes}
    columns["expected_hit_len"] = data.hits(config.target_pass, config.hit_drop)
    with replacing(root / HITS) as file:
        pl.DataFrame(columns).write_parquet(file)
    return Artifact.of("certificate", root, [CERTIFICATE, HITS], len(data.requests))


SIMULATE = Stage("simulate", 3, simulate)
