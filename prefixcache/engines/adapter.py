"""What the product must know of a serving framework, as plain data: one ``Adapter`` a framework.

A new framework is one small module that builds an ``Adapter``; nothing else in the product names its metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from prefixcache.engines.page import MetricsPage, Sample


class Quantity(StrEnum):
    """Logical quantities; the frameworks' names for them are the adapters' business."""

    QUERIES = "queries"
    HITS = "hits"
    EXTERNAL_QUERIES = "external_queries"
    EXTERNAL_HITS = "external_hits"
    PROMPT_TOKENS = "prompt_tokens"
    PROMPT_COMPUTED = "prompt_tokens_computed"
    PROMPT_LOCAL_HIT = "prompt_tokens_local_hit"
    PROMPT_EXTERNAL = "prompt_tokens_external"
    GENERATION_TOKENS = "generation_tokens"
    PREEMPTIONS = "preemptions"
    EVICTED = "evicted_tokens"
    KV_USAGE = "kv_usage"
    RUNNING = "running"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Metric:
    """Where one quantity stands on a metrics page.

    Args:
        names: candidate names without ``_total``, newest first; the first one present counts.
        kind: a counter is differenced over an interval, a gauge is read at a moment.
        unit: unit of the values (``ratio`` is 0-1). A HELP text that says "blocks" overrides ``tokens``.
        scope: ``engine`` if each engine (DP rank) has its own series, ``endpoint`` if the page has one for all.
        labels: label values a series must have.
        born_with_first: the series does not exist until its first event, so once ``QUERIES`` has moved its absence
            means 0. Set only where that was seen on the real framework.
    """

    names: tuple[str, ...]
    kind: Literal["counter", "gauge"]
    unit: Literal["tokens", "blocks", "ratio", "requests", "events"]
    scope: Literal["engine", "endpoint"] = "engine"
    labels: Mapping[str, str] = field(default_factory=dict)
    born_with_first: bool = False

    def select(self, page: MetricsPage) -> tuple[Sample, ...]:
        """The page's samples of the first candidate name that it has, NaN left out (NaN is "not available")."""
        for name in self.names:
            found = tuple(
                s
                for s in page.named(name)
                if all(s.labels.get(k) == v for k, v in self.labels.items()) and s.value == s.value
            )
            if found:
                return found
        return ()


def whole(value: str | float | None) -> int | None:
    """A size that a server states, as a whole number above 0; None for anything else ("None", 0, infinity)."""
    try:
        number = int(float(value)) if value is not None else 0
    except (ValueError, OverflowError):
        return None
    return number if number > 0 else None


ResetAnswer = Literal["done", "unconfirmed", "busy", "absent", "refused"]


@dataclass(frozen=True, slots=True)
class ResetRoute:
    """How the prefix cache is emptied.

    Args:
        path: route, sent by POST.
        external_params: query parameters that also empty an external tier.
        judge: HTTP status and body → what happened.
        remedy: how a user gets the route where it is absent.
    """

    path: str
    external_params: Mapping[str, str]
    judge: Callable[[int, bytes], ResetAnswer]
    remedy: str


@dataclass(frozen=True, slots=True)
class CacheFacts:
    """What a metrics page tells about the cache; None where it does not.

    ``kv_tokens`` are the usable tokens of ONE engine (DP rank), ``hit_alignment`` a unit of matching that the server
    states beside its block size.
    """

    block_size: int | None = None
    num_blocks: int | None = None
    kv_tokens: int | None = None
    prefix_caching: bool | None = None
    hit_alignment: int | None = None
    max_model_len: int | None = None
    raw: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Adapter:
    """One serving framework.

    Args:
        name: short name, also in the files of a run.
        metric_prefix: how its metric names begin; the metrics page is recognised by it.
        metrics: logical quantity → where it stands.
        engine_label: label that tells the engines (DP ranks) of one page apart.
        cache_facts: reads the cache's facts from a page.
        reset: how the prefix cache is emptied.
        rank_header: request header that pins a DP rank.
        info_paths: routes that may hold server facts as JSON, first that answers counts.
        salt_field: field of the request body whose value separates caches (None: the framework has none). A server may
            be too old for it, so it is believed only after a probe.
    """

    name: str
    metric_prefix: str
    metrics: Mapping[Quantity, Metric]
    engine_label: str
    cache_facts: Callable[[MetricsPage], CacheFacts]
    reset: ResetRoute
    rank_header: str
    info_paths: tuple[str, ...] = ("/server_info",)
    salt_field: str | None = None

    def metric_names(self) -> frozenset[str]:
        """All names this adapter looks for, without ``_total``: what a cheap poll needs to parse."""
        return frozenset(name for metric in self.metrics.values() for name in metric.names)

    def value(self, quantity: Quantity, page: MetricsPage, engine: str | None = None) -> float | None:
        """A quantity on a page (of one engine, if named): series are summed, of ratios the largest counts.

        None if the page does not have it.
        """
        metric = self.metrics.get(quantity)
        if metric is None:
            return None
        values = [s.value for s in metric.select(page) if engine is None or s.labels.get(self.engine_label) == engine]
        if not values:
            return None
        return max(values) if metric.unit == "ratio" else sum(values)

    def engines(self, page: MetricsPage, quantities: Collection[Quantity] | None = None) -> tuple[str, ...]:
        """Engine labels seen on a page (on these quantities, if given), in numeric order where they are numbers."""
        seen = {
            s.labels[self.engine_label]
            for quantity, metric in self.metrics.items()
            if quantities is None or quantity in quantities
            for s in metric.select(page)
            if self.engine_label in s.labels
        }
        return tuple(sorted(seen, key=lambda e: (not e.isdigit(), int(e) if e.isdigit() else 0, e)))
