"""UCM (Unified Cache Manager), a connector behind vLLM that also tells what vLLM hit before it."""

from __future__ import annotations

from prefixcache.engines.adapter import Adapter, Metric, Traits, no_reset
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Series, Sum

ASKED = Series(("ucm:total_prefix_query_tokens",))
LOCAL = Series(("ucm:gpu_hbm_hit_tokens",), note="found in the device's memory before UCM was asked")

METRICS: dict[Quantity, Metric] = {
    Quantity.QUERIES: (ASKED,),
    Quantity.HITS: (LOCAL,),
    Quantity.EXTERNAL_QUERIES: (Sum(((1, ASKED), (-1, LOCAL)), note="what was left after the local hits"),),
    Quantity.EXTERNAL_HITS: (Series(("ucm:ucm_hit_tokens",)),),
}

UCM = Adapter(
    name="ucm",
    marks=("ucm:*",),
    metrics=METRICS,
    reset=no_reset("clear UCM's store by hand"),
    tiers="counted",
    store=True,
    traits=Traits(
        title="UCM",
        block_size="vLLM's",
        traps=(
            "its other counters are in blocks or shards: never mixed with these",
            "a rate of the external tier alone says nothing of the whole: 44,460 queried, 14,592 local and 21,888 of "
            "29,868 external hits are 82.05 % in total",
        ),
        sources=("UCM's metrics reference",),
    ),
)
