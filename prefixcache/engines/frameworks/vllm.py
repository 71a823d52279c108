"""vLLM, all of its generations, and what speaks its metrics.

Names and units: vllm/v1/metrics/loggers.py and captured pages of 0.32. Since 0.9 the prefix-cache counters count
tokens; up to 0.8 the names beginning with ``gpu_`` counted blocks and their HELP text says so; V0 had only ratios.
"""

from __future__ import annotations

from typing import Any

import orjson

from prefixcache.engines.adapter import Adapter, CacheFacts, Metric, ResetAnswer, ResetRoute, Traits, whole
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Series

SINCE_EXTERNAL = "since 2025-10"


def _early(name: str) -> Series:
    return Series(
        (name,),
        unit="block",
        help_names_unit=True,
        versions="V1 to about 0.10",
        note="blocks to about 0.8, tokens in 0.9 and 0.10: the HELP text says which",
    )


def _by_source(source: str) -> tuple[Series, ...]:
    return (Series(("vllm:prompt_tokens_by_source",), labels={"source": (source,)}, versions="recent V1"),)


METRICS: dict[Quantity, Metric] = {
    Quantity.QUERIES: (
        Series(("vllm:prefix_cache_queries",), versions="0.10 and later", note="prompt tokens looked up"),
        _early("vllm:gpu_prefix_cache_queries"),
    ),
    Quantity.HITS: (
        Series(("vllm:prefix_cache_hits",), versions="0.10 and later"),
        _early("vllm:gpu_prefix_cache_hits"),
    ),
    Quantity.EXTERNAL_QUERIES: (
        Series(
            ("vllm:external_prefix_cache_queries",),
            versions=SINCE_EXTERNAL,
            note="only what missed locally: queries less local hits",
        ),
    ),
    Quantity.EXTERNAL_HITS: (
        Series(("vllm:external_prefix_cache_hits",), versions=SINCE_EXTERNAL, note="not among the local hits"),
    ),
    Quantity.HIT_RATIO: (
        Series(
            ("vllm:gpu_prefix_cache_hit_rate",),
            kind="gauge",
            unit="ratio",
            lowest=0.0,
            versions="V0",
            note="a ratio without its counters: no figure of an interval follows from it; gone with V1",
        ),
    ),
    Quantity.PROMPT_TOKENS: (Series(("vllm:prompt_tokens",)),),
    Quantity.PROMPT_COMPUTED: _by_source("local_compute"),
    Quantity.PROMPT_LOCAL_HIT: _by_source("local_cache_hit"),
    Quantity.PROMPT_EXTERNAL: _by_source("external_kv_transfer"),
    Quantity.GENERATION_TOKENS: (Series(("vllm:generation_tokens",)),),
    Quantity.PREEMPTIONS: (Series(("vllm:num_preemptions",), unit="event"),),
    Quantity.KV_USAGE: (
        Series(
            ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
            kind="gauge",
            unit="ratio",
            note="0-1 in spite of its name, and 0 when idle: polled during a run",
        ),
    ),
    Quantity.RUNNING: (Series(("vllm:num_requests_running",), kind="gauge", unit="request"),),
    Quantity.WAITING: (Series(("vllm:num_requests_waiting",), kind="gauge", unit="request"),),
}

TRAITS = Traits(
    title="vLLM",
    block_size="`block_size` of `vllm:cache_config_info`",
    default_block_size=16,
    hit_rule="B × min(leading cached full blocks, (n − 1) // B): the last token is always computed",
    units=(
        ("hybrid (Mamba-aligned)", "784 to 3584 tokens seen (vllm#54607): a shorter shared prefix never hits"),
        ("decode context parallel", "block × dcp size"),
        ("EAGLE, MTP", "the last matched unit is thrown away again"),
    ),
    traps=(
        "the log's hit rate is a rolling window of 1,000 requests, not a run's",
        "several API servers make each metrics page a part of the service",
        "a batch of prompts in one call shows cached_tokens 0 in its usage although the counters move",
        "prompt logprobs bypass the cache: prompt tokens move, queries do not",
        "versions before 2026-07 count recomputation and retries from the waiting queue as queries "
        "(vllm#25780, #43736, mended by #48860)",
        "`cache_config_info.block_size` can read 2 where the unit is 4096 (vllm-ascend#16270)",
        "a reset answers 200 with success false while a request runs, and never touches the counters",
    ),
    sources=("vllm/v1/metrics/loggers.py", "captured pages of 0.32"),
)


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
        tokens = whole(blocks * block_size)
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


RESET = ResetRoute(
    path="/reset_prefix_cache",
    external_params={"reset_external": "true"},
    judge=judge_reset,
    remedy="start vLLM with VLLM_SERVER_DEV_MODE=1, which adds POST /reset_prefix_cache",
)

VLLM = Adapter(
    name="vllm",
    marks=("vllm:*",),
    metrics=METRICS,
    traits=TRAITS,
    cache_facts=read_cache_facts,
    reset=RESET,
    rank_header="X-data-parallel-rank",
    salt_field="cache_salt",
    tiers="counted",
    by_source=True,
    owner="vllm",
    needs="vLLM: /metrics of the API server",
)
