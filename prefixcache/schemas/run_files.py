"""Schemas of run.json, performance_metrics.json and prefix_cache_metrics.json."""

from __future__ import annotations

from prefixcache.schemas.parts import Schema, document, fields, kind_of, many, mapping, nullable, obj, one_of, told

RUN_STATUS = one_of("complete", "partial", "failed")
CHAIN = nullable(obj({"longest": "nat", "permitted_mean_concurrency": "num?"}))
RESIDUE = obj({"detected": "bool?", "evidence": {"type": "array", "items": {}}})


SENDING = obj(
    {
        "planned": told("Requests of the dataset. Unit: requests.", "nat"),
        "sent": told("Those of them that were sent or tried. Unit: requests.", "nat"),
        "unsent": told(
            "Requests kept back: by limit, by duration, by the end of the load's shape. Unit: requests.", mapping("nat")
        ),
    }
)
ORDER = obj(
    {
        "compared": told("Requests whose moment of sending is known. Unit: requests.", "nat"),
        "as_planned": told("Whether none was overtaken by a later one of the plan; null: fewer than two.", "bool?"),
        "inversions": told("Pairs that were sent the other way round. Unit: count.", "nat"),
        "inversions_within_lanes": told("Those of one cache domain and prefix group. Unit: count.", "nat"),
        "first": told("The first 20 overtaken requests, each with the last one that overtook it.", kind_of("open[]")),
    }
)


def run() -> Schema:
    """run.json. Open are options, isolation, servers[], plan, preflight, kv_events, engine_warmup, error and
    passes[].isolation."""
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
        },
        {
            "sending": told("How many requests of how many were sent, and what kept the others back.", SENDING),
            "order": told("The order sent beside the planned one.", ORDER),
        },
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
        },
        {
            "engine_warmup": told("Prompts sent to warm the engine, before all passes; null: none.", "open?"),
            "preflight": told(
                "Contradictions between dataset and service, and what was predicted of them before the load.", "open?"
            ),
        },
    )
    return document("run", "runtime/run.json", "A run: how it was made and how it ended.", body)


def performance() -> dict[str, str | Schema]:
    """Figures of a set of requests (RFC 3.3.20); latencies of answered requests only."""
    spread = _spread()
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


def measured_closely() -> dict[str, str | Schema]:
    """Figures that older versions did not write."""
    retries = obj(
        {
            "requests": told("Requests that were sent more than once. Unit: requests.", "nat"),
            "attempts": told("Times that requests were sent, all together. Unit: count.", "nat"),
            "by_kind": told("Failed attempts that were followed by another, by what failed.", mapping("nat")),
            "possibly_warm": told("Retried requests that were answered. Unit: requests.", "nat"),
        }
    )
    first = obj(
        {
            "requests": told("Requests answered at the first attempt. Unit: requests.", "nat"),
            **dict.fromkeys(("ttft_s", "tpot_s", "e2e_s"), _spread()),
        }
    )
    return {
        **dict.fromkeys(("ttfb_s", "time_to_text_s", "itl_max_s", "slot_wait_s"), nullable(_spread())),
        "failures_by_kind": nullable(mapping("nat")),
        "retries": nullable(retries),
        "without_retried": nullable(first),
    }


def _spread() -> Schema:
    names = ("count", "mean", "min", "max", "p50", "p90", "p95", "p99")
    return obj({name: "nat" if name == "count" else "num?" for name in names})


def load() -> Schema:
    """How a pass was loaded beside how it was asked to be (docs/load.md)."""
    return obj(
        {
            "shape": told("The load as it was written.", "str"),
            "loop": told("closed: by free slots; open: by the clock.", one_of("closed", "open")),
            "max_in_flight": told("Requests in flight at most; null: any number. Unit: requests.", "nat?"),
            "duration_bound_s": told("Nothing was sent after it; null: no bound. Unit: seconds.", "num?"),
            "asked_rate": told("Of the schedule of the requests sent; null: closed loop. Unit: requests/s.", "num?"),
            "achieved_rate": told("Of their sending. Unit: requests/s.", "num?"),
            "median_gap_s": told("Between two scheduled requests. Unit: seconds.", "num?"),
            "delay_s": told("Sent minus scheduled. Unit: seconds.", _spread()),
            "late_sends": told("Requests sent later than 1 ms by the client itself. Unit: requests.", "nat"),
            "gate_waits": told("Requests held back longer than 1 ms by their gate. Unit: requests.", "nat"),
            "slot_waits": told("Requests held back longer than 1 ms for a place in flight. Unit: requests.", "nat"),
            "in_flight_peak": told("Requests between first byte and last token at once. Unit: requests.", "nat"),
            "processes": told("Processes that carried requests.", "nat"),
            "sender": told("How well the sender kept time.", _sender()),
        },
        {"stages": told("Each stage of a load that has several; null: it has one.", nullable(many(_stage())))},
    )


