"""Schema of report/prefix_cache_report.json."""

from __future__ import annotations

from prefixcache.schemas.parts import Schema, document, fields, many, mapping, nullable, obj, one_of, told
from prefixcache.schemas.run_files import RESIDUE, RUN_STATUS
from prefixcache.schemas.shared import STATUS

STORED = ("both", "text", "ids", "none")
_COUNTED = {
    **fields("nat", "requests ok failed not_sent input_tokens"),
    "expected_hit_tokens": "nat?",
    "client_cached_tokens": "nat?",
    "differing_requests": "nat?",
    **fields("num?", "ttft_mean_s ttft_p50_s designed_hit_ratio client_hit_ratio"),
}
_MEASURED = {**fields("int?", "measured_hit_tokens measured_query_tokens"), "actual_hit_rate": "num?"}


def prefix_cache_report() -> Schema:
    """The report. Open are warnings[], the conduct of a pass, server, performance and first_request_hit."""
    body = obj(
        {
            "schema_version": "nat",
            **_top(),
            "validation_status": nullable(STATUS),
            "run_status": RUN_STATUS,
            "verdict": obj(fields("str", "code pass text_en text_zh")),
            "target_pass": "str",
            "passes": many(_pass()),
            "warnings": "open[]",
            "dataset": _dataset(),
            "server": "open",
            "groups": many(obj({"pass": "str", "group_id": "str", **_COUNTED}, {"master_prefix_len": "nat?"})),
            "domains": many(_domain()),
            "endpoints": many(_endpoint()),
            "performance": mapping("open"),
            "residue": RESIDUE,
            "first_request_hit": "open?",
        },
        {"slo": nullable(obj({}, fields("num", "ttft_s tpot_s e2e_s")))},
    )
    return document(
        "prefix_cache_report", "report/prefix_cache_report.json", "Target, designed and measured hits.", body
    )


def _top() -> dict[str, str | Schema]:
    return {
        **fields("num?", "target_hit_ratio designed_hit_ratio actual_hit_rate"),
        "expected_hit_tokens": "nat?",
        **fields("int?", "measured_hit_tokens measured_query_tokens"),
        **fields("num?", "construction_deviation runtime_deviation"),
    }


def _pass() -> Schema:
    verdict = {**obj({"code": "str"}), "additionalProperties": True}
    closed = obj(
        {
            "name": "str",
            "is_target_pass": "bool",
            **_top(),
            "input_tokens": "nat",
            **fields("num?", "external_hit_rate total_hit_rate client_hit_ratio"),
            "client_cached_tokens": "nat?",
            "residue": RESIDUE,
            "verdict": verdict,
        },
        {"goodput": nullable(_goodput())},
    )
    return told(
        "A pass; further properties tell of its conduct (docs/artifacts.md). Open.",
        {**closed, "additionalProperties": True},
    )


def _goodput() -> Schema:
    """How the requests of a pass held the thresholds (docs/measuring.md)."""
    share = told("Share of all requests of the pass, failed ones included.", "ratio?")
    threshold = obj(
        {
            "limit_s": told("The threshold; what equals it holds. Unit: seconds.", "num"),
            "met": told("Requests that hold it. Unit: requests.", "nat"),
            "attainment": share,
            "unknown": told("Answered requests without the figure; they count as not met. Unit: requests.", "nat"),
        }
    )
    return obj(
        {
            "slo": told("The thresholds as they are written on the command line.", "str"),
            "requests": told("Requests with a record, failed ones included. Unit: requests.", "nat"),
            "good_requests": told("Answered requests that hold all thresholds. Unit: requests.", "nat"),
            "attainment": share,
            "goodput": "num?",
            "only_by_retry": told("Requests that hold all thresholds from a later attempt: not good.", "nat"),
            "thresholds": told("Each threshold alone.", mapping(threshold)),
        }
    )


def _domain() -> Schema:
    return obj(
        {
            "pass": "str",
            "domain": "nat",
            **_COUNTED,
            **_MEASURED,
            "runtime_deviation": "num?",
            "route_confirmed": "bool?",
        }
    )


def _endpoint() -> Schema:
    own = {"prompt_tokens": "nat?", "external_hit_rate": "num?", "preemptions": "num?", "notes": "str[]"}
    return obj(
        {
            "pass": "str",
            **fields("str?", "endpoint engine status"),
            **{name: nullable_kind(kind) for name, kind in _COUNTED.items()},
            **_MEASURED,
            "runtime_deviation": "num?",
            **own,
        }
    )


def nullable_kind(kind: str | Schema) -> str | Schema:
    """A rank's own row knows less than its endpoint's."""
    return kind if not isinstance(kind, str) or kind.endswith("?") else f"{kind}?"


def _dataset() -> Schema:
    return obj(
        {
            **fields("str?", "id digest order_digest generator_version package_version tokenizer tokenizer_sha256"),
            "embedded_tokenizer": "bool?",
            **fields("nat?", "block_size hit_unit seed"),
            **fields("nat", "request_count input_tokens group_count"),
            **fields("str?", "execution_mode semantics"),
            **fields("open", "request_order routing"),
            "max_reachable_hit_ratio": "ratio?",
            "certificate_holds": "bool?",
            "validation_reason": "str?",
        },
        {"prompts_stored": one_of(*STORED)},
    )
