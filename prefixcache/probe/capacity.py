"""How many tokens the cache holds: a prompt is cached, others are sent behind it, and then it still hits or does not.

Approximate: what was cached before is older and goes first, so a fill of N tokens evicts the prompt only once N and the
prompt together exceed the cache.
"""

from __future__ import annotations

from dataclasses import dataclass

from prefixcache.probe.base import longest_shared
from prefixcache.probe.clock import OutOfTime
from prefixcache.probe.findings import Finding, ProbeReport, Said, said, unknown
from prefixcache.probe.line import Line
from prefixcache.probe.reading import Reading

FIRST = 8192
FILL = 2048
CLOSE = 0.02
"""Relative width of the interval at which it is narrow enough."""


@dataclass(slots=True)
class Bracket:
    """Tokens: ``held`` were seen to fit, ``lost`` were seen not to."""

    held: int = 0
    lost: int | None = None

    @property
    def narrow(self) -> bool:
        return self.lost is not None and self.lost - self.held <= CLOSE * self.lost

    def next(self, stated: int | None) -> int:
        """Size of the next fill: around the stated figure first, then doubled, then in the middle."""
        if stated is not None:
            for guess in (round(stated * 0.97), round(stated * 1.03)):
                if self.held < guess and (self.lost is None or guess < self.lost):
                    return guess
        if self.lost is None:
            return max(FIRST, 2 * self.held)
        return (self.held + self.lost) // 2


async def find_capacity(line: Line, report: ProbeReport, unit: int, drop: int, *, measure: bool) -> None:
    """Finding ``capacity_tokens``: of one engine (DP rank)."""
    stated = line.service.facts.cache.kv_tokens
    texts: list[Said] = [said("capacity.stated") if stated else said("capacity.untold")]
    if not measure or line.repeat > 1:
        texts.append(said("capacity.spread" if measure else "capacity.not_asked"))
        found = Finding("capacity_tokens", stated, "stated" if stated else "unknown", texts)
        report.add(found)
        return
    report.add(unknown("capacity_tokens", "time"))
    bracket, readings = Bracket(), list[Reading]()
    try:
        while not bracket.narrow:
            size = bracket.next(stated)
            held, reading = await _holds(line, unit, drop, size)
            readings.append(reading)
            if held is None:
                report.add(unknown("capacity_tokens", "unit.untold", readings, ratio="-"))
                return
            if held:
                bracket.held = max(bracket.held, size)
            else:
                bracket.lost = size if bracket.lost is None else min(bracket.lost, size)
            _tell(report, bracket, texts, readings)
            if bracket.lost is not None and bracket.lost <= bracket.held:
                report.warn("warn.capacity_odd")
                return
    except OutOfTime:
        _tell(report, bracket, [*texts, said("capacity.time")], readings)
        raise


def _tell(report: ProbeReport, bracket: Bracket, texts: list[Said], readings: list[Reading]) -> None:
    held = f"{bracket.held:,}"
    if bracket.lost is None:
        found = Finding("capacity_tokens", None, "unknown", (*texts, said("capacity.at_least", held=held)), readings)
    else:
        between = said("capacity.between", held=held, lost=f"{bracket.lost:,}")
        value = (bracket.held + bracket.lost) // 2
        found = Finding("capacity_tokens", value, "measured", (*texts, between), readings)
    report.add(found)


async def _holds(line: Line, unit: int, drop: int, size: int) -> tuple[bool | None, Reading]:
    """Is a prompt still whole in the cache after so many tokens in all, its own among them?"""
    around = line.head + line.tail
    count = max(unit * (drop + 2), 32) + 1
    prompt = line.pieces.fresh(count)
    await line.send(prompt)
    before = await line.send(prompt, count)
    left = size - count - around
    most = min(FILL, longest_shared(line))
    while left > 0:
        piece = min(left, most)
        await line.fill(max(1, piece - around))
        left -= piece
    after = await line.send(prompt, count)
    if before.hit is None or after.hit is None:
        return None, after
    return after.hit >= before.hit - after.slack, after
