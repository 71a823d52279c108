"""Schemas of manifest.json (RFC 3.3.16, Appendix B) and validation_report.json (RFC 3.3.17)."""

from __future__ import annotations

from prefixcache.schemas import shared
from prefixcache.schemas.parts import Schema, document, fields, many, mapping, nullable, obj, one_of, told

_MOVED: dict[str, str | Schema] = {
    **{
        name: told("Who said it: the server, a measurement, a rule, a default, the configuration.", "str")
        for name in ("block_size_source", "hit_unit_source")
    },
    "reordered_from": told("Digests of the dataset whose order was changed by `reorder`. Open.", "open"),
}


def manifest() -> Schema:
    """manifest.json. Open are ``config``, the configured part of the lengths, sources[] and collision_detection."""
    return document(
        "manifest", "manifest.json", "A dataset's description (RFC Appendix B).", obj({**_head(), **_rest()}, _MOVED)
    )


def _head() -> dict[str, str | Schema]:
    length = obj({"mode": "str", "summary": shared.length_summary()})
    open_length = told("As configured, and `summary`: as it came out. Open.", {**length, "additionalProperties": True})
    target = obj(
        {
            "scope": nullable(one_of("global", "per_group")),
            "hit_ratio": "ratio?",
            "semantics": nullable(one_of("order_aware_global", "static_prefix_ratio")),
        },
        {"groups": many(obj({"id": "str", "hit_ratio": "ratio"}))},
    )
    return {
        "schema_version": "nat",
        **fields("str", "dataset_id generator generator_version package_version"),
        "seed": "nat",
        "tokenizer": obj({"name": "str", "sha256": "sha256", "embedded": "bool", "head": "nat[]", "tail": "nat[]"}),
        "prompt": told(
            "Form of the prompts.",
            obj(
                {
                    "format": one_of("completion", "chat"),
                    "form": one_of("text", "ids"),
                    "system": "str?",
                    **fields("str", "head_text tail_text construction"),
                }
            ),
        ),
        **fields("nat", "block_size hit_unit hit_drop"),
        "valid_hit_units": "nat[]",
        **fields("nat", "request_count input_tokens output_tokens"),
        "execution_mode": "str",
        "target": target,
        "input_length": open_length,
        "output_length": open_length,
    }


def _rest() -> dict[str, str | Schema]:
    return {
        "prefix": obj(
            {
                "mode": "str",
                "nested_prefix": "bool",
                **fields("nat", "group_count minimum_non_shared_length"),
                "groups": "str[]",
            }
        ),
        "suffix": obj(
            {
                **fields("str", "source mode"),
                "divergence_block": "bool",
                "source_samples": "nat?",
                "source_tokens": "nat?",
                "fields": "str[]?",
            }
        ),
        "sources": "open[]",
        "request_order": obj(
            {**fields("str", "within_group across_group"), "preserve_group_dependency": "bool"}, {"seed": "nat?"}
        ),
        "order_digest": "sha256",
        "routing": obj({"cache_scope": "str", **fields("nat", "dp_size cache_domains"), "policy": "str"}),
        "execution": obj({"mode": "str", **fields("nat", "warmup_rounds concurrency"), "gating": "str"}),
        "planning": obj(
            {
                "objective": "str?",
                "trajectories": "open[]",
                "block_residual_calibration": "bool",
                "adjusted_requests": "nat",
                "budget_split": "str",
            },
            {"assume": "str", "num_blocks": "nat"},
        ),
        "collision_detection": "open",
        "collision_result": shared.collisions(),
        "theoretical_result": obj(
            {
                "target_hit_ratio": "ratio?",
                "designed_hit_ratio": "ratio",
                "expected_hit_tokens": "nat",
                **fields("num?", "signed_deviation absolute_deviation"),
                "max_reachable_hit_ratio": "ratio",
                "validation_status": shared.STATUS,
            }
        ),
        "passes": shared.passes(),
        "groups": shared.groups(),
        "domains": shared.domains(),
        "certificate": obj({"holds": "bool", "hit_unit": "nat"}),
        "files": mapping(obj({"sha256": "sha256", "bytes": "nat", "rows": "nat"})),
        "dataset_digest": "sha256",
        "manifest_digest": "sha256",
        "config": "open",
    }


def validation_report() -> Schema:
    """validation_report.json. Of a plan that was refused there is only what the plan decides: the rest is optional.

    Open are suggestions[], trajectories[], cannot_share_requests[] and collisions.
    """
    passes = many(
        obj(
            {
                "name": "str",
                **fields("nat", "planned_hit_tokens simulated_hit_tokens mismatched_requests"),
                "first_mismatches": shared.OPEN_LIST,
            }
        )
    )
    certificate = obj({"simulator": "str", **fields("nat", "hit_unit requests"), "holds": "bool", "passes": passes})
    joints = obj({**fields("nat", "seen encoded differing_prompts"), "first_differing": "str[]"})
    audit = obj(
        {"method": "str", **fields("nat", "prompts tokens differing_prompts"), "first_differing": "str[]"},
        {"joints": joints},
    )
    built: dict[str, str | Schema] = {
        "certificate": certificate,
        "collisions": shared.collisions(),
        "audit": audit,
        "construction": "str",
        "warnings": "str[]",
        "planned_hit_tokens": told("Hits of the plan, where expected hits are the simulator's. Unit: tokens.", "nat"),
        "capacity": obj({"num_blocks": "nat", "plans_tried": "nat?", "unbounded_hit_tokens": "nat?"}),
        "reordered": told("New order and the digests it was made from, after `reorder`. Open.", "open"),
    }
    text = "Verdict on a dataset and its proof; a refused plan has the plan's figures only."
    return document("validation_report", "validation_report.json", text, obj(_planned(), built))


def _planned() -> dict[str, str | Schema]:
    return {
        "schema_version": "nat",
        "dataset_id": "str",
        **fields("nat", "request_count input_tokens output_tokens"),
        "target_scope": nullable(one_of("global", "per_group")),
        "target_hit_ratio": "ratio?",
        "target_hit_tokens": "nat?",
        "expected_hit_tokens": "nat",
        "designed_hit_ratio": "ratio",
        **fields("num?", "signed_deviation absolute_deviation"),
        "max_reachable_hit_ratio": "ratio",
        "max_reachable_hit_tokens": "nat",
        "min_reachable_hit_ratio": "ratio",
        "min_reachable_hit_tokens": "nat",
        "reachable": "bool?",
        "status": shared.STATUS,
        "reason": "str?",
        "suggestions": "open[]",
        "semantics": nullable(one_of("order_aware_global", "static_prefix_ratio")),
        "execution_mode": "str",
        "objective": "str?",
        **fields("nat", "block_size hit_unit hit_drop minimum_non_shared_length head_tokens tail_tokens"),
        **fields("nat", "shared_head_tokens cache_domains lanes cannot_share"),
        "cannot_share_requests": shared.OPEN_LIST,
        "adjusted_requests": "nat",
        "trajectories": "open[]",
        "passes": shared.passes(),
        "groups": shared.groups(),
        "domains": shared.domains(),
        **fields_of_lengths(),
        "validation_status": shared.STATUS,
        **fields("num", "pass_tolerance warning_tolerance"),
        "on_failure": "str",
        **fields("num?", "signed_deviation_pp absolute_deviation_pp"),
    }


def fields_of_lengths() -> dict[str, str | Schema]:
    return {"input_length": shared.length_summary(), "output_length": shared.length_summary()}
