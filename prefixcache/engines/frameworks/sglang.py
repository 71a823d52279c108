"""SGLang. Names and units: captured pages of 0.5.23.

``sglang:cache_hit_rate`` is the last prefill batch only and is never used. Neither token counter has a DP label.
"""

from __future__ import annotations

from prefixcache.engines.adapter import (
    Adapter,
    CacheFacts,
    Metric,
    ResetAnswer,
    ResetRoute,
    Traits,
    whole,
)
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Absent, Series, Sum

# Only versions that count cached tokens have these.
WITNESSES = (
    "sglang:realtime_tokens",
    "sglang:uncached_prompt_tokens_histogram_sum",
    "sglang:kv_evictable_tokens",
    "sglang:evicted_tokens",
    "sglang:cached_tokens",
)


def _realtime(mode: str) -> Series:
    return Series(
        ("sglang:realtime_tokens",),
        labels={"mode": (mode,)},
        note="written at each log interval, so late by seconds",
    )


def _cached(*sources: str) -> Series:
    return Series(
        ("sglang:cached_tokens",),
        scope="endpoint",
        labels={"cache_source": sources},
        witnesses=WITNESSES,
        note="absent until the first hit",
    )


METRICS: dict[Quantity, Metric] = {
    Quantity.QUERIES: (
        Series(("sglang:prompt_tokens",), scope="endpoint"),
        Sum(((1, _realtime("prefill_compute")), (1, _realtime("prefill_cache")))),
    ),
    Quantity.HITS: (_cached("device", ""), _realtime("prefill_cache")),
    Quantity.EXTERNAL_QUERIES: Absent("SGLang does not count what it looks up in host memory and storage"),
    Quantity.EXTERNAL_HITS: (_cached("host", "storage"),),
    Quantity.HIT_RATIO: (
        Series(
            ("sglang:cache_hit_rate",),
            kind="window",
            unit="ratio",
            note="of the last prefill batch only: never a figure of a run",
        ),
    ),
    Quantity.PROMPT_TOKENS: (Series(("sglang:prompt_tokens",), scope="endpoint"),),
    Quantity.PROMPT_COMPUTED: (_realtime("prefill_compute"),),
    Quantity.PROMPT_LOCAL_HIT: (_realtime("prefill_cache"),),
    Quantity.GENERATION_TOKENS: (Series(("sglang:generation_tokens",), scope="endpoint"),),
    Quantity.PREEMPTIONS: (Series(("sglang:num_retracted_requests",), unit="event"),),
    Quantity.EVICTED: (Series(("sglang:evicted_tokens",)),),
    Quantity.KV_USAGE: (Series(("sglang:token_usage",), kind="gauge", unit="ratio"),),
    Quantity.RUNNING: (Series(("sglang:num_running_reqs",), kind="gauge", unit="request"),),
    Quantity.WAITING: (Series(("sglang:num_queue_reqs",), kind="gauge", unit="request"),),
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
    marks=("sglang:*",),
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
    tiers="counted",
    owner="sglang",
    needs="SGLang: start it with --enable-metrics",
    traits=Traits(
        title="SGLang",
        block_size="`sglang:page_size`; `page_size` of `/server_info` (older: `/get_server_info`)",
        default_block_size=1,
        hit_rule="page × ⌊min(shared, n − 1) / page⌋",
        traps=(
            "`sglang:cache_hit_rate` is of the last prefill batch, never of a run",
            "the cached series is absent until the first hit",
            "no token counter has a DP label, so hits of ranks cannot be told apart",
            "`/flush_cache` answers 400 while requests run",
        ),
        sources=("captured pages of 0.5.23",),
    ),
)
