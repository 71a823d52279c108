"""Manifest and validation report of a handmade dataset: whole by their schemas, and in agreement with each other."""

from __future__ import annotations

from typing import Any

PROVEN = "unbounded block trie over real token ids, in send order"
COLLISIONS = {"cache_match_semantics": "chained_prefix", "status": "unique"}
SPLIT = "largest remainder over input tokens, moved from groups at their limit"


def papers_of(facts: dict[str, Any], own: dict[str, Any], form: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """(report, manifest).

    Args:
        facts: what both state; ``group_ids``, ``domain_count`` and ``order_digest`` beside it.
        own: ``tokenizer``, ``routing`` and ``execution`` of the manifest.
        form: of the prompts.
    """
    groups, domains = facts["group_ids"], facts["domain_count"]
    first = facts["passes"][0]
    hits, ratio, block = first["expected_hit_tokens"], first["designed_hit_ratio"], facts["block_size"]
    shared = {name: facts[name] for name in ("dataset_id", "execution_mode", "passes")}
    shared |= {name: facts[name] for name in ("request_count", "input_tokens", "output_tokens")}
    shared |= {"block_size": block, "hit_unit": block, "hit_drop": 0}
    shared |= {"groups": [_group(name) for name in groups], "domains": [_domain(n) for n in range(domains)]}
    lengths = {name: _lengths() for name in ("input_length", "output_length")}
    verdict = {
        **dict.fromkeys(("target_hit_ratio", "signed_deviation", "absolute_deviation")),
        "expected_hit_tokens": hits,
        "designed_hit_ratio": ratio,
        "max_reachable_hit_ratio": 1.0,
        "validation_status": "PASS",
    }
    certificate = {"holds": True, "hit_unit": block}
    report = {
        "schema_version": 1,
        **shared,
        **verdict,
        **lengths,
        **dict.fromkeys(("target_scope", "target_hit_tokens", "reachable", "reason", "semantics", "objective")),
        **dict.fromkeys(("signed_deviation_pp", "absolute_deviation_pp")),
        **dict.fromkeys(("max_reachable_hit_tokens", "min_reachable_hit_tokens", "min_reachable_hit_ratio"), 0),
        **dict.fromkeys(("head_tokens", "tail_tokens", "shared_head_tokens", "cannot_share", "adjusted_requests"), 0),
        **{name: [] for name in ("suggestions", "cannot_share_requests", "trajectories")},
        "status": "PASS",
        "minimum_non_shared_length": block,
        "cache_domains": own["routing"]["cache_domains"],
        "lanes": len(groups) * domains,
        "pass_tolerance": 0.01,
        "warning_tolerance": 0.02,
        "on_failure": "error",
        "construction": "seams",
        "collisions": COLLISIONS,
        "certificate": {"simulator": PROVEN, "requests": facts["request_count"], "passes": [], **certificate},
    }
    manifest = {
        "schema_version": 1,
        "generator": "prefixcache",
        "generator_version": "1.0",
        "package_version": "0.1.0",
        "seed": 0,
        **shared,
        **own,
        **{name: {"mode": "fixed", "summary": summary} for name, summary in lengths.items()},
        "valid_hit_units": [block],
        "prompt": {
            "format": "completion",
            "form": form,
            "system": None,
            "head_text": "",
            "tail_text": "",
            "construction": "seams",
        },
        "target": dict.fromkeys(("scope", "hit_ratio", "semantics")),
        "prefix": {
            "mode": "multi_prefix" if len(groups) > 1 else "single_prefix",
            "nested_prefix": True,
            "group_count": len(groups),
            "minimum_non_shared_length": block,
            "groups": groups,
        },
        "suffix": {
            "source": "numbers",
            "mode": "concat",
            "divergence_block": True,
            "source_samples": 1,
            "source_tokens": 1,
            "fields": None,
        },
        "sources": [{"source": "numbers", "samples": 1, "tokens": 1}],
        "request_order": {
            "within_group": "as_given",
            "across_group": "interleave",
            "preserve_group_dependency": True,
        },
        "order_digest": facts["order_digest"],
        "planning": {
            "objective": None,
            "trajectories": [],
            "block_residual_calibration": True,
            "adjusted_requests": 0,
            "budget_split": SPLIT,
        },
        "collision_detection": {},
        "collision_result": COLLISIONS,
        "theoretical_result": verdict,
        "certificate": certificate,
        "config": {
            "dataset_id": facts["dataset_id"],
            "seed": 0,
            "block_size": block,
            "request_count": facts["request_count"],
        },
    }
    return report, manifest


def _lengths() -> dict[str, Any]:
    counts = dict.fromkeys(("count", "min", "max", "mean", "p50", "p90", "p95", "p99", "total"), 0)
    return {**counts, "bins": []}


def _group(name: str) -> dict[str, Any]:
    tokens = ("request_count", "input_tokens", "expected_hit_tokens", "master_prefix_len", "cold_start_loss")
    limits = ("initial_target_hit_tokens", "target_hit_tokens", "max_reachable_hit_tokens", "min_reachable_hit_tokens")
    unknown = ("target_hit_ratio", "designed_hit_ratio", "signed_deviation", "absolute_deviation", "reachable")
    return {
        "group_id": name,
        **dict.fromkeys((*tokens, *limits), 0),
        **dict.fromkeys((*unknown, "status", "max_reachable_hit_ratio")),
    }


def _domain(number: int) -> dict[str, Any]:
    return {
        "domain": number,
        **dict.fromkeys(("request_count", "input_tokens", "expected_hit_tokens"), 0),
        "designed_hit_ratio": None,
    }
