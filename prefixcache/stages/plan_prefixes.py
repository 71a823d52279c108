"""Stage plan_prefixes: order, routes, planned prefixes, watermarks; one row per request in send order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from prefixcache.artifact import Artifact
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.content.branches import number_branches
from prefixcache.content.collisions.markers import refuse_short_blocks
from prefixcache.files import replacing, write_json
from prefixcache.stages.job import Job
from prefixcache.stages.marking import matching_of
from prefixcache.stages.plan_lengths import read_shape
from prefixcache.stages.probe_tokenizer import read_frame
from prefixcache.stages.stage import Stage
from prefixcache.workload.plan import Plan, plan_dataset
from prefixcache.workload.plan_report import plan_report

PLAN, WARMUP, REPORT = ".work/plan.parquet", ".work/plan_warmup.parquet", ".work/plan.json"


def plan_prefixes(root: Path, job: Job, frame: Artifact, lengths: Artifact) -> Artifact:
    """plan.parquet (requests in send order), plan_warmup.parquet (one row per lane) and plan.json (figures).

    Raises:
        InputError: inputs that disagree; blocks too short for the markers that the matching semantics need.
    """
    around = read_frame(frame.path(root))
    refuse_short_blocks(matching_of(job.config), around.head, around.tail)
    plan = plan_dataset(job.config, read_shape(lengths.path(root)), around)
    requests, warmup = plan_tables(job.config, plan)
    for table, path in ((requests, PLAN), (warmup, WARMUP)):
        with replacing(root / path) as file:
            table.write_parquet(file)
    write_json(root / REPORT, plan_report(job.config, plan))
    return Artifact.of("plan", root, [PLAN, WARMUP, REPORT], len(requests))


def plan_tables(config: PrefixCacheDatasetConfig, plan: Plan) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Requests in send order, and warmup prompts in lane order (none without a hot pass)."""
    order, lanes, prefixes = plan.order, plan.lanes, plan.prefixes
    top = lanes.top(prefixes)
    # A lane that shares nothing has nothing to warm up.
    warm = np.flatnonzero(top > 0) if "hot" in config.passes else np.zeros(0, dtype=np.int64)
    branches = number_branches(
        np.concatenate([plan.shape.groups[order], lanes.group[warm]]),
        np.concatenate([prefixes[order], top[warm]]),
        plan.frame.head,
    )
    count = len(order)
    target = plan.of_pass(config.target_pass)
    columns: dict[str, Any] = {
        "index": order,
        "order_index": np.arange(count),
        "group": plan.shape.groups[order].astype(np.int64),
        "domain": plan.domains[order].astype(np.int64),
        "lane": lanes.lane_of[order],
        "input_len": plan.shape.lengths[order],
        "output_len": plan.shape.outputs[order],
        "planned_prefix_len": prefixes[order],
        "cached_watermark_before": target.before[order],
        "expected_hit_len": target.hit[order],
        "cached_watermark_after": target.after[order],
        "branch": branches.number[:count],
        "siblings": branches.siblings[:count],
    }
    for name in config.passes if len(config.passes) > 1 else ():
        columns[f"expected_hit_len_{name}"] = plan.of_pass(name).hit[order]
    warmup = {
        "index": -1 - warm,  # below all requests, so that content seeds differ
        "group": lanes.group[warm],
        "domain": lanes.domain[warm],
        "lane": warm,
        "input_len": np.maximum(top[warm], plan.frame.head) + config.block_size + plan.frame.tail,
        "planned_prefix_len": top[warm],
        "branch": branches.number[count:],
        "siblings": branches.siblings[count:],
    }
    return pl.DataFrame(columns), pl.DataFrame({k: np.asarray(v, dtype=np.int64) for k, v in warmup.items()})


PLAN_PREFIXES = Stage("plan_prefixes", 4, plan_prefixes)
