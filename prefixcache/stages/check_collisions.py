"""Stage check_collisions: is what must be unique unique, under the configured matching semantics (RFC 3.3.14)?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from prefixcache.artifact import Artifact
from prefixcache.content.collisions.detection import CollisionDetector, CollisionRules, Found, Placed
from prefixcache.dataset.shards import token_ids
from prefixcache.files import replacing, write_json
from prefixcache.stages.job import Job
from prefixcache.stages.marking import matching_of
from prefixcache.stages.probe_tokenizer import read_frame
from prefixcache.stages.stage import Stage
from prefixcache.stages.workspace import WORK

COLLISIONS, COLLIDING = f"{WORK}/collisions.json", f"{WORK}/colliding.parquet"
MOST_LISTED = 20


def check_collisions(root: Path, job: Job, frame: Artifact, plan: Artifact, shards: list[Artifact]) -> Artifact:
    """collisions.json (figures) and colliding.parquet: ``part, index, request_id`` of the prompts that have to change.

    One shard is in memory at a time; the registry of hashes is bounded and spills to the work folder.
    """
    config = job.config
    rules = config.suffix.collision_detection
    head = read_frame(frame.path(root)).head
    asked = CollisionRules(matching_of(config), config.block_size, head, rules.window_blocks)
    with CollisionDetector(asked, folder=root / WORK) as detector:
        for shard in shards:
            path = shard.path(root)
            detector.add(path.stem, _placed(path))
        found = detector.result()
    table = _colliding(root, plan, shards, found)
    with replacing(root / COLLIDING) as file:
        table.write_parquet(file)
    write_json(root / COLLISIONS, {**found.report, "requests": table["request_id"].to_list()[:MOST_LISTED]})
    return Artifact.of("collisions", root, [COLLISIONS, COLLIDING], len(table))


def _placed(path: Path) -> Iterator[Placed]:
    warmup = path.stem == "warmup"
    columns = ["prefix_group_id", "planned_dp_id", "planned_prefix_len"]
    table = pq.read_table(path, columns=[*columns, "prompt_token_ids", *(() if warmup else ("order_index",))])
    rows = range(len(table)) if warmup else table["order_index"].to_pylist()
    plain = [table[name].to_pylist() for name in columns]
    for row, group, domain, prefix, ids in zip(rows, *plain, token_ids(table), strict=True):
        yield Placed(row, group, domain, prefix, ids, warmup)


def _colliding(root: Path, plan: Artifact, shards: list[Artifact], found: Found) -> pl.DataFrame:
    """The prompts found, with their shard and generated index."""
    requests = pl.read_parquet(plan.path(root, "plan.parquet"), columns=["index"])["index"].to_numpy()
    warmup = pl.read_parquet(plan.path(root, "plan_warmup.parquet"), columns=["index"])["index"].to_numpy()
    rows: list[dict[str, Any]] = []
    wanted = np.array(found.requests, dtype=np.int64)
    for shard in shards if found.requests or found.warmup else []:
        path = shard.path(root)
        if path.stem == "warmup":
            names = pq.read_table(path, columns=["request_id"])["request_id"].to_pylist()
            rows += [{"part": path.stem, "index": int(warmup[i]), "request_id": names[i]} for i in found.warmup]
            continue
        table = pq.read_table(path, columns=["request_id", "order_index"])
        places = table["order_index"].to_numpy()
        for i in np.flatnonzero(np.isin(places, wanted)).tolist():
            name = table["request_id"][i].as_py()
            rows.append({"part": path.stem, "index": int(requests[places[i]]), "request_id": name})
    return pl.DataFrame(rows, schema={"part": pl.String, "index": pl.Int64, "request_id": pl.String})


CHECK_COLLISIONS = Stage("check_collisions", 2, check_collisions)
