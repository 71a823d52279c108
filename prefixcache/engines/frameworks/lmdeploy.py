"""LMDeploy. Names: lmdeploy/metrics/loggers.py and its tests."""

from __future__ import annotations

from prefixcache.engines.adapter import Adapter, Metric, Traits, no_reset
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Series

METRICS: dict[Quantity, Metric] = {
    Quantity.QUERIES: (Series(("lmdeploy:prompt_tokens",)),),
    Quantity.HITS: (Series(("lmdeploy:cached_tokens",)),),
    Quantity.EXTERNAL_QUERIES: (Series(("lmdeploy:external_prefix_cache_queries",), versions="recent"),),
    Quantity.EXTERNAL_HITS: (Series(("lmdeploy:external_prefix_cache_hits",), versions="recent"),),
    Quantity.HIT_RATIO: (
        Series(
            ("lmdeploy:prefix_cache_hit_rate",), kind="gauge", unit="ratio", note="since the start: shown, never used"
        ),
    ),
    Quantity.PROMPT_TOKENS: (Series(("lmdeploy:prompt_tokens",)),),
    Quantity.GENERATION_TOKENS: (Series(("lmdeploy:generation_tokens",)),),
    Quantity.KV_USAGE: (
        Series(("lmdeploy:gpu_cache_usage_perc", "lmdeploy:kv_cache_usage_perc"), kind="gauge", unit="ratio"),
    ),
    Quantity.RUNNING: (Series(("lmdeploy:num_requests_running",), kind="gauge", unit="request"),),
    Quantity.WAITING: (Series(("lmdeploy:num_requests_waiting",), kind="gauge", unit="request"),),
}

LMDEPLOY = Adapter(
    name="lmdeploy",
    marks=("lmdeploy:*",),
    metrics=METRICS,
    reset=no_reset("restart the server to empty its cache"),
    tiers="counted",
    owner="lmdeploy",
    needs="LMDeploy: start it with --enable-metrics",
    traits=Traits(
        title="LMDeploy",
        block_size="on no page; `--cache-block-seq-len`",
        default_block_size=64,
        traps=("`lmdeploy:prefix_cache_hit_rate` is a ratio since the start, not of a run",),
        sources=("lmdeploy/metrics/loggers.py",),
    ),
)
