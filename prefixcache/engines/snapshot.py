"""Scraping: one metrics page of one endpoint at one moment, or the reason why there is none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import httpx

from prefixcache.engines.bounded import get_bounded
from prefixcache.engines.detect import ADAPTERS
from prefixcache.engines.endpoint import Endpoint, metrics_location, redact
from prefixcache.engines.http import failure_kind, failure_text, way_failure
from prefixcache.engines.page import TOO_LARGE, MetricsPage, page_text, parse_page
from prefixcache.engines.prometheus import FRESH_WITHIN_S, PrometheusServer, fresh_page, latest_page
from prefixcache.errors import EnvironmentFailure

SCRAPE_TIMEOUT_S = 15.0
ENGINE_LABELS = tuple(sorted({adapter.engine_label for adapter in ADAPTERS}))
"""The labels whose values are written down."""
ALL_NAMES = frozenset(name for adapter in ADAPTERS for name in adapter.metric_names()) | {
    "vllm:cache_config_info",
    "sglang:page_size",
    "sglang:num_pages",
    "sglang:max_total_num_tokens",
    "sglang:context_len",
    "process_start_time_seconds",
}
"""What Prometheus is asked for where everything is wanted."""


@dataclass(frozen=True, slots=True)
class MetricsSource:
    """A metrics page's address, or a target of a Prometheus server.

    ``label`` is what files show; ``secrets`` are taken out of error texts; ``model``: only series of this model, and
    those that name none; ``names``: metrics that Prometheus is asked for beside the known frameworks'.
    """

    url: str = field(repr=False)
    label: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    model: str | None = None
    prometheus: PrometheusServer | None = None
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All endpoints' pages of one moment: label → page, and label → error for those that gave none.

    ``unreachable``: those of the latter to which there was no connection: nobody works there. ``read_s``: seconds of
    this process that reading the pages took, waiting not counted. ``files``: label → the file that a page was saved in;
    ``flag``: what named these pages, or their moment.
    """

    pages: Mapping[str, MetricsPage]
    errors: Mapping[str, str] = field(default_factory=dict)
    unreachable: frozenset[str] = frozenset()
    read_s: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)
    flag: str = ""

    def called(self, label: str) -> str:
        """A page as messages name it: of two saved pages of one server each is called by its own file."""
        return self.files.get(label, label)

    @property
    def warnings(self) -> tuple[str, ...]:
        notes = [f"{self.called(label)}: {text}" for label, page in self.pages.items() for text in page.warnings]
        return (*notes, *self.errors.values())  # an error names its page itself


def metrics_source(url: str, api_key: str | None = None) -> MetricsSource:
    """Address of a metrics page from a user's URL (``/metrics`` if it has no path of its own)."""
    return source_of(*metrics_location(url), api_key)


def source_of(endpoint: Endpoint, path: str = "/metrics", api_key: str | None = None) -> MetricsSource:
    """An endpoint's own metrics page; its label is the endpoint's base URL."""
    label = endpoint.base if path == "/metrics" else f"{endpoint.base}{path}"
    secrets = (*endpoint.secrets, *((api_key,) if api_key else ()))
    return MetricsSource(endpoint.url(path), label, endpoint.headers(api_key), secrets)


async def scrape(
    client: httpx.AsyncClient, source: MetricsSource, wanted: Collection[str] | None = None, *, fresh: bool = True
) -> MetricsPage:
    """Fetch and read one metrics page.

    Args:
        client: from ``prefixcache.engines.http.open_client``.
        source: where.
        wanted: names without ``_total`` to read; all by default.
        fresh: a target of Prometheus is read when it has been scraped after this call, which takes up to a scrape
            interval; else its latest values do.

    Raises:
        EnvironmentFailure: no answer, not 200, an HTML page, or no sample at all.
    """
    page, _ = await _read(client, source, wanted, fresh)
    return page


async def _read(
    client: httpx.AsyncClient, source: MetricsSource, wanted: Collection[str] | None, fresh: bool
) -> tuple[MetricsPage, float]:
    """The page, and the seconds that reading it took."""
    if source.prometheus is not None:
        names = (ALL_NAMES if wanted is None else frozenset(wanted)) | source.names
        if fresh:
            page = await fresh_page(client, source.prometheus, source.url, names, FRESH_WITHIN_S)
        else:
            page = await latest_page(client, source.prometheus, source.url, names)
        body = b""
    else:
        body = await _fetch(client, source)
    began = time.perf_counter()
    if source.prometheus is None:
        page = _parsed(body, source, wanted)
    if source.model is not None:
        page = page.of_model(source.model)
    page = page.cleaned(ENGINE_LABELS, lambda shown: redact(shown, source.secrets))
    return page, time.perf_counter() - began


async def _fetch(client: httpx.AsyncClient, source: MetricsSource) -> bytes:
    shown = source.label
    try:
        async with asyncio.timeout(SCRAPE_TIMEOUT_S):
            response, body = await get_bounded(client, source.url, source.headers)
    except (httpx.HTTPError, OSError, TimeoutError) as error:
        if (way := way_failure(error)) is not None:
            raise way from None
        raise _failure(
            f"the metrics page of {shown} cannot be read ({redact(failure_text(error), source.secrets)})"
        ) from None
    if response.status_code != 200:
        raise _failure(f"the metrics page of {shown} answered HTTP {response.status_code}")
    if "text/html" in response.headers.get("content-type", ""):
        raise _failure(f"the metrics page of {shown} is an HTML page, not Prometheus text")
    if body is None:
        raise _failure(f"the metrics page of {shown} cannot be read: {TOO_LARGE}")
    return body


def _parsed(body: bytes, source: MetricsSource, wanted: Collection[str] | None) -> MetricsPage:
    try:
        text = page_text(body)
    except ValueError as error:
        raise _failure(f"the metrics page of {source.label} cannot be read: {error}") from None
    if text.lstrip()[:1] == "<":
        raise _failure(f"the metrics page of {source.label} is an HTML page, not Prometheus text")
    page = parse_page(text, wanted, lambda shown: redact(shown, source.secrets))
    if not page.series and wanted is None:
        raise _failure(f"the metrics page of {source.label} holds no metric")
    return page


def _failure(message: str) -> EnvironmentFailure:
    return EnvironmentFailure(
        message,
        field="metrics_url",
        remedy="Check that the server runs and give its metrics page with --metrics-url.",
        stage="scrape_metrics",
    )


async def take_snapshot(
    client: httpx.AsyncClient,
    sources: Sequence[MetricsSource],
    wanted: Collection[str] | None = None,
    *,
    fresh: bool = True,
) -> Snapshot:
    """All pages at once; an endpoint that fails is an entry in ``errors``, not an exception.

    Args: as of :func:`scrape`.
    """
    answers = await asyncio.gather(*(_read(client, s, wanted, fresh) for s in sources), return_exceptions=True)
    pages: dict[str, MetricsPage] = {}
    errors: dict[str, str] = {}
    unreachable = set()
    spent = 0.0
    for source, answer in zip(sources, answers, strict=True):
        if isinstance(answer, tuple):
            pages[source.label], seconds = answer
            spent += seconds
        elif isinstance(answer, EnvironmentFailure):
            errors[source.label] = answer.message
            if answer.__context__ is not None and failure_kind(answer.__context__) == "connect":
                unreachable.add(source.label)
        else:
            raise answer
    return Snapshot(pages, errors, frozenset(unreachable), spent)
