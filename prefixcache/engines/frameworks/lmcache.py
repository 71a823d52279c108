"""LMCache, a store behind an engine: its figures stand beside the engine's and are never added to them."""

from __future__ import annotations

from prefixcache.engines.adapter import Adapter, Metric, Traits, no_reset
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Absent, Series

BEHIND = "LMCache is itself the tier behind an engine"

METRICS: dict[Quantity, Metric] = {
    Quantity.QUERIES: (
        Series(("lmcache:num_lookup_tokens",), note="tokens looked up; preferred"),
        Series(("lmcache:num_requested_tokens",), note="tokens to retrieve"),
    ),
    Quantity.HITS: (Series(("lmcache:num_lookup_hits",)), Series(("lmcache:num_hit_tokens",))),
    Quantity.EXTERNAL_QUERIES: Absent(BEHIND),
    Quantity.EXTERNAL_HITS: Absent(BEHIND),
    Quantity.PROMPT_LOCAL_HIT: (
        Series(("lmcache:num_vllm_hit_tokens",), note="what vLLM had before LMCache was asked"),
    ),
}

LMCACHE = Adapter(
    name="lmcache",
    marks=("lmcache:*",),
    metrics=METRICS,
    engine_label="worker_id",
    reset=no_reset("clear LMCache by its own controller"),
    tiers="none",
    store=True,
    traits=Traits(
        title="LMCache",
        block_size="its chunk size (default 256), in its configuration",
        default_block_size=256,
        traps=("another tier: its hits are never added to vLLM's",),
        sources=("lmcache/observability.py",),
    ),
)
