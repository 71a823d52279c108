"""Master prefixes, suffixes and collisions of plan objects, made by the stages that make datasets (RFC 3.5.2)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from prefixcache.api.objects import CollisionValidationResult, PrefixGroupPlan, RequestPlan, SuffixGenerationResult
from prefixcache.api.planning import Groups, arrays_of, planned_prefixes
from prefixcache.artifact import Artifact
from prefixcache.cache.matching.semantics import Matching
from prefixcache.config import PrefixCacheDatasetConfig, parse_config
from prefixcache.config.collisions import CollisionConfig
from prefixcache.config.content import SourceConfig, SuffixConfig, TokenizerConfig
from prefixcache.content.branches import number_branches
from prefixcache.content.collisions.detection import CollisionDetector, CollisionRules, Placed
from prefixcache.content.collisions.registry import BlockRegistry
from prefixcache.content.masters import Masters
from prefixcache.dataset.shards import read_rows
from prefixcache.errors import InputError
from prefixcache.stages.build_masters import BUILD_MASTERS
from prefixcache.stages.build_shards import BUILD_SHARDS, WARMUP, shard_parts
from prefixcache.stages.job import Job
from prefixcache.stages.plan_lengths import PATH as LENGTHS
from prefixcache.stages.plan_prefixes import PLAN
from prefixcache.stages.plan_prefixes import WARMUP as PLAN_WARMUP
from prefixcache.stages.probe_tokenizer import PROBE_TOKENIZER, read_frame
from prefixcache.stages.stage import InProcess
from prefixcache.stages.tokenize_sources import TOKENIZE_SOURCES

TokenizerName = TokenizerConfig | str | None
NEEDED = ("index", "group", "domain", "lane", "input_len", "planned_prefix_len", "branch", "siblings")


def generate_master_prefixes(
    groups: Groups,
    data_source: SourceConfig,
    tokenizer: TokenizerName,
    *,
    config: PrefixCacheDatasetConfig | None = None,
    seed: int = 0,
    block_size: int = 16,
) -> dict[str, list[int]]:
    """Token ids of each group's master, cuttable at every planned prefix of the group; empty where none is shared.

    Changed: ``tokenizer`` is a name, folder or TokenizerConfig (None: embedded), as stages load it. Widened: ``config``
    gives the masters of that very dataset (source and tokenizer are then its own); else ``seed`` and ``block_size``.

    Raises:
        InputError: no requests or prefixes, a tokenizer or source that is not there.
        EnvironmentFailure: a source too small for a master.
    """
    config = config or _config_of(groups, {"prefix": data_source}, tokenizer, seed, block_size)
    with tempfile.TemporaryDirectory(prefix="prefixcache-") as folder:
        root, job = Path(folder), Job.of(config)
        masters = _masters(root, job, groups)[2]
        made = Masters.open(masters.path(root, "master_ids.npy").parent)
        longest = [
            max(request.planned_prefix_len or 0 for request in group.requests) if group.requests else 0
            for group in groups.values()
        ]
        return {name: made[number].ids[: longest[number]].astype(int).tolist() for number, name in enumerate(groups)}


def generate_request_suffix(
    request: RequestPlan,
    config: SuffixConfig,
    tokenizer: TokenizerName,
    *,
    seed: int = 0,
    block_size: int = 16,
) -> SuffixGenerationResult:
    """All tokens of a request behind its planned prefix, for the request alone.

    Unique among the requests of a dataset only where they are made together (RequestContentGenerator). Changed and
    widened: ``tokenizer``, ``seed``, ``block_size`` as in :func:`generate_master_prefixes`.

    Raises:
        InputError, EnvironmentFailure: as there.
    """
    name = request.prefix_group_id or "default"
    groups = {name: PrefixGroupPlan(name, 1, requests=[request])}
    dataset = _config_of(groups, {"suffix": config}, tokenizer, seed, block_size)
    with tempfile.TemporaryDirectory(prefix="prefixcache-") as folder:
        root, job = Path(folder), Job.of(dataset)
        plan, corpus, masters = _masters(root, job, groups)
        part = next(part for part in shard_parts(root, plan) if part != WARMUP)
        shard = InProcess().call(BUILD_SHARDS, root, job, part, plan, corpus, masters)
        row = next(read_rows(shard.path(root), ("prompt_token_ids", "divergence_len", "suffix_len", "sample_ids")))
    return SuffixGenerationResult(
        token_ids=row["prompt_token_ids"][request.planned_prefix_len :].astype(int).tolist(),
        divergence_len=row["divergence_len"],
        suffix_len=row["suffix_len"],
        sample_ids=list(row["sample_ids"]),
    )


def _config_of(
    groups: Groups, sources: dict[str, SourceConfig], tokenizer: TokenizerName, seed: int, block_size: int
) -> PrefixCacheDatasetConfig:
    """A configuration whose requests are these: lengths and groups listed one by one, prefixes planned elsewhere."""
    requests = arrays_of(groups).requests
    plain = {role: source.model_dump(mode="json", exclude_none=True) for role, source in sources.items()}
    raw: dict[str, Any] = {
        "dataset_id": "plan",
        "seed": seed,
        "block_size": block_size,
        "input_length": {"mode": "explicit", "values": [request.input_len for request in requests]},
        "target": {"hit_ratio": 0},
        "prefix": {
            "groups": [{"id": name} for name in groups],
            "request_groups": {"values": [request.prefix_group_id or next(iter(groups)) for request in requests]},
        },
    }
    if "prefix" in plain:
        fields = SourceConfig.model_fields
        raw["prefix"]["source"] = {key: value for key, value in plain["prefix"].items() if key in fields}
    if "suffix" in plain:
        raw["suffix"] = plain["suffix"]
    if tokenizer is not None:
        raw["tokenizer"] = tokenizer if isinstance(tokenizer, str) else tokenizer.model_dump(exclude_none=True)
    return parse_config(raw)


def _masters(root: Path, job: Job, groups: Groups) -> tuple[Artifact, Artifact, Artifact]:
    """Plan, corpus and masters of the prefixes in the plan objects, as artifacts of the stages."""
    runner, arrays = InProcess(), arrays_of(groups)
    prefixes = planned_prefixes(arrays.requests)
    frame = read_frame(runner.call(PROBE_TOKENIZER, root, job).path(root))
    order = arrays.order
    outputs = np.array([request.output_len for request in arrays.requests], dtype=np.int64)
    branches = number_branches(arrays.groups[order].astype(np.int64), prefixes[order], frame.head)
    none = np.zeros(len(order), dtype=np.int64)
    table = pl.DataFrame(
        {
            "index": np.array([request.index for request in arrays.requests], dtype=np.int64)[order],
            "order_index": np.arange(len(order)),
            "group": arrays.groups[order].astype(np.int64),
            "domain": arrays.domains[order].astype(np.int64),
            "lane": arrays.lanes.lane_of[order],
            "input_len": arrays.lengths[order],
            "output_len": outputs[order],
            "planned_prefix_len": prefixes[order],
            "cached_watermark_before": none,
            "expected_hit_len": none,
            "cached_watermark_after": none,
            "branch": branches.number,
            "siblings": branches.siblings,
        }
    )
    (root / LENGTHS).parent.mkdir(parents=True, exist_ok=True)
    table.select("input_len").write_parquet(root / LENGTHS)
    table.write_parquet(root / PLAN)
    table.clear().select(NEEDED).write_parquet(root / PLAN_WARMUP)
    plan = Artifact.of("plan", root, [PLAN, PLAN_WARMUP], len(table))
    corpus = runner.call(TOKENIZE_SOURCES, root, job, Artifact.of("lengths", root, [LENGTHS], len(table)))
    return plan, corpus, runner.call(BUILD_MASTERS, root, job, plan, corpus)


def validate_block_collisions(
    request_tokens: Sequence[int],
    group_registry: BlockRegistry,
    config: CollisionConfig,
    *,
    unit: int = 16,
    planned_prefix_len: int = 0,
    domain: int = 0,
    name: str | None = None,
) -> CollisionValidationResult:
    """Are the request's own blocks in the registry already? They are registered too.

    With chained_prefix only the first block behind the planned prefix counts; else all behind it. Widened: ``unit``,
    tokens per block; ``planned_prefix_len``; ``domain``, the cache domain; ``name``: blocks registered under
    it before are replaced, so that a request can be tested again after a repair.

    Returns:
        ``colliding``: places of the pieces, counted from the planned prefix.
    """
    matching = Matching.of(config.model_dump(), unit)
    keys, ends = matching.stored(np.array(request_tokens, dtype=np.int32), domain)
    keys = keys[ends > planned_prefix_len]
    keys = keys[:1] if matching.chained else keys
    owner = len(group_registry)  # larger than every owner registered so, and the registry keeps the smallest
    group_registry.add(name or f"call {owner}", keys, np.full(len(keys), owner, dtype=np.int64))
    repeated = [part.keys for part in group_registry.repeated()]
    twice = np.concatenate([np.zeros(0, dtype=np.uint64), *repeated])
    colliding = np.flatnonzero(np.isin(keys, twice)).tolist()
    return CollisionValidationResult(not colliding, len(keys), colliding)


def collisions_of(
    requests: Iterable[RequestPlan], config: CollisionConfig, *, unit: int, head: int = 0, block: int = 16
) -> CollisionValidationResult:
    """Collisions among whole prompts, as the stage check_collisions finds them. ``requests``: in send order."""
    listed = list(requests)
    if bare := [request for request in listed if request.prompt_token_ids is None]:
        raise InputError("has no content", request_id=bare[0].request_id, remedy="generate the content first.")
    rules = CollisionRules(Matching.of(config.model_dump(), unit), block, head, config.window_blocks)
    with CollisionDetector(rules) as detector:
        detector.add(
            "requests",
            (
                Placed(
                    row,
                    str(request.prefix_group_id),
                    request.planned_dp_id or 0,
                    request.planned_prefix_len or 0,
                    np.array(request.prompt_token_ids, dtype=np.int32),
                )
                for row, request in enumerate(listed)
            ),
        )
        found = detector.result()
    colliding = [listed[row].request_id for row in found.requests]
    return CollisionValidationResult(found.clean, found.report["checked_blocks"], colliding, found.report)
