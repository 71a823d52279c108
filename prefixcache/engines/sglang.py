"""SGLang. Names and units: captured pages of 0.5.23.

``sglang:cache_hit_rate`` is the last prefill batch only and is never used. Neither token counter has a DP label.
"""

from __future__ import annotations

from prefixcache.engines.adapter import Adapter, CacheFacts, Metric, Quantity, ResetAnswer, ResetRoute, whole
from prefixcache.engines.page import MetricsPage


def _realtime(mode: str) -> Metric:
    return Metric(("sglang:realtime_tokens",), "counter", "tokens", labels={"mode": mode})


METRICS = {
    Quantity.QUERIES: Metric(("sglang:prompt_tokens",), "counter", "tokens", "endpoint"),
    # The series is absent until the first hit.
    Quantity.HITS: Metric(("sglang:cached_tokens",), "counter", "tokens", "endpoint", born_with_first=True),
    Quantity.PROMPT_TOKENS: Metric(("sglang:prompt_tokens",), "counter", "tokens", "endpoint"),
    Quantity.PROMPT_COMPUTED: _realtime("prefill_compute"),
    Quantity.PROMPT_LOCAL_HIT: _realtime("prefill_cache"),
    Quantity.GENERATION_TOKENS: Metric(("sglang:generation_tokens",), "counter", "tokens", "endpoint"),
    Quantity.EVICTED: Metric(("sglang:evicted_tokens",), "counter", "tokens"),
    Quantity.KV_USAGE: Metric(("sglang:token_usage",), "gauge", "ratio"),
    Quantity.RUNNING: Metric(("sglang:num_running_reqs",), "gauge", "requests"),
    Quantity.WAITING: Metric(("sglang:num_queue_reqs",), "gauge", "requests"),
}


def read_cache_facts(page: MetricsPage) -> CacheFacts:
    """Facts from gauges: page size in tokens, tokens of one rank's pool, context length."""

    def gauge(name: str) -> int | None:
        found = page.named(name)
        return whole(found[0].value) if found else None

    return CacheFacts(
        block_size=gauge("sglang:page_size"),
        num_blocks=gauge("sglang:num_pages"),
        kv_tokens=gauge("sglang:max_total_num_tokens"),
        max_model_len=gauge("sglang:context_len"),
    )


def judge_reset(status: int, body: bytes) -> ResetAnswer:
    """``POST /flush_cache``: 200 when flushed, 400 while requests run."""
    if status in (404, 405):
        return "absent"
    if status == 400:
        return "busy"
    return "done" if status == 200 else "refused"


SGLANG = Adapter(
    name="sglang",
    metric_prefix="sglang:",
    metrics=METRICS,
    engine_label="dp_rank",
    cache_facts=read_cache_facts,
    reset=ResetRoute(
        path="/flush_cache",
        external_params={},
        judge=judge_reset,
        remedy="use an SGLang version that has /flush_cache",
    ),
    rank_header="X-Data-Parallel-Rank",
    salt_field="cache_salt",
    info_paths=("/server_info", "/get_server_info"),
)
