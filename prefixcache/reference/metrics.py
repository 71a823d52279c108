"""The ``/metrics`` page, in vLLM 0.32's names, labels, units and help texts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, ProcessCollector, generate_latest
from prometheus_client.registry import Collector

from prefixcache.reference.options import EngineOptions

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FINISH_REASONS = ("stop", "length", "abort", "error", "repetition")
SOURCES = ("local_compute", "local_cache_hit", "external_kv_transfer")
TTFT_BUCKETS = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
    *(20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
E2E_BUCKETS = (
    *(0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0),
    *(120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0),
)
EXTERNAL = "from KV connector cross-instance cache sharing, in terms of number of"


class RankMetrics:
    """The series of one rank, already bound to their labels; all exist from the start, as zeros."""

    def __init__(self, metrics: EngineMetrics, engine: str, model: str) -> None:
        self._labels = {"model_name": model, "engine": engine}
        self.bind(metrics)
        self._gauges = [gauge.labels(**self._labels) for gauge in (metrics.running, metrics.waiting, metrics.usage)]

    def bind(self, metrics: EngineMetrics) -> None:
        """Take hold of the series anew, after they have been cleared."""
        labels = self._labels
        self.queries = metrics.queries.labels(**labels)
        self.hits = metrics.hits.labels(**labels)
        self.prompt_tokens = metrics.prompt_tokens.labels(**labels)
        self.cached_tokens = metrics.cached_tokens.labels(**labels)
        self.generation_tokens = metrics.generation_tokens.labels(**labels)
        self.by_source = {source: metrics.by_source.labels(**labels, source=source) for source in SOURCES}
        self.finished = {why: metrics.finished.labels(**labels, finished_reason=why) for why in FINISH_REASONS}
        self.ttft = metrics.ttft.labels(**labels)
        self.e2e = metrics.e2e.labels(**labels)
        for never in (metrics.external_queries, metrics.external_hits, metrics.preemptions):
            never.labels(**labels)

    def watch(self, running: Callable[[], float], waiting: Callable[[], float], usage: Callable[[], float]) -> None:
        """Where the gauges read their values at each scrape."""
        for gauge, value in zip(self._gauges, (running, waiting, usage), strict=True):
            gauge.set_function(value)


class EngineMetrics:
    """All metrics of an engine in a registry of its own, so that several engines fit into one process."""

    def __init__(self, options: EngineOptions) -> None:
        self.registry = registry = CollectorRegistry()
        self._process = _Process()
        registry.register(self._process)
        self._ranks: list[RankMetrics] = []
        self._counters: list[Counter | Histogram] = []
        self._dropped: frozenset[str] = frozenset()
        names = ("model_name", "engine")

        def counter(name: str, text: str, *more: str) -> Counter:
            made = Counter(f"vllm:{name}", text, (*names, *more), registry=registry)
            self._counters.append(made)
            return made

        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"vllm:{name}", text, names, registry=registry)

        self.queries = counter("prefix_cache_queries", "Prefix cache queries, in terms of number of queried tokens.")
        self.hits = counter("prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.")
        self.external_queries = counter(
            "external_prefix_cache_queries", f"External prefix cache queries {EXTERNAL} queried tokens."
        )
        self.external_hits = counter(
            "external_prefix_cache_hits", f"External prefix cache hits {EXTERNAL} cached tokens."
        )
        self.preemptions = counter("num_preemptions", "Cumulative number of preemption from the engine.")
        self.prompt_tokens = counter("prompt_tokens", "Number of prefill tokens processed.")
        self.by_source = counter("prompt_tokens_by_source", "Number of prompt tokens by source.", "source")
        self.cached_tokens = counter("prompt_tokens_cached", "Number of cached prompt tokens (local + external).")
        self.generation_tokens = counter("generation_tokens", "Number of generation tokens processed.")
        self.finished = counter("request_success", "Count of successfully processed requests.", "finished_reason")
        self.running = gauge("num_requests_running", "Number of requests in model execution batches.")
        self.waiting = gauge("num_requests_waiting", "Number of requests waiting to be processed.")
        self.usage = gauge("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.")
        self.ttft = Histogram(
            "vllm:time_to_first_token_seconds",
            "Histogram of time to first token in seconds.",
            names,
            buckets=TTFT_BUCKETS,
            registry=registry,
        )
        self.e2e = Histogram(
            "vllm:e2e_request_latency_seconds",
            "Histogram of e2e request latency in seconds.",
            names,
            buckets=E2E_BUCKETS,
            registry=registry,
        )
        self._counters += [self.ttft, self.e2e]
        _config_info(options, registry)

    def rank(self, index: int, model: str) -> RankMetrics:
        made = RankMetrics(self, str(index), model)
        self._ranks.append(made)
        return made

    def page(self) -> bytes:
        return generate_latest(_Without(self.registry, self._dropped))

    def reset(self) -> None:
        """All counters and histograms begin at 0 again; gauges are what they are."""
        for counter in self._counters:
            counter.clear()
        for rank in self._ranks:
            rank.bind(self)

    def restarted(self) -> None:
        """As of a process that has just begun."""
        self.reset()
        self._process.started = time.time()

    def families(self) -> list[str]:
        """Names of all families, counters without ``_total``."""
        return [family.name for family in self.registry.collect()]

    def drop(self, names: Iterable[str]) -> None:
        """Families, with or without ``_total``, that the page shows no longer."""
        self._dropped |= {name.removesuffix("_total") for name in names}


class _Process(Collector):
    """Figures of this process; ``started``: when it says it began, where that is not the truth."""

    def __init__(self) -> None:
        self._true = ProcessCollector(registry=None)
        self.started: float | None = None

    def collect(self) -> Iterable[Metric]:
        for family in self._true.collect():
            if family.name == "process_start_time_seconds" and self.started is not None:
                family.samples = [sample._replace(value=self.started) for sample in family.samples]
            yield family


class _Without(Collector):
    """A registry without some families."""

    def __init__(self, registry: CollectorRegistry, names: frozenset[str]) -> None:
        self._registry = registry
        self._names = names

    def collect(self) -> Iterable[Metric]:
        return (family for family in self._registry.collect() if family.name not in self._names)


def _config_info(options: EngineOptions, registry: CollectorRegistry) -> None:
    """``vllm:cache_config_info``: a constant 1 whose labels are the facts, one series a rank."""
    facts = {
        "block_size": options.block_size,
        "cache_dtype": "auto",
        "effective_attention_block_size": options.block_size,
        "enable_prefix_caching": True,
        "hash_block_size": None,
        "is_attention_free": False,
        "kv_cache_max_concurrency": options.num_blocks * options.block_size / options.context_len,
        "kv_cache_size_tokens": options.num_blocks * options.block_size,
        "num_cpu_blocks": None,
        "num_gpu_blocks": options.num_blocks,
        "num_gpu_blocks_override": options.num_blocks,
        "prefix_caching_hash_algo": "blake2b",
        "sliding_window": None,
        "user_specified_block_size": True,
    }
    info = Gauge(
        "vllm:cache_config_info", "Information of the LLMEngine CacheConfig", (*facts, "engine"), registry=registry
    )
    for rank in range(options.dp):
        info.labels(**{name: str(value) for name, value in facts.items()}, engine=str(rank)).set(1)
