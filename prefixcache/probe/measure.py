"""Block size, hit unit and hit drop of a server."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

from prefixcache.probe.base import ROOM, Base, longest_shared
from prefixcache.probe.clock import OutOfTime
from prefixcache.probe.findings import Finding, ProbeReport, figure, said, unknown
from prefixcache.probe.line import Line, Refused
from prefixcache.probe.matching import match
from prefixcache.probe.reading import Reading
from prefixcache.probe.placing import place
from prefixcache.probe.unit import ASKED_AGAIN, UnitFinding, UnitSearch, rungs


async def find_unit(line: Line, report: ProbeReport, luck: random.Random) -> Base | None:
    """Findings ``block_size``, ``hit_unit`` and ``hit_drop``; the base prompt if the unit is known."""
    stated = line.service.facts.cache
    if stated.block_size is None:
        report.add(unknown("block_size", "block.untold"))
    else:
        report.add(Finding("block_size", stated.block_size, "stated", (said("block.stated", size=stated.block_size),)))
    if not line.placed and (why := await place(line)) is not None:
        report.add(*(unknown(name, why, around=line.head) for name in ("hit_unit", "hit_drop")))
        return None
    lengths = rungs(longest_shared(line))
    if not lengths:
        report.add(*(unknown(name, "unit.no_room") for name in ("hit_unit", "hit_drop")))
        return None
    base = Base(line, lengths[-1] + ROOM)
    search = UnitSearch(base.grow, base.measure, luck)
    try:
        found = await search.run(lengths)
    except (Refused, OutOfTime):
        found = search.found
        if found.reach and not any(reading.hit for reading in found.readings):
            await _tell(line, report, found)
        raise
    if found.outcome == "no_hit" and _counters_are_silent(found, report):
        line.prefer_usage = True
        search = UnitSearch(base.grow, base.measure, luck)
        found = await search.run(lengths)
    if found.outcome == "untold":
        base, found = await _by_streams(line, luck, base, found)
    if found.outcome == "inconsistent":
        quarter = found.reach // 4
        await match(line, report, base, base.pieces[quarter : found.reach - line.head], quarter, 3)
        if report.value("matching") == "content_defined_chunk":
            _tell_chunks(report, found)
            return base
        del report.findings["matching"]
        again = Base(line, found.reach + ROOM)  # once more, with prompts of its own
        search = UnitSearch(again.grow, again.measure, luck)
        second = await search.run([found.reach])
        if second.outcome == "found":
            found, base = second, again
            report.warn("warn.second_try")
    await _tell(line, report, found)
    if found.outcome == "found":
        _compare(line, report, found)
    return base if found.outcome in ("found", "inconsistent") else None


async def _by_streams(line: Line, luck: random.Random, base: Base, found: UnitFinding) -> tuple[Base, UnitFinding]:
    """The search once more with streamed answers, where some servers tell cached tokens that they tell nowhere else."""
    line.streamed = True
    if not line.placed:
        await place(line)
    lengths = rungs(longest_shared(line))
    again = Base(line, lengths[-1] + ROOM)
    short = [length for length in lengths if length <= ASKED_AGAIN]
    tried = await UnitSearch(again.grow, again.measure, luck).run(short or lengths[:1])
    if tried.outcome == "untold":
        line.streamed = False
        return base, found
    if tried.outcome == "no_hit" and len(lengths) > len(short):
        tried = await UnitSearch(again.grow, again.measure, luck).run(lengths[len(short) :])
    return again, tried


def _tell_chunks(report: ProbeReport, found: UnitFinding) -> None:
    """Chunks have no size that is always the same: what was hit tells where some of them end."""
    hits = sorted({round(r.hit) for r in found.readings if r.hit})
    for name in ("hit_unit", "hit_drop"):
        ends = ", ".join(f"{hit:,}" for hit in hits[:8])
        report.add(Finding(name, None, "unknown", (said("unit.chunks", ends=ends),), found.readings))


def _counters_are_silent(found: UnitFinding, report: ProbeReport) -> bool:
    """Counters that stay at 0 while the answers tell hits."""
    best = max((r for r in found.readings if r.usage), key=lambda r: r.usage or 0, default=None)
    if best is None:
        return False
    report.contradict("counters_silent", usage=best.usage, length=best.length)
    return True


async def _tell(line: Line, report: ProbeReport, found: UnitFinding) -> None:
    readings: Sequence[Reading] = found.readings
    names = ("hit_unit", "hit_drop")
    if found.outcome == "found":
        unit, drop = found.unit, found.drop
        by = said("by.usage" if any(r.prefer_usage or r.counted is None for r in readings) else "by.counters")
        texts = [said("unit.found", unit=unit, drop=drop, prompts=len(readings), reach=found.reach), by]
        if line.form is not None and line.form.chat:
            texts.append(said("by.chat", head=line.head, tail=line.tail))
        report.add(Finding("hit_unit", unit, "measured", texts, readings))
        report.add(Finding("hit_drop", drop, "measured", (said("drop.found", drop=drop),), readings))
    elif found.outcome == "no_hit":
        report.add(*(unknown(name, "unit.no_hit", readings, reach=found.reach) for name in names))
    elif found.outcome == "untold":
        ratio = await _time_ratio(line)
        report.add(*(unknown(name, "unit.untold", readings, ratio=ratio) for name in names))
    else:
        reading, wanted = found.against[0]
        told = {"hit": figure(reading.hit), "shared": reading.shared, "wanted": figure(wanted)}
        for name in names:
            report.add(Finding(name, None, "unknown", (said("unit.inconsistent", **told),), readings))
        report.contradict("inconsistent", **told)


async def _time_ratio(line: Line) -> str:
    """Time of a prompt sent for the first time over that of the same one again: the last resort, and no measurement."""
    length = min(2048, longest_shared(line))
    first, again = [], []
    for _ in range(3):
        prompt = line.pieces.fresh(length)
        first.append((await line.send(prompt)).seconds)
        again.append((await line.send(prompt, length)).seconds)
    return f"{statistics.median(first) / max(statistics.median(again), 1e-9):.1f}"


def _compare(line: Line, report: ProbeReport, found: UnitFinding) -> None:
    """What was measured beside what is stated."""
    cache = line.service.facts.cache
    if cache.block_size is not None and found.unit not in (cache.block_size, cache.hit_alignment):
        report.contradict("block_size", stated=cache.block_size, unit=found.unit)
    if cache.prefix_caching is False:
        report.contradict("caching_off", unit=found.unit)
