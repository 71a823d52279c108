"""How cached blocks are found again: behind their own beginning only, at their own place, or anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from prefixcache.probe.base import Base, longest_shared
from prefixcache.probe.findings import Finding, ProbeReport, figure, said, unknown
from prefixcache.probe.line import Line
from prefixcache.probe.prompts import Piece
from prefixcache.probe.unit import units_tried


async def find_matching(line: Line, report: ProbeReport, base: Base, unit: int, drop: int) -> None:
    """Finding ``matching``: does a cached block hit behind other tokens, at its own place or at another?"""
    first = unit * (line.head // unit + 1)
    count = min(max(base.cached, first + unit * units_tried(unit, drop)), longest_shared(line) - unit)
    inner = base.pieces[first - line.head : count - line.head]
    if len(inner) < unit * (drop + 1):
        report.add(unknown("matching", "matching.no_room"))
        return
    await base.grow(count)
    await match(line, report, base, inner, first - line.head, 1 if unit == 1 else unit // 2)


async def match(line: Line, report: ProbeReport, base: Base, inner: Sequence[Piece], at: int, shift: int) -> None:
    """Send what the base prompt holds from piece ``at`` on behind another beginning, there and ``shift`` pieces on."""
    placed = await line.send([*_unlike(line, base, at), *inner, *line.pieces.fresh(2)])
    moved = await line.send([*_unlike(line, base, at + shift), *inner, *line.pieces.fresh(2)])
    readings = [placed, moved]
    least = line.head + len(inner) // 4
    if placed.hit is None or moved.hit is None:
        report.add(unknown("matching", "unit.untold", readings, ratio="-"))
        return
    unit = report.value("hit_unit")
    elsewhere = unit is None or shift % unit != 0  # by whole units, blocks that hit anywhere hit too
    if elsewhere and unit is None and moved.hit - moved.slack >= least:
        turned = await line.send([*_unlike(line, base, at), *reversed(inner), *line.pieces.fresh(2)])
        readings.append(turned)
        elsewhere = turned.hit is None or turned.hit - turned.slack < least  # single tokens hit in any order
    if elsewhere and moved.hit - moved.slack >= least:
        value, text = "content_defined_chunk", said("matching.chunk", hit=figure(moved.hit), shift=shift)
    elif placed.hit - placed.slack >= least:
        value, text = "independent_block", said("matching.block", hit=figure(placed.hit))
    else:
        value, text = "chained_prefix", said("matching.chain", tokens=len(inner))
    report.add(Finding("matching", value, "measured", (text,), readings))


def _unlike(line: Line, base: Base, count: int) -> list[Piece]:
    """Random pieces none of which stands at the same place of the base prompt."""
    fresh = line.pieces.fresh(count)
    for at, piece in enumerate(fresh):
        while piece == base.pieces[at]:
            piece = fresh[at] = line.pieces.luck.choice(line.pieces.pool)
    return fresh
