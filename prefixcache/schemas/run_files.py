"""Schemas of run.json, performance_metrics.json and prefix_cache_metrics.json."""

from __future__ import annotations

from prefixcache.schemas.parts import Schema, document, fields, kind_of, many, mapping, nullable, obj, one_of, told

RUN_STATUS = one_of("complete", "partial", "failed")
CHAIN = nullable(obj({"longest": "nat", "permitted_mean_concurrency": "num?"}))
RESIDUE = obj({"detected": "bool?", "evidence": {"type": "array", "items": {}}})


def run() -> Schema:
    """run.json. Open are options, isolation, servers[], plan, kv_events, error and the passes' isolation."""
    entry = obj(
        {
            "name": "str",
            **fields("num?", "designed_hit_ratio actual_hit_rate"),
            "expected_hit_tokens": "nat",
            **fields("int?", "measured_hit_tokens measured_query_tokens"),
            **fields("nat", "requests failed_requests warmup_requests warmup_failed"),
            "duration_s": "num?",
            "chain": CHAIN,
            "residue": RESIDUE,
            "isolation": "open?",
        }
    )
    body = obj(
        {
            "schema_version": "nat",
            "prefixcache_version": "str",
            "status": RUN_STATUS,
            "error": "open?",
            "started_at": "str",
            "finished_at": "str?",
            **fields("str", "dataset_id execution_mode"),
            "options": "open",
            "isolation": "open?",
            "servers": "open[]",
            **fields("nat", "requests failed_requests"),
            "passes": many(entry),
            "plan": "open?",
            "kv_events": "open?",
            "warnings": many(_warning()),
        }
    )
    return document("run", "runtime/run.json", "A run: how it was made and how it ended.", body)


def performance() -> dict[str, str | Schema]:
    """Figures of a set of requests (RFC 3.3.20); latencies of answered requests only."""
    names = ("count", "mean", "min", "max", "p50", "p90", "p95", "p99")
    spread = obj({name: "nat" if name == "count" else "num?" for name in names})
    return {
        **fields("nat", "requests ok failed"),
        "counts_by_status": mapping("nat"),
        **fields("num?", "success_rate timeout_rate duration_s"),
        **{name: nullable(spread) for name in ("ttft_s", "tpot_s", "e2e_s")},
        "input_tokens": "nat",
        "output_tokens": "nat?",
        **fields("num?", "request_throughput input_token_throughput output_token_throughput qps_sent"),
        **{name: nullable(spread) for name in ("gate_wait_s", "lag_s")},
        "gate_broken": told("Requests that were sent although nothing covered them. Unit: requests.", "nat"),
    }


def performance_pass() -> Schema:
    part = mapping(obj(performance()))
    return obj(
        {
            "pass": "str",
            **performance(),
            "chain": CHAIN,
            **dict.fromkeys(("by_endpoint", "by_group", "by_domain"), part),
            **fields("nat", "warmup_requests warmup_failed"),
        }
    )


def performance_metrics() -> Schema:
    """performance_metrics.json."""
    body = obj({"schema_version": "nat", "dataset_id": "str", "passes": many(performance_pass())})
    return document("performance_metrics", "runtime/performance_metrics.json", "Latencies and throughputs.", body)


def prefix_cache_metrics() -> Schema:
    """prefix_cache_metrics.json. Open are kv_usage, prompt_token_check, isolation and reset[]."""
    counter = obj({**fields("num?", "before after delta"), "unit": "str?", "flags": "str[]"})
    figures: dict[str, str | Schema] = {
        "counters": mapping(counter),
        **fields("num?", "hit_rate external_hit_rate total_hit_rate"),
        "notes": "str[]",
    }
    endpoint = obj(
        {
            **fields("str", "endpoint status"),
            "restarted": "bool?",
            **figures,
            "engines": many(obj({"engine": "str", **figures})),
        }
    )
    domain = obj(
        {
            **fields("nat", "domain planned_input_tokens expected_hit_tokens"),
            **fields("int?", "measured_query_tokens measured_hit_tokens"),
            "hit_rate": "num?",
            "route_confirmed": "bool?",
        }
    )
    client = obj(
        {
            "requests_ok": "nat",
            **fields("nat?", "prompt_tokens cached_tokens"),
            "answers_with_cached_tokens": "nat",
        }
    )
    entry = obj(
        {
            "pass": "str",
            **fields("nat", "expected_hit_tokens planned_input_tokens"),
            "designed_hit_ratio": "ratio?",
            **fields("int?", "measured_query_tokens measured_hit_tokens"),
            **fields("num?", "actual_hit_rate external_hit_rate total_hit_rate"),
            "adapter": "str?",
            "status": "str",
            "global": obj(figures),
            "endpoints": many(endpoint),
            "domains": many(domain),
            "client": client,
            "prompt_token_check": "open",
            "kv_usage": "open?",
            "residue": RESIDUE,
            "isolation": "open?",
            "reset": nullable(kind_of("open[]")),
        }
    )
    body = obj({"schema_version": "nat", "dataset_id": "str", "passes": many(entry)})
    return document("prefix_cache_metrics", "runtime/prefix_cache_metrics.json", "The server's counters.", body)


def _warning() -> Schema:
    """Code and message; where somebody has to act, the places of an error."""
    texts = {"type": ["string", "integer", "null"]}
    shape: Schema = {"type": "object", "required": ["code", "message"], "additionalProperties": texts}
    return told("A warning: code, message, and where somebody has to act the places of an error.", shape)
