"""The first V1 engines of vLLM (to 0.8): prefix-cache counters in BLOCKS, and their help texts say so.

A prompt of n tokens queries the blocks it could hit, (n - 1) // block size. Facts: vllm/v1/metrics/loggers.py and
vllm/v1/core/kv_cache_manager.py of 0.8.
"""

from __future__ import annotations

from prefixcache.reference.dialects.face import Face
from prefixcache.reference.dialects.vllm_v0 import OldRoutes, cache_config
from prefixcache.reference.metrics import E2E_BUCKETS, TTFT_BUCKETS, RankMetrics, RegistryPage
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.sequence import Sequence


class EarlyPage(RegistryPage):
    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options)
        counter, gauge = self.counter, self.gauge
        self.running = gauge("num_requests_running", "Number of requests in model execution batches.")
        self.waiting = gauge("num_requests_waiting", "Number of requests waiting to be processed.")
        self.usage = gauge("gpu_cache_usage_perc", "GPU KV-cache usage. 1 means 100 percent usage.")
        self.queries = counter(
            "gpu_prefix_cache_queries", "GPU prefix cache queries, in terms of number of queried blocks."
        )
        self.hits = counter("gpu_prefix_cache_hits", "GPU prefix cache hits, in terms of number of cached blocks.")
        self.preemptions = counter("num_preemptions", "Cumulative number of preemption from the engine.")
        self.prompt_tokens = counter("prompt_tokens", "Number of prefill tokens processed.")
        self.generation_tokens = counter("generation_tokens", "Number of generation tokens processed.")
        self.finished = counter("request_success", "Count of successfully processed requests.", "finished_reason")
        self.ttft = self.histogram(
            "time_to_first_token_seconds", "Histogram of time to first token in seconds.", TTFT_BUCKETS
        )
        self.e2e = self.histogram(
            "e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", E2E_BUCKETS
        )
        self.info(cache_config(options))

    def rank(self, index: int, model: str) -> RankMetrics:
        made = EarlyRank(self, {"model_name": model, "engine": str(index)})
        self._ranks.append(made)
        return made


class EarlyRank(RankMetrics):
    reasons = ("stop", "length", "abort")
    _page: EarlyPage

    def bind(self) -> None:
        super().bind()
        self._queries = self._page.queries.labels(**self._labels)
        self._hits = self._page.hits.labels(**self._labels)

    def looked_up(self, sequence: Sequence) -> None:
        if self._page.prefix_caching:
            self._queries.inc((len(sequence.prompt) - 1) // self._page.unit)
            self._hits.inc((sequence.cached or 0) // self._page.unit)


FACE = Face(EarlyPage, OldRoutes)
