"""The manifest: a dataset's description, nested as RFC Appendix B."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import orjson

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.schemas.versions import VERSIONS
from prefixcache.version import GENERATOR_VERSION, PACKAGE_VERSION

SCHEMA_VERSION = VERSIONS["manifest"]
DIGESTED_FROM = 2
"""Schema version from which a manifest holds its own digest."""


def order_digest(request_ids: Iterable[str]) -> str:
    """SHA-256 of the request ids in send order: another order is another dataset."""
    digest = hashlib.sha256()
    for request_id in request_ids:
        digest.update(request_id.encode() + b"\n")
    return digest.hexdigest()


def dataset_digest(files: dict[str, dict[str, Any]]) -> str:
    """SHA-256 over the files' names and hashes."""
    lines = "\n".join(f"{name} {entry['sha256']}" for name, entry in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def manifest_digest(manifest: dict[str, Any]) -> str:
    """SHA-256 of the manifest without its ``manifest_digest``, as JSON with sorted keys and no blanks."""
    content = {name: value for name, value in manifest.items() if name != "manifest_digest"}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def sealed(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest with its digest, so that whoever reads it sees whether any of its claims was edited."""
    return {**manifest, "manifest_digest": manifest_digest(manifest)}


def _assumed(config: PrefixCacheDatasetConfig) -> dict[str, Any]:
    """The cache that hits were planned for, where it is one that evicts."""
    planning = config.planning
    return {"assume": planning.assume, "num_blocks": planning.num_blocks} if planning.assume == "capacity" else {}


def build_manifest(
    config: PrefixCacheDatasetConfig,
    identity: dict[str, Any],
    report: dict[str, Any],
    corpus: dict[str, Any],
    files: dict[str, dict[str, Any]],
    order: str,
    units: list[int],
) -> dict[str, Any]:
    """The manifest as plain data.

    Args:
        identity: the configuration with files named by hash.
        report: the validation report.
        corpus: facts of the encoded source.
        files: per file name: sha256, bytes, rows.
        order: digest of the send order.
        units: hit units at which the design holds.
    """
    within, across = config.order
    framing = corpus["framing"]
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "dataset_id": config.dataset_id,
        "generator": "prefixcache",
        "generator_version": GENERATOR_VERSION,
        "package_version": PACKAGE_VERSION,
        "seed": config.seed,
        "tokenizer": {
            "name": corpus["tokenizer"],
            "sha256": corpus["tokenizer_sha256"],
            "embedded": corpus["embedded"],
            "head": framing["head"],
            "tail": framing["tail"],
        },
        "prompt": {
            "format": framing["format"],
            "form": "ids" if config.output.prompts == "ids" or corpus["construction"] == "token_ids" else "text",
            "system": config.prompt.system,
            "head_text": framing["head_text"],
            "tail_text": framing["tail_text"],
            "construction": corpus["construction"],
        },
        "block_size": config.block_size,
        "hit_unit": config.unit,
        **config.size_sources,
        "hit_drop": config.hit_drop,
        "valid_hit_units": units,
        "request_count": report["request_count"],
        "input_tokens": report["input_tokens"],
        "output_tokens": report["output_tokens"],
        "execution_mode": config.mode,
        "target": _target(config, report),
        "input_length": {**identity["input_length"], "summary": report["input_length"]},
        "output_length": {**identity["output_length"], "summary": report["output_length"]},
        "prefix": {
            "mode": config.prefix_mode,
            "nested_prefix": True,
            "group_count": len(config.prefix.group_ids()),
            "minimum_non_shared_length": config.non_shared,
            "groups": config.prefix.group_ids(),
        },
        "suffix": {
            "source": corpus["source"],
            "mode": config.suffix.mode,
            "divergence_block": True,
            "source_samples": corpus["samples"],
            "source_tokens": corpus["tokens"],
            "fields": config.suffix.fields,
        },
        "sources": corpus["sources"],
        "request_order": {
            "within_group": within,
            "across_group": across,
            "preserve_group_dependency": config.request_order.preserve_group_dependency,
        },
        "order_digest": order,
        "routing": {
            "cache_scope": config.routing.cache_scope,
            "dp_size": config.routing.dp_size,
            "cache_domains": config.routing.domains,
            "policy": config.policy,
        },
        "execution": {
            "mode": config.mode,
            "warmup_rounds": config.warmup_rounds,
            "concurrency": config.execution.concurrency,
            "gating": config.execution.gating,
        },
        "planning": {
            "objective": report["objective"],
            "trajectories": report["trajectories"],
            "block_residual_calibration": config.planning.block_residual_calibration,
            "adjusted_requests": report["adjusted_requests"],
            "budget_split": "largest remainder over input tokens, moved from groups at their limit",
            **_assumed(config),
        },
        "collision_detection": config.suffix.collision_detection.model_dump(mode="json"),
        "collision_result": report["collisions"],
        "theoretical_result": {
            "target_hit_ratio": report["target_hit_ratio"],
            "designed_hit_ratio": report["designed_hit_ratio"],
            "expected_hit_tokens": report["expected_hit_tokens"],
            "signed_deviation": report["signed_deviation"],
            "absolute_deviation": report["absolute_deviation"],
            "max_reachable_hit_ratio": report["max_reachable_hit_ratio"],
            "validation_status": report["validation_status"],
        },
        "passes": report["passes"],
        "groups": report["groups"],
        "domains": report["domains"],
        "certificate": {"holds": report["certificate"]["holds"], "hit_unit": config.unit},
        "files": files,
        "dataset_digest": dataset_digest(files),
        "config": identity,
    }
    return sealed(manifest)


def _target(config: PrefixCacheDatasetConfig, report: dict[str, Any]) -> dict[str, Any]:
    """What was asked for; with targets per group the ratio is theirs, weighted by input tokens. Null without one."""
    target: dict[str, Any] = {
        "scope": report["target_scope"],
        "hit_ratio": report["target_hit_ratio"],
        "semantics": config.semantics,
    }
    if (ratios := config.group_targets) is not None:
        names = config.prefix.group_ids()
        target["groups"] = [{"id": name, "hit_ratio": float(ratio)} for name, ratio in zip(names, ratios, strict=True)]
    return target