def _stage() -> Schema:
    """Figures of :func:`prefixcache.load.findings.stage_figures.stage_figures`."""
    return obj(
        {
            "from_s": told("Beginning on the clock of the load. Unit: seconds.", "num"),
            "until_s": told("End; null: until the requests end. Unit: seconds.", "num?"),
            "concurrency": told("Slots of a closed loop. Unit: requests.", "nat?"),
            "rate": told("Rate asked for, at the beginning. Unit: requests/s.", "num?"),
            "rate_at_end": told("At the end, where it is a ramp. Unit: requests/s.", "num?"),
            "requests": told("Due, or taken up, in the stage. Unit: requests.", "nat"),
            "failed": told("Of them, failed. Unit: requests.", "nat"),
            "achieved_rate": told("Of their sending. Unit: requests/s.", "num?"),
            **dict.fromkeys(("ttft_s", "tpot_s", "e2e_s"), _spread()),
        }
    )


def _sender() -> Schema:
    """Figures of :class:`prefixcache.load.sending.health.Health`."""
    return obj(
        {
            "ticks": told("Looks at the clock, 10 ms apart, of all processes.", "nat"),
            "stalls": told("Those that came more than 10 ms late.", "nat"),
            "stalled_s": told("What the stalls add up to. Unit: seconds.", "num"),
            "longest_stall_s": told("The worst of them. Unit: seconds.", "num"),
            "collections": told("Garbage collections.", "nat"),
            "collected_s": told("What they add up to. Unit: seconds.", "num"),
            "longest_collection_s": told("The longest of them. Unit: seconds.", "num"),
        }
    )


def performance_pass() -> Schema:
    part = mapping(obj(performance(), measured_closely()))
    return obj(
        {
            "pass": "str",
            **performance(),
            "chain": CHAIN,
            **dict.fromkeys(("by_endpoint", "by_group", "by_domain"), part),
            **fields("nat", "warmup_requests warmup_failed"),
        },
        {**measured_closely(), "load": told("How the pass was loaded beside how it was asked to be.", load())},
    )


def performance_metrics() -> Schema:
    """performance_metrics.json."""
    body = obj({"schema_version": "nat", "dataset_id": "str", "passes": many(performance_pass())})
    return document("performance_metrics", "runtime/performance_metrics.json", "Latencies and throughputs.", body)


def prefix_cache_metrics() -> Schema:
    """prefix_cache_metrics.json. Open are kv_usage, prompt_token_check, isolation and reset[]."""
    counter = obj(
        {**fields("num?", "before after delta"), "unit": "str?", "flags": "str[]"},
        {
            "at_least": told(
                "What was counted for certain, where the counter was reset in between; else null.", "num?"
            ),
            "why": told("Why there is no figure; else null.", "str?"),
        },
    )
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
        },
        {"role": told("prefill, decode or mixed; hit rates are those of prefill and mixed.", "str")},
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
        },
        {
            "hit_rate_bounds": told(
                "Least and most that actual_hit_rate can have been, where counters began anew; else null.",
                nullable(kind_of("ratio[]")),
            )
        },
    )
    body = obj({"schema_version": "nat", "dataset_id": "str", "passes": many(entry)})
    return document("prefix_cache_metrics", "runtime/prefix_cache_metrics.json", "The server's counters.", body)


def _warning() -> Schema:
    """Code and message; where somebody has to act, the places of an error."""
    texts = {"type": ["string", "integer", "null"]}
    shape: Schema = {"type": "object", "required": ["code", "message"], "additionalProperties": texts}
    return told("A warning: code, message, and where somebody has to act the places of an error.", shape)
