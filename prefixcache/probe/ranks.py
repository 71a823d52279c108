"""Data-parallel ranks: how many there are, and by what a request reaches one of them. Believed only when seen."""

from __future__ import annotations

from collections.abc import Iterator

from prefixcache.engines.aggregate import aggregate
from prefixcache.engines.quantities import Quantity
from prefixcache.probe.findings import Finding, ProbeReport, said, unknown
from prefixcache.probe.line import Line, Refused, Route
from prefixcache.probe.reading import Reading
from prefixcache.probe.told import longest

BODY_FIELDS = ("routed_dp_rank", "data_parallel_rank")
"""SGLang's, the newer one first."""
INFO_NAMES = ("dp_size", "data_parallel_size", "dp")
CACHED = 4096
SHORT = 40
SPREAD = 3
"""Where no rank can be reached by name: how often a prompt is sent for each rank so that all of them have it."""


def stated_ranks(line: Line) -> int | None:
    """Ranks by the server's own word: an info route, else the engines of its metrics page."""
    service = line.service
    for name in INFO_NAMES:
        value = service.facts.info.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    engines = service.facts.engines
    return len(engines) if engines else None


def counting_engines(line: Line) -> tuple[str, ...]:
    """Engines that have counters of their own."""
    return line.service.adapter.engines(line.service.page, (Quantity.QUERIES, Quantity.PROMPT_TOKENS))


def ways(line: Line, rank: int) -> Iterator[tuple[str, Route]]:
    """How a rank might be reached, with a name for people; only by the field that the user names, if one is."""
    header, field = line.service.adapter.rank_header, line.service.rank_field
    if header and not field:
        yield f"header {header}", Route(headers={header: str(rank)}, rank=rank)
    for name in (field,) if field else BODY_FIELDS:
        yield f"body {name}", Route(body={name: rank}, rank=rank)


async def find_ranks(line: Line, report: ProbeReport) -> None:
    """Findings ``dp_size`` and ``rank_route``; the line's route leads to rank 0 if there are several."""
    ranks = stated_ranks(line)
    if ranks is None:
        report.add(unknown("dp_size", "ranks.untold"), unknown("rank_route", "ranks.untold"))
        return
    report.add(Finding("dp_size", ranks, "stated"))
    if ranks == 1:
        report.add(Finding("rank_route", "none needed", "derived", (said("ranks.one"),)))
        return
    tried = []
    for (name, first), (_, last) in zip(ways(line, 0), ways(line, ranks - 1), strict=True):
        routes = [first, last]
        try:
            readings = await _lead_there(line, routes)
        except Refused as error:
            tried.append(f"{name} ({error})")
            continue
        if readings is not None:
            line.route = routes[0]
            by = "ranks.counted" if len(counting_engines(line)) > 1 else "ranks.caches"
            report.add(Finding("rank_route", name, "measured", (said(by, last=ranks - 1),), readings))
            return
        tried.append(name)
    line.repeat = SPREAD * ranks
    report.add(unknown("rank_route", "ranks.unreached", tried="; ".join(tried) or "-"))


async def _lead_there(line: Line, routes: list[Route]) -> list[Reading] | None:
    """The readings that show that each route leads to a rank of its own; None if they show otherwise."""
    if len(counting_engines(line)) > 1:
        return await _by_counters(line, routes)
    return await _by_caches(line, routes)


async def _by_counters(line: Line, routes: list[Route]) -> list[Reading] | None:
    """Only the counters of the rank that was asked for move, in an order that no round robin goes."""
    first, last = routes
    readings = []
    for route in (first, first, last, last, last, first):
        before = await line.service.snapshot()
        readings.append(await line.send_new(SHORT, route))
        found = aggregate(line.service.adapter, before, await line.service.snapshot())
        moved = {
            engine
            for endpoint in found.endpoints
            for engine, figures in endpoint.engines.items()
            if figures.delta(Quantity.QUERIES) or figures.delta(Quantity.PROMPT_TOKENS)
        }
        if moved != {str(route.rank)}:
            return None
    return readings


async def _by_caches(line: Line, routes: list[Route]) -> list[Reading] | None:
    """What one rank has cached hits there again and not on another; again, since a router may have done so by luck."""
    most = min(CACHED, (longest(line.service) or CACHED) - 2)
    readings = []
    for own, other in [(routes[0], routes[1]), (routes[1], routes[0])] * 2:
        prompt = line.pieces.fresh(most)
        await line.send(prompt, route=own)
        again = await line.send(prompt, most, own)
        apart = await line.send(prompt, most, other)
        readings += [again, apart]
        if not again.hit or again.hit <= line.head or apart.hit is None or apart.hit > line.head:
            return None
    return readings
