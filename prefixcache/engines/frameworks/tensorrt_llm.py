"""TensorRT-LLM (`trtllm-serve`). Names: tensorrt_llm/metrics/collector.py."""

from __future__ import annotations

from prefixcache.engines.adapter import Adapter, CacheFacts, Metric, Traits, no_reset, whole
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Absent, Series

IN_HITS = "TensorRT-LLM counts blocks brought back from host memory among the cached tokens"
TOKENS_PER_BLOCK = "trtllm_kv_cache_tokens_per_block"

METRICS: dict[Quantity, Metric] = {
    Quantity.QUERIES: (Series(("trtllm_prompt_tokens",), note="prompt tokens; every prompt is looked up"),),
    Quantity.HITS: (Series(("trtllm_prompt_cached_tokens", "trtllm_prompt_tokens_cached")),),
    Quantity.EXTERNAL_QUERIES: Absent(IN_HITS),
    Quantity.EXTERNAL_HITS: Absent(IN_HITS),
    Quantity.HIT_RATIO: (
        Series(
            ("trtllm_kv_cache_hit_rate",),
            kind="gauge",
            unit="ratio",
            note="of blocks, over a span that the framework does not state",
        ),
    ),
    Quantity.PROMPT_TOKENS: (Series(("trtllm_prompt_tokens",)),),
    Quantity.GENERATION_TOKENS: (Series(("trtllm_generation_tokens",)),),
    Quantity.KV_USAGE: (Series(("trtllm_kv_cache_utilization",), kind="gauge", unit="ratio"),),
    Quantity.RUNNING: (
        Series(("trtllm_num_requests_running", "trtllm_num_active_requests"), kind="gauge", unit="request"),
    ),
    Quantity.WAITING: (
        Series(
            ("trtllm_num_requests_waiting", "trtllm_num_queued_requests", "trtllm_server_queue_length"),
            kind="gauge",
            unit="request",
        ),
    ),
}


def read_cache_facts(page: MetricsPage) -> CacheFacts:
    """Tokens per block, where the page states them."""
    found = page.named(TOKENS_PER_BLOCK)
    return CacheFacts(block_size=whole(found[0].value) if found else None)


TENSORRT_LLM = Adapter(
    name="tensorrt-llm",
    marks=("trtllm_*",),
    metrics=METRICS,
    engine_label="dp_rank",
    cache_facts=read_cache_facts,
    reset=no_reset("restart the server to empty its cache"),
    info_paths=("/server_info",),
    salt_field="cache_salt",
    tiers="in_hits",
    owner="tensorrt_llm",
    needs="TensorRT-LLM: return_perf_metrics and enable_iter_perf_stats, page /prometheus/metrics",
    traits=Traits(
        title="TensorRT-LLM",
        block_size=f"`{TOKENS_PER_BLOCK}`",
        default_block_size=32,
        traps=("`trtllm_kv_cache_hit_rate` is a ratio of blocks over a span that is not stated: shown, never used",),
        sources=("tensorrt_llm/metrics/collector.py",),
    ),
)
