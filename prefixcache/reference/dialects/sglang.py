"""SGLang 0.5.23: token counters that are born with their first event, and no data-parallel label on them.

The token counters move when a request has ended; ``realtime_tokens`` and ``cache_hit_rate`` (the last prompt's, never a
run's) when its prompt is computed. What shows the page is prometheus_client in its multiprocess mode: no ``_created``
series and nothing of the process. Facts: captured pages, and SGLang's ``srt/observability/metrics_collector.py``.

The cache is the engine's own: hits are SGLang's, evictions are not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prefixcache.reference import native
from prefixcache.reference.dialects.face import Face
from prefixcache.reference.dialects.table import Family, Labels, Table, labels_of
from prefixcache.reference.metrics import CONTENT_TYPE
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.protocol import RequestError
from prefixcache.reference.responses import CachedTokens
from prefixcache.reference.routes import Routes, get, json_response, post
from prefixcache.reference.sequence import Sequence
from prefixcache.reference.series import Watched

FLUSHED = (
    "Cache flushed.\nPlease check backend logs for more details. (When there are running or waiting requests, the "
    "operation will not be performed.)\n"
)
TTFT_BUCKETS = (0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400)
E2E_BUCKETS = (0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400, 600, 1200, 1800, 2400)
POLL_S = 0.01


class SglangPage:
    content_type = CONTENT_TYPE

    def __init__(self, options: EngineOptions) -> None:
        self.options = options
        table = self.table = Table()

        def gauge(name: str, text: str) -> Family:
            return table.family(f"sglang:{name}", "gauge", text)

        def counter(name: str, text: str) -> Family:
            return table.family(f"sglang:{name}_total", "counter", text)

        self.max_tokens = gauge("max_total_num_tokens", "Maximum total number of tokens in the KV cache pool.")
        self.page_size = gauge("page_size", "KV cache page size in tokens.")
        self.num_pages = gauge("num_pages", "Number of KV cache pages.")
        self.context_len = gauge("context_len", "Maximum context length.")
        self.running = gauge("num_running_reqs", "The number of running requests.")
        self.queued = gauge("num_queue_reqs", "The number of requests in the waiting queue.")
        self.hit_rate = gauge("cache_hit_rate", "The prefix cache hit rate.")
        self.usage = gauge("token_usage", "The token usage.")
        self.full_usage = gauge("full_token_usage", "The token usage for full attention layers.")
        self.used = gauge("num_used_tokens", "The number of used tokens.")
        self.ttft = table.family(
            "sglang:time_to_first_token_seconds",
            "histogram",
            "Histogram of time to first token in seconds.",
            TTFT_BUCKETS,
        )
        self.e2e = table.family(
            "sglang:e2e_request_latency_seconds",
            "histogram",
            "Histogram of End-to-end request latency in seconds",
            E2E_BUCKETS,
        )
        self.realtime = counter(
            "realtime_tokens",
            "Total number of tokens processed (updated on each log interval). mode: prefill_compute, prefill_cache, "
            "decode.",
        )
        self.evicted = counter(
            "evicted_tokens",
            "The number of device KV token slots freed by eviction, regardless of whether the data was backed up to "
            "host (see sglang:hicache_backup_tokens_total) or destroyed (see sglang:hicache_dropped_tokens_total).",
        )
        self.prompt_tokens = counter("prompt_tokens", "Number of prefill tokens processed.")
        self.generation_tokens = counter("generation_tokens", "Number of generation tokens processed.")
        self.requests = counter("num_requests", "Number of requests processed.")
        self.cached_tokens = counter("cached_tokens", "Number of cached prompt tokens by source (device/host/storage).")
        self._ranks: list[SglangRank] = []
        self._registry = CollectorRegistry()
        self._registry.register(table)

    def rank(self, index: int, model: str) -> SglangRank:
        made = SglangRank(self, index, model)
        self._ranks.append(made)
        return made

    def page(self) -> bytes:
        for rank in self._ranks:
            rank.count_evictions()
        return generate_latest(self._registry)

    def reset(self) -> None:
        self.table.clear()

    def restarted(self) -> None:
        self.reset()
        for labels in self.hit_rate.values:
            self.hit_rate.set(0, labels)

    def families(self) -> list[str]:
        return self.table.families()

    def drop(self, names: Iterable[str]) -> None:
        self.table.drop(names)


class SglangRank:
    def __init__(self, page: SglangPage, index: int, model: str) -> None:
        self._page = page
        ranks = {"dp_rank": str(index)} if page.options.dp > 1 else {}
        place = {"moe_ep_rank": "0", "pp_rank": "0", "tp_rank": "0"}
        self._engine = {"engine_type": "unified", "model_name": model}
        self._scheduler = {**self._engine, **place, **ranks}
        self._tree = labels_of(cache_type="UnifiedRadixCache", dp_rank=str(index), pp_rank="0", tp_rank="0")
        self._evicted = 0

    def watch(self, state: Watched) -> None:
        page, options = self._page, self._page.options
        labels = labels_of(**self._scheduler)
        claimed = options.claimed_block
        stated = options.units * options.unit
        page.max_tokens.set(stated, labels)
        page.page_size.set(claimed, labels)
        page.num_pages.set(stated // claimed, labels)
        page.context_len.set(options.context_len, labels)
        page.hit_rate.set(0, labels)
        for family, value in (
            (page.running, state.running),
            (page.queued, state.waiting),
            (page.usage, state.usage),
            (page.full_usage, state.usage),
            (page.used, state.held),
        ):
            family.read[labels] = value
        self._state = state

    def looked_up(self, sequence: Sequence) -> None:
        """Nothing: SGLang counts what is computed and what has ended."""

    def prefilled(self, sequence: Sequence, waited: float) -> None:
        page, cached, total = self._page, sequence.cached or 0, len(sequence.prompt)
        page.hit_rate.set(cached / total, labels_of(**self._scheduler))
        page.realtime.add(total - cached, labels_of(**self._scheduler, mode="prefill_compute"))
        page.realtime.add(cached, labels_of(**self._scheduler, mode="prefill_cache"))
        page.ttft.observe(waited, self._asked(sequence))

    def generated(self, sequence: Sequence, tokens: int) -> None:
        decoded = tokens - (sequence.emitted == tokens)  # the first one comes out of the prefill
        self._page.realtime.add(decoded, labels_of(**self._scheduler, mode="decode"))

    def ended(self, sequence: Sequence, reason: str, took: float) -> None:
        if reason == "abort":
            return
        page, labels = self._page, self._asked(sequence)
        page.prompt_tokens.add(len(sequence.prompt), labels)
        page.generation_tokens.add(sequence.emitted, labels)
        page.requests.add(1, labels)
        if sequence.cached:
            page.cached_tokens.add(sequence.cached, labels_of(**self._engine, cache_source="device"))
        page.e2e.observe(took, labels)

    def count_evictions(self) -> None:
        found = self._state.evicted()
        if found > self._evicted:
            self._page.evicted.add(found - self._evicted, self._tree)
        self._evicted = found

    def _asked(self, sequence: Sequence) -> Labels:
        return labels_of(**self._engine, is_streaming=str(sequence.streams).lower())


class SglangRoutes(Routes):
    owner = "sglang"
    tells = CachedTokens.SUM

    def table(self) -> list[Route]:
        shared = [route for route in super().table() if route.path not in ("/version", "/server_info")]
        facts = [get(path, self.server_info) for path in ("/server_info", "/get_server_info")]
        model = [get(path, self.model_info) for path in ("/model_info", "/get_model_info")]
        return [*shared, *facts, *model, get("/health_generate", self.health)]

    def reset_routes(self) -> list[Route]:
        if self.options.reset_does == "absent":
            return []
        return [get("/flush_cache", self.flush_cache), post("/flush_cache", self.flush_cache)]

    def error_body(self, error: RequestError) -> dict[str, Any]:
        return {"object": "error", **error.body["error"]}

    def rank(self, request: Request, body: Mapping[str, Any]) -> int | None:
        return native.read_rank(body, request.headers.get("x-data-parallel-rank"))

    async def flush_cache(self, request: Request) -> Response:
        """400 while requests run, after waiting ``timeout`` seconds for them to end."""
        try:
            seconds = float(request.query_params.get("timeout", "0"))
        except ValueError:
            raise RequestError("timeout: Input should be a valid number", status=422, param="timeout") from None
        clock = asyncio.get_running_loop().time
        deadline = clock() + seconds
        while not (done := self.engine.asked_to_reset()) and clock() < deadline and self.options.reset_does == "real":
            await asyncio.sleep(POLL_S)
        return Response(FLUSHED, 200 if done else 400, media_type="text/plain")

    async def model_info(self, request: Request) -> Response:
        return json_response(
            {"model_path": self.options.model, "is_generation": True, "preferred_sampling_params": None}
        )

    async def server_info(self, request: Request) -> Response:
        options = self.options
        tokens = options.units * options.unit
        state = {"effective_max_running_requests_per_dp": 256, "memory_usage": {"token_capacity": tokens}}
        return json_response(
            {
                "model_path": options.model,
                "served_model_name": options.model,
                "page_size": options.claimed_block,
                "dp_size": options.dp,
                "tp_size": 1,
                "load_balance_method": "round_robin",
                "radix_eviction_policy": "lru",
                "chunked_prefill_size": 8192,
                "disable_radix_cache": not options.prefix_caching,
                "enable_cache_report": options.usage_cached,
                "context_length": options.context_len,
                "max_total_num_tokens": tokens,
                "internal_states": [state] * options.dp,
                "version": options.traits.version,
            }
        )

    async def _body(self, request: Request) -> dict[str, Any]:
        """``cache_salt`` and ``extra_key`` separate caches together."""
        body = await super()._body(request)
        if request.url.path != "/generate" and isinstance(extra := body.get("extra_key"), str) and extra:
            body["cache_salt"] = f"{body.get('cache_salt') or ''}{extra}"
        return body


FACE = Face(SglangPage, SglangRoutes)
