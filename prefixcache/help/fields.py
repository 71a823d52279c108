"""Which field stands in which file."""

from __future__ import annotations

_PLAN = (
    "dataset_id request_count input_tokens output_tokens target_hit_ratio target_hit_tokens expected_hit_tokens "
    "designed_hit_ratio signed_deviation absolute_deviation max_reachable_hit_ratio max_reachable_hit_tokens "
    "min_reachable_hit_ratio min_reachable_hit_tokens reachable status reason suggestions semantics execution_mode "
    "target_scope objective block_size hit_unit hit_drop minimum_non_shared_length head_tokens tail_tokens "
    "shared_head_tokens cache_domains lanes cannot_share cannot_share_requests trajectories "
    "adjusted_requests passes groups domains input_length output_length"
)
_COUNTED = (
    "expected_hit_tokens designed_hit_ratio measured_query_tokens measured_hit_tokens actual_hit_rate "
    "external_hit_rate total_hit_rate"
)
_FILES = {
    "plan --json": f"{_PLAN} assumptions warnings",
    "validation_report.json": (
        f"schema_version {_PLAN} validation_status pass_tolerance warning_tolerance on_failure signed_deviation_pp "
        "absolute_deviation_pp certificate collisions audit construction warnings"
    ),
    "validation_report.json groups[]": (
        "initial_target_hit_tokens target_hit_tokens master_prefix_len cold_start_loss max_reachable_hit_ratio"
    ),
    "manifest.json": (
        "schema_version dataset_id generator generator_version package_version seed tokenizer block_size hit_unit "
        "request_count input_tokens output_tokens execution_mode target input_length output_length prefix suffix "
        "request_order order_digest routing execution planning collision_detection theoretical_result passes groups "
        "domains certificate files dataset_digest manifest_digest config prompt hit_drop valid_hit_units sources "
        "collision_result block_size_source hit_unit_source"
    ),
    "data.jsonl": "request_id prompt prompt_token_ids max_tokens",
    "request_metadata.jsonl": (
        "request_id prefix_group_id order_index input_len output_len planned_prefix_len cached_watermark_before "
        "expected_hit_len expected_hit_ratio cached_watermark_after divergence_len suffix_len planned_dp_id "
        "planned_route collision_status collision_retries collision_repair sample_ids expected_hit_len_cold "
        "expected_hit_len_hot"
    ),
    "runtime/request_results.jsonl": (
        "pass request_id prefix_group_id order_index phase endpoint planned_dp_id planned_route actual_route ready_s "
        "sent_s first_byte_s first_token_s last_token_s gate_wait_s lag_s gate_broken input_len prompt_tokens "
        "completion_tokens cached_tokens expected_hit_len http_status status error ttft_s tpot_s e2e_s scheduled_s "
        "first_text_s chunks itl_max_s attempts retried failure connection output_by"
    ),
    "export": "hit_difference",
    "runtime/performance_metrics.json passes[]": (
        "requests ok failed success_rate timeout_rate duration_s ttft_s tpot_s e2e_s request_throughput "
        "input_token_throughput output_token_throughput qps_sent gate_wait_s lag_s gate_broken chain ttfb_s "
        "time_to_text_s itl_max_s slot_wait_s failures_by_kind retries without_retried load"
    ),
    "runtime/prefix_cache_metrics.json passes[]": (
        f"{_COUNTED} queries hits prompt_token_check kv_usage residue route_confirmed"
    ),
    "runtime/run.json": (
        "schema_version prefixcache_version status error started_at finished_at dataset_id execution_mode options "
        "servers requests failed_requests passes plan warnings preflight"
    ),
    "runtime/run.json passes[]": "sending order",
    "report/prefix_cache_report.json": (
        "schema_version target_hit_ratio designed_hit_ratio actual_hit_rate expected_hit_tokens measured_hit_tokens "
        "measured_query_tokens construction_deviation runtime_deviation validation_status run_status verdict "
        "target_pass slo passes warnings dataset server groups domains endpoints performance residue first_request_hit"
    ),
    "report/prefix_cache_report.json passes[]": (
        f"{_COUNTED} target_hit_ratio construction_deviation runtime_deviation client_cached_tokens client_hit_ratio "
        "differing_requests prompt_token_check kv_usage preemptions evicted chain goodput itl_s"
    ),
}
FILES: dict[str, tuple[str, ...]] = {name: tuple(fields.split()) for name, fields in _FILES.items()}
"""File (or command) → fields; ``passes[]`` and ``groups[]`` are the entries of a list in the file."""


def files_with(field: str) -> tuple[str, ...]:
    """The files in which a field stands."""
    return tuple(name for name, fields in FILES.items() if field in fields)
