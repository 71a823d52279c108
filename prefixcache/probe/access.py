"""How a probe gets at its server: key, headers and what must not be shown, metrics pages, the framework's adapter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import httpx

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.detect import ADAPTERS, adapter_on, detect_adapter, known_adapter, named_adapter
from prefixcache.engines.endpoint import Endpoint, parse_endpoint, redact, url_secrets
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.scheduler import CONFIG, PARAMETERS
from prefixcache.engines.snapshot import MetricsSource, metrics_source, source_of
from prefixcache.errors import InputError
from prefixcache.load.api_key import api_key_of
from prefixcache.probe.clock import Clock
from prefixcache.probe.findings import ProbeReport
from prefixcache.probe.options import ProbeOptions
from prefixcache.probe.service import Service


def service_of(http: httpx.AsyncClient, clock: Clock, endpoint: Endpoint, options: ProbeOptions) -> Service:
    """The server as it will be asked.

    Raises:
        InputError: a key that no header can carry.
    """
    key = api_key_of(options.api_key)
    headers = httpx.Headers(endpoint.headers(key))
    headers.update(options.sending.headers)
    sources, secrets = _sources(options, key), _secrets(options, key)
    service = Service(http, clock, endpoint, sources, options.request_timeout, headers, secrets, key)
    service.rank_field = options.sending.rank_field
    return service


def choose_adapter(service: Service, pages: Sequence[MetricsPage], named: Adapter | None, report: ProbeReport) -> None:
    """The adapter that the user names, else the one that a page asks for; without either, vLLM's routes are tried."""
    service.page = pages[0] if pages else MetricsPage({})
    service.named = named is not None
    if named is not None:
        service.adapter = named
        known = [page for page in pages if named.owns(page)]
        service.page = known[0] if known else service.page
        service.recognised = bool(known)
        if not known:
            other = next((found for page in pages if (found := known_adapter(page)) is not None), None)
            if other is None:
                report.warn("warn.other_metrics", engine=named.name)
            else:
                report.warn("warn.of_another", engine=named.name, other=other.traits.title)
        return
    for page in pages:
        try:
            service.adapter = detect_adapter(page, clean=lambda text: redact(text, service.secrets))
        except InputError:
            continue
        service.recognised, service.page = True, page
        return
    report.warn("warn.no_metrics")
    service.adapter = _by_name("vllm")


async def read_info(service: Service) -> None:
    """The info route's whole answer: more of it is looked at than is ever shown. SGLang without a metrics page is
    known by it, and vLLM-Ascend by the device that it tells of."""
    for path in dict.fromkeys((*service.adapter.info_paths, "/server_info", "/get_server_info")):
        answer = await service.get(path)
        if answer.ok and CONFIG in answer.body:
            answer = await service.get(path, PARAMETERS)
        if answer.ok and answer.body:
            service.raw_info = dict(answer.body)
            break
    if not service.named and not service.paged and "page_size" in service.raw_info:
        service.adapter = _by_name("sglang")
    if not service.named:
        service.adapter = adapter_on(service.adapter, service.facts.device)


def adapter_named(options: ProbeOptions) -> Adapter | None:
    """The framework that the user names; None: its metrics page tells.

    Raises:
        InputError: there is none of that name.
    """
    return named_adapter(options.engine)


def _by_name(name: str) -> Adapter:
    return next(adapter for adapter in ADAPTERS if adapter.name == name)


def _secrets(options: ProbeOptions, key: str | None) -> tuple[str, ...]:
    """Everything that no line may show, whoever says it."""
    proxy = options.connection.proxy
    urls = (options.url, *options.metrics_urls, *((proxy,) if proxy else ()))
    return (*((key,) if key else ()), *url_secrets(urls), *options.sending.secrets)


def _sources(options: ProbeOptions, key: str | None) -> list[MetricsSource]:
    """Metrics pages, each once: a page read twice would be counted twice."""
    secrets = _secrets(options, key)
    if options.metrics_urls:
        found = [metrics_source(url, key) for url in options.metrics_urls]
    else:
        found = [source_of(parse_endpoint(options.url), api_key=key)]
    return list({source.label: replace(source, secrets=secrets) for source in found}.values())
