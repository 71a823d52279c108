"""Findings that need no prompt of their own: who the server says it is, its usage beside its counters, its diaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from prefixcache.engines.frameworks.vllm_ascend import VLLM_ASCEND
from prefixcache.probe.findings import Finding, ProbeReport, Said, Source, said, unknown
from prefixcache.probe.line import Line, Refused
from prefixcache.probe.reading import Reading
from prefixcache.probe.service import Service

EVENTS = "enable_kv_cache_events"
LENGTHS = ("max_model_len", "context_length", "max_total_tokens")
SWITCH, TRACES = "enable_trace", "otlp_traces_endpoint"


def find_identity(service: Service, report: ProbeReport) -> None:
    """Findings ``framework``, ``version``, ``models`` and ``max_model_len``."""
    facts, name = service.facts, service.adapter.name
    if facts.engine_name and facts.is_reference:
        report.add(Finding("framework", facts.engine_name, "stated", (said("who.reference", adapter=name),)))
    elif service.named:
        report.add(Finding("framework", name, "derived", (said("who.named"),)))
    elif service.recognised:
        device = (said("who.by_device", device=facts.device),) if name == VLLM_ASCEND.name else ()
        report.add(Finding("framework", name, "derived", (said("who.by_metrics"), *device)))
    elif service.raw_info:
        report.add(Finding("framework", name, "derived", (said("who.by_info"),)))
    else:
        report.add(unknown("framework", "who.untold"))
    for field, value in (("version", facts.version), ("max_model_len", longest(service))):
        report.add(Finding(field, value, "stated") if value is not None else unknown(field, "who.not_said"))
    models = list(facts.models)
    report.add(Finding("models", models, "stated") if models else unknown("models", "who.not_said"))


def longest(service: Service) -> int | None:
    """Tokens of a prompt and its output together, wherever the server tells them."""
    if service.facts.max_model_len is not None:
        return service.facts.max_model_len
    models = service.raw_info.get("models")  # MindIE's /info
    rows = [service.raw_info, *(models if isinstance(models, list) else ())]
    for row in rows:
        for name in LENGTHS:
            value = row.get(name) if isinstance(row, Mapping) else None
            if type(value) is int and value > 0:
                return value
    return None


async def find_usage(line: Line, report: ProbeReport, certain: int | None = None) -> None:
    """Finding ``usage_cached_tokens`` from all prompts that were sent: ``present``, ``sometimes``, ``null``,
    ``in_streams`` (only there), ``zero`` while the counters tell hits, or ``differs`` from them.

    Args:
        certain: pieces of a prompt that hits when it is sent again; None: not known.
    """
    if line.readings and not line.streamed and certain and all(reading.usage is None for reading in line.readings):
        await _ask_a_stream(line, certain)
    readings: Sequence[Reading] = line.readings
    told = [r for r in readings if r.usage is not None]
    if not told:
        code = "usage.null" if readings else "usage.unasked"
        source: Source = "measured" if readings else "unknown"
        report.add(Finding("usage_cached_tokens", "null" if readings else None, source, (said(code),), readings[-3:]))
        return
    both = [r for r in told if r.counted is not None and not r.foreign]
    off = [r for r in both if r.disagrees] if not line.prefer_usage else []
    if not off:
        text, value = _agreeing(line, told, both)
        report.add(Finding("usage_cached_tokens", value, "measured", (text,), told[-3:]))
        return
    worst = max(off, key=lambda r: abs((r.usage or 0) - (r.counted or 0)))
    figures = {"usage": worst.usage, "counted": f"{worst.counted:,.0f}", "length": worst.length, "count": len(off)}
    zero = all(not r.usage for r in told)
    code = "zero" if zero else "differs"
    report.add(Finding("usage_cached_tokens", code, "measured", (said(f"usage.{code}", **figures),), off))
    report.contradict(f"usage_{code}", **figures)


def _agreeing(line: Line, told: Sequence[Reading], both: Sequence[Reading]) -> tuple[Said, str]:
    if all(reading.streamed for reading in told):
        best = max(told, key=lambda reading: reading.usage or 0)
        return said("usage.in_streams", usage=best.usage, length=best.length), "in_streams"
    code = "usage.agrees" if both and not line.prefer_usage else "usage.alone"
    text = said(code, answers=len(told), of=len(line.readings), both=len(both))
    return text, "present" if len(told) == len(line.readings) else "sometimes"


async def _ask_a_stream(line: Line, certain: int) -> None:
    """Send a cached prompt for a streamed answer: some servers tell cached tokens only there."""
    prompt = line.pieces.fresh(certain)
    await line.cache(prompt)
    line.streamed = True
    try:
        await line.send(prompt, certain)
    except Refused:
        pass
    finally:
        line.streamed = False


def find_order_evidence(service: Service, report: ProbeReport) -> None:
    """Finding ``order_evidence``: by what the order in which the server worked can be told."""
    found: list[str] = []
    texts: list[Said] = []
    settings = dict(_settings(service.raw_info))
    published = _published(settings)
    if published is not None:
        found.append("kv_events")
        texts.append(said("order.kv_events", endpoint=service.clean(published)))
    elif settings:
        texts.append(said("order.no_kv_events"))
    else:
        texts.append(said("order.kv_events_untold"))
    # SGLang has a switch, and an address that is always set; vLLM has the address alone.
    if settings.get(SWITCH, settings.get(TRACES)) not in (None, False, "", "None", "False"):
        found.append("tracing")
        texts.append(said("order.tracing"))
    found.append("first_token")
    texts.append(said("order.first_token"))
    report.add(Finding("order_evidence", found, "stated" if settings else "derived", texts))


def _settings(info: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Names and values of a server's own configuration, wherever they stand in it."""
    if isinstance(info, Mapping) and depth < 6:
        for name, value in info.items():
            yield str(name), value
            yield from _settings(value, depth + 1)


def _published(settings: Mapping[str, Any]) -> str | None:
    """Where KV events are published; None if they are not."""
    own = settings.get("kv_events")
    if isinstance(own, str) and own:
        return own
    config = settings.get("kv_events_config")
    if isinstance(config, str):
        try:
            config = orjson.loads(config)
        except orjson.JSONDecodeError:
            return None
    if not isinstance(config, Mapping) or config.get(EVENTS) is False:
        return None
    return str(config.get("endpoint") or "") if config.get("publisher", "zmq") not in (None, "null") else None
