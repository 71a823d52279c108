"""Parts that stand in manifest and validation report alike."""

from __future__ import annotations

from prefixcache.schemas.parts import Schema, fields, many, nullable, obj, one_of, told

STATUS = one_of("PASS", "PASS_WITH_WARNING", "FAIL")
OPEN_LIST: Schema = {"type": "array", "items": {}}
"""A list whose entries differ by case and are described in docs/artifacts.md."""


def length_summary() -> Schema:
    """Lengths as they came out, tokens."""
    pair = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}
    return obj(
        {
            **fields("nat", "count min max"),
            **fields("num", "mean p50 p90 p95 p99"),
            "total": "nat",
            "bins": many(obj({"range": pair, "count": "nat"})),
        }
    )


def passes() -> Schema:
    return many(
        obj({"name": "str", "input_tokens": "nat", "expected_hit_tokens": "nat", "designed_hit_ratio": "ratio"})
    )


def groups() -> Schema:
    return many(
        obj(
            {
                "group_id": "str",
                **fields("nat", "request_count input_tokens"),
                "target_hit_ratio": "ratio?",
                **fields("nat?", "initial_target_hit_tokens target_hit_tokens"),
                "expected_hit_tokens": "nat",
                "designed_hit_ratio": "ratio?",
                **fields("num?", "signed_deviation absolute_deviation"),
                "reachable": "bool?",
                "status": nullable(STATUS),
                **fields("nat", "master_prefix_len cold_start_loss max_reachable_hit_tokens"),
                "max_reachable_hit_ratio": "ratio?",
                "min_reachable_hit_tokens": "nat",
            }
        )
    )


def domains() -> Schema:
    return many(
        obj(
            {
                **fields("nat", "domain request_count input_tokens expected_hit_tokens"),
                "designed_hit_ratio": "ratio?",
            }
        )
    )


def collisions() -> Schema:
    """Open: the diagnostics that follow differ with the matching semantics."""
    closed = obj({"cache_match_semantics": "str", "status": "str"})
    return told("What the collision check found (docs/artifacts.md). Open.", {**closed, "additionalProperties": True})
