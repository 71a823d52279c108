"""What the collisions that are left mean for a dataset's report (RFC 3.3.15; domain.md 6)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from prefixcache.artifact import Artifact
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.content.collisions.repair import REPAIRED, STEPS, UNRESOLVED
from prefixcache.dataset.content_check import status_with_collisions
from prefixcache.files import read_json
from prefixcache.stages.job import Job
from prefixcache.tables import read_parquet
from prefixcache.workload.verdict import PASS, status_of, target_ratio, worst

UNIQUE = "unique"
COLUMNS = ("collision_status", "collision_retries", "collision_repair")


def collision_result(root: Path, job: Job, shards: list[Artifact], found: dict[str, Any]) -> dict[str, Any]:
    """The detection's figures and what was done about them, counted over the requests of the shards.

    Args:
        found: collisions.json.
    """
    statuses: Counter[str] = Counter()
    repairs: Counter[str] = Counter()
    retries = 0
    for shard in shards:
        path = shard.path(root)
        if path.stem != "warmup":
            table = read_parquet(path, columns=list(COLUMNS))
            statuses.update(table["collision_status"].to_list())
            repairs.update(table["collision_repair"].drop_nulls().to_list())
            retries += int(table["collision_retries"].sum())
    left = found["colliding_requests"] + found["colliding_warmup_prompts"]
    collides = bool(left or found["cross_group_masters"]["colliding_groups"])
    rules = job.config.suffix.collision_detection
    return {
        **found,
        "status": UNRESOLVED if collides else REPAIRED if statuses[REPAIRED] else UNIQUE,
        "repaired_requests": statuses[REPAIRED],
        "unresolved_requests": found["colliding_requests"],
        "retries": retries,
        "repairs": {step: repairs[step] for step in STEPS[1:]},
        "max_retries": rules.max_retries,
        "on_collision": rules.on_collision,
        "hits_from": "simulator" if collides and rules.on_collision != "error" else "plan",
    }


def refused(result: dict[str, Any]) -> bool:
    """Collisions are left, and the configuration does not put up with them."""
    return bool(result["status"] == UNRESOLVED and result["on_collision"] == "error")


def describe(result: dict[str, Any]) -> str:
    """What is left, as a sentence without end."""
    parts = []
    if result["unresolved_requests"]:
        parts.append(f"{result['unresolved_requests']} requests")
    if result["colliding_warmup_prompts"]:
        parts.append(f"{result['colliding_warmup_prompts']} warmup prompts")
    if groups := result["cross_group_masters"]["colliding_groups"]:
        parts.append(f"the master prefixes of {len(groups)} groups ({', '.join(groups[:3])})")
    what = "blocks" if result["cache_match_semantics"] != "content_defined_chunk" else "chunks"
    return f"{' and '.join(parts)} share {what} that must be unique, after up to {result['max_retries']} retries"


def first_colliding(root: Path, shards: list[Artifact], collisions: Artifact) -> tuple[str | None, str | None]:
    """Request id and group of the first prompt that still collides; masters have a group alone."""
    found = read_parquet(collisions.path(root, ".parquet"))
    if not len(found):
        groups = read_json(collisions.path(root, ".json"))["cross_group_masters"]["colliding_groups"]
        return None, next(iter(groups), None)
    name, part = found["request_id"][0], found["part"][0]
    shard = next(path for shard in shards if (path := shard.path(root)).stem == part)
    rows = read_parquet(shard, columns=["request_id", "prefix_group_id"])
    return name, rows.filter(pl.col("request_id") == name)["prefix_group_id"][0]


def retaken(root: Path, job: Job, shards: list[Artifact], report: dict[str, Any]) -> dict[str, Any]:
    """The report with hits, ratios and status as the certificate's simulator has them; at best PASS_WITH_WARNING."""
    config, proofs = job.config, report["certificate"]["passes"]
    names = ["prefix_group_id", "planned_dp_id", "expected_hit_len"]
    paths = [path for shard in shards if (path := shard.path(root)).stem != "warmup"]
    rows = pl.concat([read_parquet(path, columns=names) for path in paths])
    hits, tokens = int(rows["expected_hit_len"].sum()), report["input_tokens"]
    groups = _by(rows, "prefix_group_id", report["groups"], "group_id")
    _judge_groups(config, groups)
    target = target_ratio(config, [row["input_tokens"] for row in groups])
    deviation = None if target is None else Fraction(hits, tokens) - target
    own = [row["status"] for row in groups if row["status"] is not None]
    ordinary = PASS if deviation is None else status_of(config, deviation, report["reachable"])
    status = status_with_collisions(
        worst(own) if own else ordinary, report["reachable"], config.suffix.collision_detection.on_collision
    )
    signed = None if deviation is None else float(deviation)
    return {
        **report,
        "planned_hit_tokens": report["expected_hit_tokens"],
        "expected_hit_tokens": hits,
        "designed_hit_ratio": hits / tokens,
        "signed_deviation": signed,
        "absolute_deviation": None if signed is None else abs(signed),
        "signed_deviation_pp": None if signed is None else signed * 100,
        "absolute_deviation_pp": None if signed is None else abs(signed) * 100,
        "passes": [
            _with_hits(row, proof["simulated_hit_tokens"]) for row, proof in zip(report["passes"], proofs, strict=True)
        ],
        "groups": groups,
        "domains": _by(rows, "planned_dp_id", report["domains"], "domain"),
        "status": status,
        "validation_status": status,
        "reason": "; ".join(filter(None, [report["reason"], describe(report["collisions"])])),
    }


def _by(rows: pl.DataFrame, column: str, known: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    sums = rows.group_by(column).agg(pl.col("expected_hit_len").sum())
    hits = dict(zip(sums[column].to_list(), sums["expected_hit_len"].to_list(), strict=True))
    return [_with_hits(row, hits.get(row[key], 0)) for row in known]


def _with_hits(row: dict[str, Any], hits: int) -> dict[str, Any]:
    tokens = row["input_tokens"]
    return {**row, "expected_hit_tokens": hits, "designed_hit_ratio": hits / tokens if tokens else None}


def _judge_groups(config: PrefixCacheDatasetConfig, rows: list[dict[str, Any]]) -> None:
    """Deviation and status of the groups that have targets of their own, by their new hits."""
    for row, ratio in zip(rows, config.group_targets or (), strict=False):
        if row["input_tokens"]:
            deviation = Fraction(row["expected_hit_tokens"], row["input_tokens"]) - Fraction(ratio)
            row["signed_deviation"], row["absolute_deviation"] = float(deviation), float(abs(deviation))
            row["status"] = status_of(config, deviation, row["reachable"])
