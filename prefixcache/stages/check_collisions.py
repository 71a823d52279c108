"""Stage check_collisions: is what must be unique unique, under the configured matching semantics (RFC 3.3.14)?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from prefixcache.artifact import Artifact
from prefixcache.content.collisions.detection import CollisionDetector, Found
from prefixcache.files import replacing, write_json
from prefixcache.stages.hash_blocks import collision_rules, open_part
from prefixcache.stages.job import Job
from prefixcache.stages.probe_tokenizer import read_frame
from prefixcache.stages.stage import Stage
from prefixcache.stages.workspace import WORK
from prefixcache.tables import read_parquet

COLLISIONS, COLLIDING = f"{WORK}/collisions.json", f"{WORK}/colliding.parquet"
MOST_LISTED = 20


def check_collisions(
    root: Path, job: Job, frame: Artifact, plan: Artifact, shards: list[Artifact], keys: list[Artifact]
) -> Artifact:
    """collisions.json (figures) and colliding.parquet: ``part, index, request_id`` of the prompts that have to change.

    Args:
        keys: of each shard, from the stage hash_blocks; they stay in their files, and a bounded part of them is looked
            at together.
    """
    with CollisionDetector(collision_rules(job, read_frame(frame.path(root)).head), folder=root / WORK) as detector:
        for shard, own in zip(shards, keys, strict=True):
            detector.add_keys(shard.path(root).stem, open_part(root, own))
        found = detector.result()
    table = _colliding(root, plan, shards, found)
    with replacing(root / COLLIDING) as file:
        table.write_parquet(file)
    write_json(root / COLLISIONS, {**found.report, "requests": table["request_id"].to_list()[:MOST_LISTED]})
    return Artifact.of("collisions", root, [COLLISIONS, COLLIDING], len(table))


def _colliding(root: Path, plan: Artifact, shards: list[Artifact], found: Found) -> pl.DataFrame:
    """The prompts found, with their shard and generated index."""
    requests = read_parquet(plan.path(root, "plan.parquet"), columns=["index"])["index"].to_numpy()
    warmup = read_parquet(plan.path(root, "plan_warmup.parquet"), columns=["index"])["index"].to_numpy()
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


CHECK_COLLISIONS = Stage("check_collisions", 3, check_collisions)
