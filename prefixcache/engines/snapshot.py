"""Scraping: one metrics page of one endpoint at one moment, or the reason why there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import httpx

from prefixcache.engines.detect import ADAPTERS
from prefixcache.engines.endpoint import Endpoint, metrics_location, redact
from prefixcache.engines.http import failure_kind, failure_text, proxy_failure
from prefixcache.engines.page import MetricsPage, parse_page
from prefixcache.errors import EnvironmentFailure

SCRAPE_TIMEOUT_S = 15.0
ENGINE_LABELS = tuple({adapter.engine_label for adapter in ADAPTERS})
"""The labels whose values are written down."""


@dataclass(frozen=True, slots=True)
class MetricsSource:
    """A metrics page's address. ``label`` is what files show; ``secrets`` are taken out of error texts."""

    url: str = field(repr=False)
    label: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All endpoints' pages of one moment: label → page, and label → error for those that gave none.

    ``unreachable``: those of the latter to which there was no connection: nobody works there.
    """

    pages: Mapping[str, MetricsPage]
    errors: Mapping[str, str] = field(default_factory=dict)
    unreachable: frozenset[str] = frozenset()

    @property
    def warnings(self) -> tuple[str, ...]:
        notes = [f"{label}: {text}" for label, page in self.pages.items() for text in page.warnings]
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
    client: httpx.AsyncClient, source: MetricsSource, wanted: Collection[str] | None = None
) -> MetricsPage:
    """Fetch and read one metrics page.

    Args:
        client: from ``prefixcache.engines.http.open_client``.
        source: where.
        wanted: names without ``_total`` to read; all by default.

    Raises:
        EnvironmentFailure: no answer, not 200, an HTML page, or no sample at all.
    """
    shown = source.label
    try:
        async with asyncio.timeout(SCRAPE_TIMEOUT_S):
            response = await client.get(source.url, headers=dict(source.headers))
    except (httpx.HTTPError, OSError, TimeoutError) as error:
        if (proxy := proxy_failure(error)) is not None:
            raise proxy from None
        raise _failure(
            f"the metrics page of {shown} cannot be read ({redact(failure_text(error), source.secrets)})"
        ) from None
    text = response.text
    if response.status_code != 200:
        raise _failure(f"the metrics page of {shown} answered HTTP {response.status_code}")
    if "text/html" in response.headers.get("content-type", "") or text.lstrip()[:1] == "<":
        raise _failure(f"the metrics page of {shown} is an HTML page, not Prometheus text")

    def clean(shown: str) -> str:
        return redact(shown, source.secrets)

    page = parse_page(text, wanted, clean)
    if not page.series and wanted is None:
        raise _failure(f"the metrics page of {shown} holds no metric")
    return page.cleaned(ENGINE_LABELS, clean)


def _failure(message: str) -> EnvironmentFailure:
    return EnvironmentFailure(
        message,
        field="metrics_url",
        remedy="Check that the server runs and give its metrics page with --metrics-url.",
        stage="scrape_metrics",
    )


async def take_snapshot(
    client: httpx.AsyncClient, sources: Sequence[MetricsSource], wanted: Collection[str] | None = None
) -> Snapshot:
    """All pages at once; an endpoint that fails is an entry in ``errors``, not an exception."""
    answers = await asyncio.gather(*(scrape(client, s, wanted) for s in sources), return_exceptions=True)
    pages: dict[str, MetricsPage] = {}
    errors: dict[str, str] = {}
    unreachable = set()
    for source, answer in zip(sources, answers, strict=True):
        if isinstance(answer, MetricsPage):
            pages[source.label] = answer
        elif isinstance(answer, EnvironmentFailure):
            errors[source.label] = answer.message
            if answer.__context__ is not None and failure_kind(answer.__context__) == "connect":
                unreachable.add(source.label)
        else:
            raise answer
    return Snapshot(pages, errors, frozenset(unreachable))
