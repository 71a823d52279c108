"""vLLM V1 and what speaks its metrics (vLLM-Ascend, the reference engine).

Names and units: vllm/v1/metrics/loggers.py and captured pages of 0.32. Since 0.9 the prefix-cache counters count
tokens; up to 0.8 the names beginning with ``gpu_`` counted blocks and their HELP text says so.
"""

from __future__ import annotations

from typing import Any

import orjson

from prefixcache.engines.adapter import Adapter, CacheFacts, Metric, Quantity, ResetAnswer, ResetRoute, whole
from prefixcache.engines.page import MetricsPage


def _by_source(source: str) -> Metric:
    return Metric(("vllm:prompt_tokens_by_source",), "counter", "tokens", labels={"source": source})


METRICS = {
    Quantity.QUERIES: Metric(("vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries"), "counter", "tokens"),
    Quantity.HITS: Metric(("vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits"), "counter", "tokens"),
    Quantity.EXTERNAL_QUERIES: Metric(("vllm:external_prefix_cache_queries",), "counter", "tokens"),
    Quantity.EXTERNAL_HITS: Metric(("vllm:external_prefix_cache_hits",), "counter", "tokens"),
    Quantity.PROMPT_TOKENS: Metric(("vllm:prompt_tokens",), "counter", "tokens"),
    Quantity.PROMPT_COMPUTED: _by_source("local_compute"),
    Quantity.PROMPT_LOCAL_HIT: _by_source("local_cache_hit"),
    Quantity.PROMPT_EXTERNAL: _by_source("external_kv_transfer"),
    Quantity.GENERATION_TOKENS: Metric(("vllm:generation_tokens",), "counter", "tokens"),
    Quantity.PREEMPTIONS: Metric(("vllm:num_preemptions",), "counter", "events"),
    # 0-1 in spite of its name, and 0 when idle.
    Quantity.KV_USAGE: Metric(("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"), "gauge", "ratio"),
    Quantity.RUNNING: Metric(("vllm:num_requests_running",), "gauge", "requests"),
    Quantity.WAITING: Metric(("vllm:num_requests_waiting",), "gauge", "requests"),
}


def read_cache_facts(page: MetricsPage) -> CacheFacts:
    """Facts from ``vllm:cache_config_info``.

    ``num_gpu_blocks`` is summed over the ranks on a data-parallel server while ``kv_cache_size_tokens`` is one
    rank's, so the latter is preferred. One block is the null block and holds no tokens.
    """
    infos = page.named("vllm:cache_config_info")
    if not infos:
        return CacheFacts()
    labels = infos[0].labels
    block_size = whole(labels.get("block_size"))
    blocks = whole(labels.get("num_gpu_blocks"))
    tokens = whole(labels.get("kv_cache_size_tokens"))
    if tokens is None and blocks is not None and block_size is not None:
        tokens = blocks * block_size
    usable = tokens - block_size if tokens is not None and block_size is not None else tokens
    alignments = [whole(labels.get(name)) for name in ("cache_hit_alignment_tokens", "prefix_match_unit")]
    return CacheFacts(
        block_size=block_size,
        num_blocks=blocks,
        kv_tokens=usable,
        prefix_caching={"True": True, "False": False}.get(labels.get("enable_prefix_caching", "")),
        hit_alignment=max((a for a in alignments if a), default=None),
        raw=labels,
    )


def judge_reset(status: int, body: bytes) -> ResetAnswer:
    """``POST /reset_prefix_cache``: 200 with ``{"success": false}`` while a request runs; older versions answer 200
    with an empty body whatever happened; 404 without ``VLLM_SERVER_DEV_MODE=1``."""
    if status in (404, 405):
        return "absent"
    if status != 200:
        return "refused"
    try:
        answer: Any = orjson.loads(body) if body.strip() else None
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict) or "success" not in answer:
        return "unconfirmed"
    return "done" if answer["success"] is True else "busy"


VLLM = Adapter(
    name="vllm",
    metric_prefix="vllm:",
    metrics=METRICS,
    engine_label="engine",
    cache_facts=read_cache_facts,
    reset=ResetRoute(
        path="/reset_prefix_cache",
        external_params={"reset_external": "true"},
        judge=judge_reset,
        remedy="start vLLM with VLLM_SERVER_DEV_MODE=1, which adds POST /reset_prefix_cache",
    ),
    rank_header="X-data-parallel-rank",
    salt_field="cache_salt",
)
