"""Rules that can be tried once the hit unit is known: the last token of a prompt, and outputs."""

from __future__ import annotations

from typing import Any

from prefixcache.probe.base import longest_shared
from prefixcache.probe.findings import Finding, ProbeReport, figure, said, unknown
from prefixcache.probe.forms import NATIVE, output_ids
from prefixcache.probe.line import Line, Refused
from prefixcache.probe.prompts import Piece
from prefixcache.probe.unit import hits_of, units_tried


async def find_last_token(line: Line, report: ProbeReport, unit: int, drop: int) -> None:
    """Finding ``last_token_rule``: is the last token of a fully cached prompt computed again?"""
    whole = unit * units_tried(unit, drop)
    around = line.head + line.tail
    whole += -(-around // unit) * unit if line.tail else 0
    if whole - around < 1 or whole + 1 > longest_shared(line):
        report.add(unknown("last_token_rule", "last.no_room"))
        return
    prompt = line.pieces.fresh(whole - around)
    await line.cache(prompt)
    exact = await line.send(prompt, len(prompt) + line.tail)
    prompt = [*prompt, *line.pieces.fresh(1)]
    if line.tail:  # it moved, so the longer prompt shares less: it is cached itself
        await line.cache(prompt)
    longer = await line.send(prompt, whole - line.head)
    readings = (exact, longer)
    if exact.hit is None:
        report.add(unknown("last_token_rule", "unit.untold", readings, ratio="-"))
    elif exact.is_hit(hits_of(whole, whole, unit, drop)) and longer.is_hit(hits_of(whole, whole + 1, unit, drop)):
        text = said("last.computed", length=whole, hit=figure(exact.hit), more=figure(longer.hit))
        report.add(Finding("last_token_rule", "computed", "measured", (text,), readings))
    elif exact.is_hit(whole - drop * unit):
        text = said("last.cached", length=whole, hit=figure(exact.hit))
        report.add(Finding("last_token_rule", "cached", "measured", (text,), readings))
    else:
        text = said("last.odd", length=whole, hit=figure(exact.hit), more=figure(longer.hit))
        report.add(Finding("last_token_rule", None, "unknown", (text,), readings))


async def find_outputs(line: Line, report: ProbeReport, unit: int, drop: int) -> None:
    """Finding ``outputs_cached``: a conversation that goes on with the answer, does it hit the answer too?"""
    assert line.form is not None
    inside = min(3, unit) if unit > 1 else 0
    length = unit * units_tried(unit, drop) - inside - line.head
    output = inside + 4
    if not line.form.ids:
        report.add(unknown("outputs_cached", "outputs.texts"))
        return
    found = await _answered(line, length, output) if 1 <= length <= longest_shared(line) - 2 * output else None
    if found is None:
        report.add(unknown("outputs_cached", "outputs.no_ids"))
        return
    prompt, ids = found
    known = [*prompt, *ids[: output - 1]]  # the last sampled token was never computed
    reading = await line.send([*known, *line.pieces.fresh(2)], len(known))
    told = {"hit": figure(reading.hit), "prompt": length + line.head, "output": output}
    without = hits_of(length + line.head, reading.length, unit, drop)
    if reading.hit is None:
        report.add(unknown("outputs_cached", "unit.untold", (reading,), ratio="-"))
    elif reading.is_hit(hits_of(len(known) + line.head, reading.length, unit, drop)):
        report.add(Finding("outputs_cached", True, "measured", (said("outputs.yes", **told),), (reading,)))
    elif reading.is_hit(without):
        report.add(Finding("outputs_cached", False, "measured", (said("outputs.no", **told),), (reading,)))
    else:
        report.add(Finding("outputs_cached", None, "unknown", (said("outputs.odd", **told),), (reading,)))


async def _answered(line: Line, length: int, output: int) -> tuple[list[Piece], list[int]] | None:
    """A prompt and the ids of its answer; None where they are not told."""
    assert line.form is not None
    streamed, line.streamed = line.streamed, False
    try:
        for form in dict.fromkeys((line.form, NATIVE)):
            prompt = line.pieces.fresh(length)
            extra: dict[str, Any] = {} if form.native else {"return_token_ids": True}
            try:
                for _ in range(line.repeat):
                    _, answer = await line.exchange(prompt, extra=extra, output=output, form=form)
            except Refused:
                continue
            ids = output_ids(answer.body)
            if ids is not None and len(ids) >= output:
                return prompt, ids
    finally:
        line.streamed = streamed
    return None
