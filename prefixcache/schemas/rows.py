"""Schemas of one row of data, metadata, warmup and results."""

from __future__ import annotations

from prefixcache.load.records.rows import STATUSES
from prefixcache.schemas.parts import Schema, document, fields, kind_of, many, nullable, obj, one_of


def data_row() -> Schema:
    """A row of data.jsonl: what is sent."""
    message = obj({"role": one_of("system", "user"), "content": "str"})
    return document(
        "data",
        "Row of data.jsonl",
        "One request as it is sent; the lines stand in send order.",
        obj(
            {
                "request_id": "str",
                "prompt": "str?",
                "prompt_token_ids": nullable(kind_of("nat[]")),
                "max_tokens": "nat",
            },
            {"messages": many(message)},
        ),
    )


def warmup_row() -> Schema:
    """A row of warmup.jsonl."""
    return document(
        "warmup",
        "Row of warmup.jsonl",
        "One prompt that fills the cache before the measured pass.",
        obj(
            {
                **fields("str", "request_id prefix_group_id"),
                "planned_dp_id": "nat",
                "planned_route": "nat?",
                **fields("nat", "input_len planned_prefix_len"),
                "prompt": "str?",
                "prompt_token_ids": nullable(kind_of("nat[]")),
                "max_tokens": "nat",
            },
            {"messages": many(obj({"role": one_of("system", "user"), "content": "str"}))},
        ),
    )


def metadata_row() -> Schema:
    """A row of request_metadata.jsonl (RFC 3.3.16)."""
    return document(
        "request_metadata",
        "Row of request_metadata.jsonl",
        "The plan of one request; the lines stand in send order.",
        obj(
            {
                **fields("str", "request_id prefix_group_id"),
                **fields("nat", "order_index input_len output_len planned_prefix_len"),
                **fields("nat", "cached_watermark_before expected_hit_len"),
                "expected_hit_ratio": "ratio",
                **fields("nat", "cached_watermark_after divergence_len suffix_len planned_dp_id"),
                "planned_route": "nat?",
                "collision_status": "str",
                "collision_retries": "nat",
                "collision_repair": "str?",
                "sample_ids": "nat[]",
            },
            fields("nat", "expected_hit_len_cold expected_hit_len_hot"),
        ),
    )


def result_row() -> Schema:
    """A row of runtime/request_results.jsonl."""
    return document(
        "request_results",
        "Row of runtime/request_results.jsonl",
        "One request as it went. Times count from the start of the pass; null is not known.",
        obj(
            {
                "pass": "str",
                **fields("str", "request_id prefix_group_id"),
                "order_index": "int",
                "phase": one_of("warmup", "measured"),
                "endpoint": "str",
                "planned_dp_id": "nat",
                **fields("nat?", "planned_route actual_route"),
                "ready_s": "num",
                **fields("num?", "sent_s first_byte_s first_token_s last_token_s"),
                "gate_wait_s": "num",
                "lag_s": "num?",
                "gate_broken": "bool",
                "input_len": "nat",
                **fields("nat?", "prompt_tokens completion_tokens cached_tokens expected_hit_len http_status"),
                "status": one_of(*STATUSES),
                "error": "str?",
                **fields("num?", "scheduled_s first_text_s itl_max_s"),
                **fields("nat", "chunks attempts"),
                "retried": "str[]",
                **fields("str?", "failure connection output_by"),
                **fields("num?", "ttft_s tpot_s e2e_s"),
            }
        ),
    )
