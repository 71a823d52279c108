"""MindIE. Its names have no prefix. Since 2026-03 it has token counters typed as gauges; before, only a ratio."""

from __future__ import annotations

from prefixcache.engines.adapter import Adapter, CacheFacts, Metric, Traits, no_reset
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Absent, Series, Share

PROMPT_TOKENS = Series(("prompt_tokens",))
RATIO = Series(
    ("npu_prefix_cache_hit_rate",),
    kind="gauge",
    unit="ratio",
    lowest=0.0,
    note="cumulative since the start of the process",
)
NO_TIERS = "MindIE exports no counters of tiers behind the NPU's memory"
RADIX = "2026-03 and later"


def _radix(name: str, note: str) -> Series:
    return Series((name,), lowest=0.0, versions=RADIX, note=note)


METRICS: dict[Quantity, Metric] = {
    Quantity.QUERIES: (
        _radix("all_radix_match_num", "typed gauge, yet it only grows; −1 without prefix cache, NaN before the first"),
        Series(PROMPT_TOKENS.names, versions="before 2026-03", note="all prompt tokens are taken as looked up"),
    ),
    Quantity.HITS: (
        _radix("npu_radix_match_hit_num", "typed gauge, yet it only grows"),
        Share(
            RATIO,
            PROMPT_TOKENS,
            versions="before 2026-03",
            note="ratio × prompt tokens at both ends, differenced: an estimate",
        ),
    ),
    Quantity.EXTERNAL_QUERIES: Absent(NO_TIERS),
    Quantity.EXTERNAL_HITS: Absent(NO_TIERS),
    Quantity.HIT_RATIO: (RATIO,),
    Quantity.PROMPT_TOKENS: (PROMPT_TOKENS,),
    Quantity.GENERATION_TOKENS: (Series(("generation_tokens",)),),
    Quantity.PREEMPTIONS: (Series(("num_preemptions",), unit="event"),),
    Quantity.KV_USAGE: (Series(("npu_cache_usage_perc",), kind="gauge", unit="ratio"),),
    Quantity.RUNNING: (Series(("num_requests_running",), kind="gauge", unit="request"),),
    Quantity.WAITING: (Series(("num_requests_waiting",), kind="gauge", unit="request"),),
}


def read_cache_facts(page: MetricsPage) -> CacheFacts:
    """Only whether there is a prefix cache: without one its counters read -1. The block size is on no page."""
    off = any(s.value == -1 for name in ("all_radix_match_num", "npu_radix_match_hit_num") for s in page.named(name))
    return CacheFacts(prefix_caching=False if off else None)


MINDIE = Adapter(
    name="mindie",
    marks=(
        "npu_prefix_cache_hit_rate",
        "all_radix_match_num",
        "npu_radix_match_hit_num",
        "npu_cache_usage_perc",
    ),
    metrics=METRICS,
    engine_label="dp_rank",
    cache_facts=read_cache_facts,
    reset=no_reset("restart MindIE to empty its cache"),
    info_paths=("/info",),
    tiers="uncounted",
    owner="MindIE Server",
    needs="MindIE: start it with MIES_SERVICE_MONITOR_MODE=1 and give the metrics port's page",
    traits=Traits(
        title="MindIE",
        block_size="`cacheBlockSize` of its config file, on no page",
        default_block_size=128,
        hit_rule="block × min(leading cached full blocks, (n − 1) // block)",
        traps=(
            "the counters need MIES_SERVICE_MONITOR_MODE=1 and stand on the metrics port",
            "typed gauge, yet monotone; values may read Nan, and −1 without a prefix cache",
            "no DP label",
            "the older Motor (coordinator) averages its pods' ratios unweighted: give each pod's own page",
            "older versions have only a ratio since the start: hits are an estimate",
        ),
        estimate="a Motor's page has the unweighted mean of its pods: give each pod's own page",
        sources=("the published server source of MindIE-LLM", "measured traps in the project's specification"),
    ),
)
