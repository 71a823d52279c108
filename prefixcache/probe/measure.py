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
from prefixcache.probe.placing import place
from prefixcache.probe.reading import Reading
from prefixcache.probe.unit import ASKED_AGAIN, UnitFinding, UnitSearch, rungs

SHIFT = 13
"""Pieces by which a prompt is moved where the unit is not known: no multiple of any usual one."""
ENOUGH_BLOCKS = 10**8
"""So many different blocks that none of a probe's is met by chance."""


async def find_unit(line: Line, report: ProbeReport, luck: random.Random) -> Base | None:
    """Findings ``block_size``, ``hit_unit`` and ``hit_drop``; the base prompt if the unit is known."""
    stated = line.service.facts.cache
    if stated.block_size is None:
        report.add(unknown("block_size", "block.untold"))
    else:
        report.add(Finding("block_size", stated.block_size, "stated"))
    if not line.placed and (unplaced := await place(line)) is not None:
        report.add(unknown("hit_unit", unplaced[0], around=line.head), unknown("hit_drop", "drop.unknown"))
        return unplaced[1]
    lengths = rungs(longest_shared(line))
    if not lengths:
        report.add(unknown("hit_unit", "unit.no_room"), unknown("hit_drop", "drop.unknown"))
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
    if found.outcome == "inconsistent" and line.in_blocks and not line.prefer_usage:
        stride = await search.stride(found.reach)
        if stride is not None and stride not in (0, line.block):
            report.warn("warn.other_blocks", stated=line.block, tokens=stride)
            line.count_blocks_of(stride)
            base = Base(line, lengths[-1] + ROOM)
            search = UnitSearch(base.grow, base.measure, luck)
            found = await search.run(lengths)
    if found.outcome == "inconsistent":
        longer = next((length for length in lengths if length > found.reach), found.reach)
        await base.grow(longer)  # chunks are found again only behind the first cut
        quarter = longer // 4
        await match(line, report, base, base.pieces[quarter : longer - line.head], quarter, SHIFT)
        if report.value("matching") == "content_defined_chunk":
            _tell_chunks(report, found.readings)
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
    return base if found.outcome in ("found", "inconsistent", "one_step", "coarse") else None


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


def take_back(report: ProbeReport, pool: int) -> None:
    """What the matching says against a unit that was found: chunks have none, and where blocks hit anywhere, those of
    few tokens are met by chance.

    Args:
        pool: pieces that prompts are drawn from.
    """
    unit, matching = report.value("hit_unit"), report.value("matching")
    if unit is None or matching in (None, "chained_prefix"):
        return
    if matching == "content_defined_chunk":
        _tell_chunks(report, report.findings["hit_unit"].readings)
        report.contradictions = [each for each in report.contradictions if each.code != "block_size"]
    elif pool**unit < ENOUGH_BLOCKS:
        report.add(unknown("hit_drop", "drop.chance", unit=unit))


def _tell_chunks(report: ProbeReport, readings: Sequence[Reading]) -> None:
    """Chunks have no size that is always the same: what was hit tells where some of them end."""
    hits = sorted({round(reading.hit) for reading in readings if reading.hit})
    ends = ", ".join(f"{hit:,}" for hit in hits[:8])
    report.add(unknown("hit_unit", "unit.chunks", readings, ends=ends), unknown("hit_drop", "drop.unknown"))


def _counters_are_silent(found: UnitFinding, report: ProbeReport) -> bool:
    """Counters that stay at 0 while the answers tell hits."""
    best = max((r for r in found.readings if r.usage), key=lambda r: r.usage or 0, default=None)
    if best is None:
        return False
    report.contradict("counters_silent", usage=best.usage, length=best.length)
    return True


async def _tell(line: Line, report: ProbeReport, found: UnitFinding) -> None:
    readings: Sequence[Reading] = found.readings
    report.add(unknown("hit_drop", "drop.unknown", readings))
    if found.outcome == "found":
        unit, drop = found.unit, found.drop
        by = said("by.usage" if any(r.prefer_usage or r.counted is None for r in readings) else "by.counters")
        texts = [said("unit.found", prompts=len(readings), reach=found.reach), by]
        if line.form is not None and line.form.chat:
            texts.append(said("by.chat", head=line.head, tail=line.tail))
        report.add(Finding("hit_unit", unit, "measured", texts, readings))
        report.add(Finding("hit_drop", drop, "measured", (said("drop.found", drop=drop),), readings))
    elif found.outcome == "no_hit":
        report.add(unknown("hit_unit", "unit.no_hit", readings, reach=found.reach))
    elif found.outcome == "one_step":
        best = max(round(reading.hit or 0) for reading in readings)
        report.add(unknown("hit_unit", "unit.one_step", readings, hit=figure(best), reach=f"{found.reach:,}"))
    elif found.outcome == "coarse":
        worst = max(reading.slack for reading in readings)
        report.add(unknown("hit_unit", "unit.coarse", readings, slack=figure(worst)))
    elif found.outcome == "untold":
        ratio = await _time_ratio(line)
        report.add(unknown("hit_unit", "unit.untold", readings, ratio=ratio))
    else:
        reading, wanted = found.against[0]
        told = {"hit": figure(reading.hit), "shared": reading.shared, "wanted": figure(wanted)}
        report.add(unknown("hit_unit", "unit.inconsistent", readings, **told))
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
