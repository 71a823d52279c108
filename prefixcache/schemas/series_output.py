"""Schema of what `prefixcache replay --json` prints: the rows of runtime/series.parquet."""

from __future__ import annotations

from prefixcache.load.records.series import MARKS
from prefixcache.schemas.parts import Schema, document, many, nullable, obj, one_of, told

COUNTS = {
    "planned": "Requests of the phase.",
    "sent": "Requests handed to a connection.",
    "in_flight": "Requests sent that have not ended.",
    "ended": "Requests that were answered or failed.",
    "failed": "Of those that ended, the failed ones.",
    "retried": "Of those that ended, the ones sent more than once.",
}
KNOWN_COUNTS = {
    "query_tokens": "Tokens asked for since the pass began, by the server's counters.",
    "hit_tokens": "Tokens hit since the pass began, by the server's counters.",
    "designed_input_tokens": "Input tokens of the requests whose first token has come, as planned.",
    "designed_hit_tokens": "Their designed hits.",
}
FIGURES = {
    "requests_per_s": "Requests ended per second, over the last seconds.",
    "ttft_p50_s": "Median TTFT so far. Unit: seconds.",
    "ttft_p90_s": "90th percentile of TTFT so far. Unit: seconds.",
    "ttft_p99_s": "99th percentile of TTFT so far. Unit: seconds.",
    "ttft_recent_p50_s": "Median TTFT of the last seconds. Unit: seconds.",
    "counters_s": "When the counters were read. Unit: seconds.",
    "hit_ratio": "hit_tokens / query_tokens. Unit: ratio.",
    "designed_ratio": "designed_hit_tokens / designed_input_tokens. Unit: ratio.",
    "kv_usage": "KV cache usage of the fullest engine. Unit: ratio.",
    "running": "Requests that the server computes.",
    "waiting": "Requests that wait there.",
}


def run_series() -> Schema:
    """Output of replay."""
    row: dict[str, str | Schema] = {
        "pass": "str",
        "phase": one_of("warmup", "measured"),
        "mark": told("What had just happened; null: time had passed.", nullable(one_of(*MARKS))),
        "run_s": told("Since the first sample of the run. Unit: seconds.", "num"),
        "t_s": told("Since the phase began. Unit: seconds.", "num"),
        **{name: told(text, "nat") for name, text in COUNTS.items()},
        **{name: told(text, "int?") for name, text in KNOWN_COUNTS.items()},
        **{name: told(text, "num?") for name, text in FIGURES.items()},
    }
    body = obj({"schema_version": "nat", "samples": told("In their order.", many(obj(row)))})
    return document("run_series", "Output of replay", "How a run went, moment by moment.", body)
