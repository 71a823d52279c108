"""The stores behind engines, and pages that are theirs."""

from __future__ import annotations

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.frameworks.lmcache import LMCACHE
from prefixcache.engines.frameworks.mooncake import MOONCAKE
from prefixcache.engines.frameworks.ucm import UCM
from prefixcache.engines.page import MetricsPage

STORES: tuple[Adapter, ...] = (LMCACHE, UCM, MOONCAKE)
ENGINE_PREFIXES = ("vllm:", "sglang:", "trtllm_", "lmdeploy:", "llamacpp:", "npu_", "all_radix_match_num")


def stores_on(page: MetricsPage) -> tuple[Adapter, ...]:
    """Stores whose metrics stand on a page, beside an engine's or alone."""
    return tuple(a for a in STORES if any(a.recognises(name) for name in page.series))


def is_only_a_store(page: MetricsPage) -> bool:
    """Has the page a store's metrics and no engine's?"""
    return bool(stores_on(page)) and has_no_engine(page)


def has_no_engine(page: MetricsPage) -> bool:
    """Has the page no metric of a known engine?"""
    return not any(name.startswith(ENGINE_PREFIXES) for name in page.series)
