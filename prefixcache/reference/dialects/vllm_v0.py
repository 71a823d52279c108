"""vLLM's V0 engine (up to 0.10): a hit rate since the start instead of counters, and no data-parallel ranks.

The rate is one of blocks and -1 until the first prompt of a block or more. Facts: vllm/engine/metrics.py and
vllm/core/block/prefix_caching_block.py of 0.7. There is no ``cache_salt``, and ``POST /reset_prefix_cache`` answers an
empty 200 whatever it did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prefixcache.reference.dialects.face import Face
from prefixcache.reference.metrics import E2E_BUCKETS, TTFT_BUCKETS, RankMetrics, RegistryPage
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.routes import Routes
from prefixcache.reference.sequence import Sequence
from prefixcache.reference.series import Watched


class V0Page(RegistryPage):
    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options, ("model_name",))
        counter, gauge = self.counter, self.gauge
        self.running = gauge("num_requests_running", "Number of requests currently running on GPU.")
        self.swapped = gauge("num_requests_swapped", "Number of requests swapped to CPU.")
        self.waiting = gauge("num_requests_waiting", "Number of requests waiting to be processed.")
        self.usage = gauge("gpu_cache_usage_perc", "GPU KV-cache usage. 1 means 100 percent usage.")
        self.cpu_usage = gauge("cpu_cache_usage_perc", "CPU KV-cache usage. 1 means 100 percent usage.")
        self.cpu_rate = gauge("cpu_prefix_cache_hit_rate", "CPU prefix cache block hit rate.")
        self.rate = gauge("gpu_prefix_cache_hit_rate", "GPU prefix cache block hit rate.")
        self.preemptions = counter("num_preemptions", "Cumulative number of preemption from the engine.")
        self.prompt_tokens = counter("prompt_tokens", "Number of prefill tokens processed.")
        self.generation_tokens = counter("generation_tokens", "Number of generation tokens processed.")
        self.ttft = self.histogram(
            "time_to_first_token_seconds", "Histogram of time to first token in seconds.", TTFT_BUCKETS
        )
        self.e2e = self.histogram(
            "e2e_request_latency_seconds", "Histogram of end to end request latency in seconds.", E2E_BUCKETS
        )
        self.finished = counter("request_success", "Count of successfully processed requests.", "finished_reason")
        self.info(cache_config(options))

    def rank(self, index: int, model: str) -> RankMetrics:
        made = V0Rank(self, {"model_name": model})
        self._ranks.append(made)
        return made


class V0Rank(RankMetrics):
    reasons = ("stop", "length", "abort")
    _page: V0Page

    def bind(self) -> None:
        super().bind()
        self._queried = self._hit = 0

    def watch(self, state: Watched) -> None:
        super().watch(state)
        page, labels = self._page, self._labels
        page.rate.labels(**labels).set_function(lambda: self._hit / self._queried if self._queried else -1.0)
        page.cpu_rate.labels(**labels).set(-1)
        for never in (page.swapped, page.cpu_usage):
            never.labels(**labels).set(0)

    def looked_up(self, sequence: Sequence) -> None:
        if self._page.prefix_caching:
            self._queried += len(sequence.prompt) // self._page.unit
            self._hit += (sequence.cached or 0) // self._page.unit


def cache_config(options: EngineOptions) -> dict[str, object]:
    """Labels of ``vllm:cache_config_info`` before it told of ranks."""
    return {
        "block_size": options.claimed_block,
        "cache_dtype": "auto",
        "calculate_kv_scales": False,
        "cpu_offload_gb": 0,
        "enable_prefix_caching": options.prefix_caching,
        "gpu_memory_utilization": 0.9,
        "is_attention_free": False,
        "num_cpu_blocks": 0,
        "num_gpu_blocks": options.num_blocks,
        "num_gpu_blocks_override": options.num_blocks,
        "sliding_window": None,
        "swap_space_bytes": 0,
    }


class OldRoutes(Routes):
    """Of versions whose reset says nothing, that pin no rank and tell no facts."""

    def table(self) -> list[Route]:
        return [route for route in super().table() if route.path not in ("/server_info", "/generate")]

    def rank(self, request: Request, body: Mapping[str, Any]) -> int | None:
        return None

    async def reset_prefix_cache(self, request: Request) -> Response:
        self.engine.asked_to_reset()
        return Response()

    async def _body(self, request: Request) -> dict[str, Any]:
        """Fields that such a version does not know are not looked at."""
        body = await super()._body(request)
        if not self.options.salted:
            body.pop("cache_salt", None)
        return body


FACE = Face(V0Page, OldRoutes)
