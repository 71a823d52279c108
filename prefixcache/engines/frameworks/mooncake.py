"""The Mooncake store: counters of objects, of which one request has many."""

from __future__ import annotations

from prefixcache.engines.adapter import Adapter, Metric, Traits, no_reset
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Absent, Series, Sum

BEHIND = "the store is itself the tier behind an engine"
MEMORY = Series(("mem_cache_hit_nums_",), unit="object", scope="endpoint")
FILES = Series(("file_cache_hit_nums_",), unit="object", scope="endpoint")

METRICS: dict[Quantity, Metric] = {
    Quantity.QUERIES: (Series(("total_get_nums_",), unit="object", scope="endpoint"),),
    Quantity.HITS: (
        Series(
            ("valid_get_nums_",), unit="object", scope="endpoint", note="gets that found something, in whatever tier"
        ),
        Sum(((1, MEMORY), (1, FILES))),
    ),
    Quantity.EXTERNAL_QUERIES: Absent(BEHIND),
    Quantity.EXTERNAL_HITS: Absent(BEHIND),
    Quantity.EVICTED: (Series(("master_evicted_key_count",), unit="object", scope="endpoint"),),
}

MOONCAKE = Adapter(
    name="mooncake",
    marks=("total_get_nums_", "valid_get_nums_", "mem_cache_hit_nums_"),
    metrics=METRICS,
    reset=no_reset("clear the store by its own tools"),
    tiers="none",
    store=True,
    traits=Traits(
        title="Mooncake store",
        traps=("objects, not tokens: its own hit rate is no ratio of requests", "its names end in an underscore"),
        sources=("mooncake-store/src/master_metric_manager.cpp",),
    ),
)
