"""llama.cpp's server: a cache per slot, and two counters that exclude each other. Names: captured pages."""

from __future__ import annotations

from prefixcache.engines.adapter import Adapter, Metric, Traits, no_reset
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Absent, Series, Sum

COMPUTED = Series(("llamacpp:prompt_tokens",), scope="endpoint", note="only what was processed")
CACHED = Series(("llamacpp:prompt_tokens_cached",), scope="endpoint")
ASKED = Sum(((1, COMPUTED), (1, CACHED)), note="processed + reused: its prompt tokens exclude the cached ones")
NO_TIERS = "llama.cpp has no tier behind its slots"

METRICS: dict[Quantity, Metric] = {
    Quantity.QUERIES: (ASKED,),
    Quantity.HITS: (CACHED,),
    Quantity.EXTERNAL_QUERIES: Absent(NO_TIERS),
    Quantity.EXTERNAL_HITS: Absent(NO_TIERS),
    Quantity.PROMPT_TOKENS: (ASKED,),
    Quantity.PROMPT_COMPUTED: (COMPUTED,),
    Quantity.GENERATION_TOKENS: (Series(("llamacpp:tokens_predicted",), scope="endpoint"),),
    Quantity.KV_USAGE: (Series(("llamacpp:kv_cache_usage_ratio",), kind="gauge", unit="ratio", versions="older"),),
    Quantity.RUNNING: (Series(("llamacpp:requests_processing",), kind="gauge", unit="request", scope="endpoint"),),
    Quantity.WAITING: (Series(("llamacpp:requests_deferred",), kind="gauge", unit="request", scope="endpoint"),),
}

LLAMACPP = Adapter(
    name="llamacpp",
    marks=("llamacpp:*",),
    metrics=METRICS,
    reset=no_reset("restart the server to empty its slots"),
    info_paths=("/props",),
    tiers="none",
    owner="llamacpp",
    needs="llama.cpp: start it with --metrics",
    traits=Traits(
        title="llama.cpp",
        block_size="none: hits are counted in single tokens",
        default_block_size=1,
        hit_rule="the common prefix with what the slot holds, at most n − 1 tokens",
        traps=(
            "`prompt_tokens` excludes the cached ones: the rate is cached / (cached + prompt)",
            "the cache belongs to a slot and is no set of shared blocks: another prompt in the slot replaces it",
        ),
        sources=("captured pages",),
    ),
)
