"""The ``/metrics`` page, in vLLM 0.32's names, labels, units and help texts."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, ProcessCollector, generate_latest
from prometheus_client.registry import Collector

from prefixcache.reference.options import EngineOptions
from prefixcache.reference.sequence import Sequence
from prefixcache.reference.series import Watched

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


class RegistryPage:
    """A page of prometheus_client with a registry of its own, so that several engines fit into one process.

    Args:
        options: the engine.
        labels: names of the labels that all its families have.

    Attributes:
        unit: tokens of a block.
    """

    content_type = CONTENT_TYPE
    prompt_tokens: Counter
    generation_tokens: Counter
    preemptions: Counter
    finished: Counter
    running: Gauge
    waiting: Gauge
    usage: Gauge
    ttft: Histogram
    e2e: Histogram

    def __init__(self, options: EngineOptions, labels: tuple[str, ...] = ("model_name", "engine")) -> None:
        self.unit, self.prefix_caching = options.unit, options.prefix_caching
        self.registry = registry = CollectorRegistry()
        self._process = _Process()
        registry.register(self._process)
        self._names = labels
        self._ranks: list[RankMetrics] = []
        self._counters: list[Counter | Histogram] = []
        self._dropped: frozenset[str] = frozenset()

    def counter(self, name: str, text: str, *more: str) -> Counter:
        made = Counter(f"vllm:{name}", text, (*self._names, *more), registry=self.registry)
        self._counters.append(made)
        return made

    def gauge(self, name: str, text: str) -> Gauge:
        return Gauge(f"vllm:{name}", text, self._names, registry=self.registry)

    def histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        made = Histogram(f"vllm:{name}", text, self._names, buckets=buckets, registry=self.registry)
        self._counters.append(made)
        return made

    def info(self, facts: Mapping[str, object], engines: Iterable[str] | None = None) -> None:
        """``vllm:cache_config_info``: a constant 1 whose labels are the facts; one series for each engine named."""
        text = "Information of the LLMEngine CacheConfig"
        more = () if engines is None else ("engine",)
        info = Gauge("vllm:cache_config_info", text, (*facts, *more), registry=self.registry)
        labels = {name: str(value) for name, value in facts.items()}
        if engines is None:
            info.labels(**labels).set(1)
        for engine in engines or ():
            info.labels(**labels, engine=engine).set(1)

    def page(self) -> bytes:
        return generate_latest(_Without(self.registry, self._dropped))

    def reset(self) -> None:
        """All counters and histograms begin at 0 again; gauges are what they are."""
        for counter in self._counters:
            counter.clear()
        for rank in self._ranks:
            rank.bind()

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


class RankMetrics(ABC):
    """The series of one rank, already bound to their labels; all exist from the start, as zeros.

    Here what all versions of vLLM have; what they say of the cache is added by each.
    """

    reasons: tuple[str, ...] = FINISH_REASONS

    def __init__(self, page: RegistryPage, labels: Mapping[str, str]) -> None:
        self._labels = dict(labels)
        self._page = page
        self.bind()

    def bind(self) -> None:
        """Take hold of the series, anew after they have been cleared."""
        page, labels = self._page, self._labels
        self._prompt_tokens = page.prompt_tokens.labels(**labels)
        self._generation_tokens = page.generation_tokens.labels(**labels)
        self._finished = {why: page.finished.labels(**labels, finished_reason=why) for why in self.reasons}
        self._ttft = page.ttft.labels(**labels)
        self._e2e = page.e2e.labels(**labels)
        page.preemptions.labels(**labels)

    def watch(self, state: Watched) -> None:
        page = self._page
        gauges = (page.running, state.running), (page.waiting, state.waiting), (page.usage, state.usage)
        for gauge, value in gauges:
            gauge.labels(**self._labels).set_function(value)

    @abstractmethod
    def looked_up(self, sequence: Sequence) -> None:
        """A request was admitted: what it asked the cache for and found there."""

    def prefilled(self, sequence: Sequence, waited: float) -> None:
        self._prompt_tokens.inc(len(sequence.prompt))
        self._ttft.observe(waited)

    def generated(self, sequence: Sequence, tokens: int) -> None:
        self._generation_tokens.inc(tokens)

    def ended(self, sequence: Sequence, reason: str, took: float) -> None:
        self._finished[reason].inc()
        if reason != "abort":
            self._e2e.observe(took)


class VllmRank(RankMetrics):
    """As of vLLM 0.32: in tokens."""

    _page: EngineMetrics

    def bind(self) -> None:
        super().bind()
        page, labels = self._page, self._labels
        self._queries = page.queries.labels(**labels)
        self._hits = page.hits.labels(**labels)
        self._cached_tokens = page.cached_tokens.labels(**labels)
        self._by_source = {source: page.by_source.labels(**labels, source=source) for source in SOURCES}
        for never in (page.external_queries, page.external_hits):
            never.labels(**labels)

    def looked_up(self, sequence: Sequence) -> None:
        if self._page.prefix_caching:
            self._queries.inc(len(sequence.prompt))
            self._hits.inc(sequence.cached or 0)

    def prefilled(self, sequence: Sequence, waited: float) -> None:
        super().prefilled(sequence, waited)
        cached = sequence.cached or 0
        self._cached_tokens.inc(cached)
        self._by_source["local_cache_hit"].inc(cached)
        self._by_source["local_compute"].inc(len(sequence.prompt) - cached)


class EngineMetrics(RegistryPage):
    """All metrics of an engine, as of vLLM 0.32."""

    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options)
        counter, gauge = self.counter, self.gauge
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
        self.ttft = self.histogram(
            "time_to_first_token_seconds", "Histogram of time to first token in seconds.", TTFT_BUCKETS
        )
        self.e2e = self.histogram(
            "e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", E2E_BUCKETS
        )
        self.info(_cache_config(options), map(str, range(options.dp)))

    def rank(self, index: int, model: str) -> RankMetrics:
        made = VllmRank(self, {"model_name": model, "engine": str(index)})
        self._ranks.append(made)
        return made


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


def _cache_config(options: EngineOptions) -> dict[str, object]:
    tokens = options.num_blocks * options.block
    return {
        "block_size": options.claimed_block,
        "cache_dtype": "auto",
        "effective_attention_block_size": options.claimed_block,
        "enable_prefix_caching": options.prefix_caching,
        "hash_block_size": None,
        "is_attention_free": False,
        "kv_cache_max_concurrency": tokens / options.context_len,
        "kv_cache_size_tokens": tokens,
        "num_cpu_blocks": None,
        "num_gpu_blocks": options.num_blocks,
        "num_gpu_blocks_override": options.num_blocks,
        "prefix_caching_hash_algo": "blake2b",
        "sliding_window": None,
        "user_specified_block_size": True,
    }
