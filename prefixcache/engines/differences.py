"""One quantity between two pages: how much it grew, in which unit, and what is odd about that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from prefixcache.engines.adapter import Adapter, parts
from prefixcache.engines.page import MetricsPage, Sample, SeriesKey
from prefixcache.engines.quantities import Quantity, Unit
from prefixcache.engines.series import Series, Share, Source, Sum, own, shares

RESET = "reset_detected"
BORN = "absent_before"
ABSENT = "absent"
PARTIAL = "partial"
NOT_YET_BORN = "no_event_yet"
ESTIMATE = "estimate"
UNIT_OPEN = "unit_not_stated"
UNREAD_BEFORE = "page_unread_before"
UNREAD_AFTER = "page_unread_after"


@dataclass(frozen=True, slots=True)
class Figure:
    """A cumulative quantity over an interval.

    ``delta`` is null if the metric is absent or the counter was reset in between; after a reset ``at_least`` is what
    was counted since. ``flags``: ``reset_detected``, ``absent_before`` (counted from 0), ``absent``, ``no_event_yet``
    (absent because it counts from its first event: 0), ``partial`` (an endpoint is missing from the sum),
    ``estimate`` (follows from a rounded ratio), ``unit_not_stated`` (blocks or tokens: the page does not say),
    ``page_unread_before`` and ``page_unread_after`` (absent because there is no page of that end of the interval).
    ``why``: the reason of a null.
    """

    before: float | None
    after: float | None
    delta: float | None
    unit: str
    flags: tuple[str, ...] = ()
    at_least: float | None = None
    why: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "before": plain(self.before),
            "after": plain(self.after),
            "delta": plain(self.delta),
            "unit": self.unit,
            "flags": list(self.flags),
            "at_least": plain(self.at_least),
            "why": self.why,
        }


def difference(
    adapter: Adapter,
    quantity: Quantity,
    before: MetricsPage,
    after: MetricsPage,
    anew: bool,
    only: tuple[str, str] | None = None,
) -> Figure:
    """How much a quantity grew from page to page.

    Args:
        anew: the counters are known to have begun anew in between.
        only: label and value that samples must have.
    """
    source = adapter.source(quantity, after, before)
    if source is None:
        return _absent(adapter, quantity)
    figure = _of(source, before, after, anew, only)
    unit = _unit(source, after, before)
    if unit is None:
        return replace(figure, unit=source.unit, flags=(*figure.flags, UNIT_OPEN))
    return replace(figure, unit=unit)


def unborn(adapter: Adapter, quantity: Quantity, before: MetricsPage, after: MetricsPage) -> Figure | None:
    """0, for a series that appears with its first event, on pages of a version that has it; else None."""
    for source in adapter.sources(quantity):
        if isinstance(source, Series) and (source.exported_by(after) or source.exported_by(before)):
            if source.unit == "ratio" or not source.witnesses:
                continue
            return Figure(None, None, 0.0, source.unit, (NOT_YET_BORN,))
    return None


def summed(figures: Iterable[Figure], unit: str, extra: tuple[str, ...] = ()) -> Figure:
    """The sum over endpoints. What one of them lacks makes it partial; different units have no sum."""
    everything = list(figures)
    present = [p for p in everything if ABSENT not in p.flags]
    if not present:
        why = next((p.why for p in everything if p.why), None)
        return Figure(None, None, None, unit, (ABSENT, *extra), why=why)
    flags = dict.fromkeys(flag for p in everything for flag in p.flags if flag != ABSENT)
    if len(present) < len(everything):
        flags[PARTIAL] = None
    units = {p.unit for p in present}
    deltas = [p.delta for p in present]
    mixed = len(units) > 1
    known = not mixed and all(d is not None for d in deltas)
    least = None
    if not known and not mixed:
        least = add(p.at_least if p.delta is None else p.delta for p in present)
    why = f"the endpoints count in {' and '.join(sorted(units))}, which have no sum" if mixed else None
    return Figure(
        add(p.before for p in present),
        add(p.after for p in present),
        sum(d for d in deltas if d is not None) if known else None,
        "mixed" if mixed else units.pop(),
        tuple(dict.fromkeys((*flags, *extra))),
        least,
        why or next((p.why for p in present if p.why), None),
    )


def add(values: Iterable[float | None]) -> float | None:
    """The sum of those that are known; None if none is."""
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def plain(value: float | None) -> float | int | None:
    """A whole number as such."""
    return int(value) if value is not None and value.is_integer() else value


def _absent(adapter: Adapter, quantity: Quantity) -> Figure:
    units = [source.unit for source in adapter.sources(quantity)]
    unit: Unit = units[0] if units else "token"
    return Figure(None, None, None, unit, (ABSENT,), why=adapter.why_absent(quantity))


def _of(source: Source, before: MetricsPage, after: MetricsPage, anew: bool, only: tuple[str, str] | None) -> Figure:
    match source:
        case Series():
            return _series(source, before, after, anew, only)
        case Sum():
            return _combined(source, before, after, anew, only)
        case Share():
            return _estimated(source, before, after, anew, only)


def _series(
    series: Series, before: MetricsPage, after: MetricsPage, anew: bool, only: tuple[str, str] | None
) -> Figure:
    old, new = _values(own(series.select(before), only)), _values(own(series.select(after), only))
    if not old and not new:
        return Figure(None, None, None, series.unit, (ABSENT,), why=f"the page has no {series.names[0]} here")
    flags: list[str] = [BORN] if any(key not in old for key in new) else []
    begun = {key for key in new if _began_anew(key, before, after)}
    fallen = {key for key, value in old.items() if new.get(key, -1.0) < value} | begun
    if anew or fallen:
        least = sum(v if anew or key in fallen else v - old.get(key, 0.0) for key, v in new.items())
        return Figure(_total(old), _total(new), None, series.unit, (*flags, RESET), least, "the counter began anew")
    delta = sum(value - old.get(key, 0.0) for key, value in new.items())
    return Figure(_total(old), _total(new), delta, series.unit, tuple(flags))


def _began_anew(key: SeriesKey, before: MetricsPage, after: MetricsPage) -> bool:
    """By the counter's own time of creation (``_created``), which only a restart changes."""
    old, new = before.created.get(key), after.created.get(key)
    return old is not None and new is not None and new != old


def _combined(source: Sum, before: MetricsPage, after: MetricsPage, anew: bool, only: tuple[str, str] | None) -> Figure:
    found = [(sign, _series(s, before, after, anew, only)) for sign, s in source.terms]
    flags = tuple(dict.fromkeys(flag for _, f in found for flag in f.flags))
    why = next((f.why for _, f in found if f.why), None)
    known = all(f.delta is not None for _, f in found)
    delta = sum(sign * (f.delta or 0.0) for sign, f in found) if known else None
    sums = [
        sum(sign * (v or 0.0) for (sign, _), v in zip(found, ends, strict=True))
        if any(v is not None for v in ends)
        else None
        for ends in ([f.before for _, f in found], [f.after for _, f in found])
    ]
    return Figure(sums[0], sums[1], delta, source.unit, flags, why=why)


def _estimated(
    source: Share, before: MetricsPage, after: MetricsPage, anew: bool, only: tuple[str, str] | None
) -> Figure:
    total = _series(source.total, before, after, anew, only)
    ends = [shares(source, page, only) for page in (before, after)]
    old, new = (sum(ratio * count for ratio, count in pairs) if pairs else None for pairs in ends)
    if old is None and total.before in (None, 0.0):  # nothing asked yet, so no ratio yet
        old = 0.0
    flags = tuple(dict.fromkeys((*total.flags, ESTIMATE)))
    if total.delta is None or old is None or new is None:
        why = total.why or f"{source.ratio.names[0]} is not known at both ends"
        return Figure(old, new, None, source.unit, flags, why=why)
    return Figure(old, new, new - old, source.unit, flags)


def _unit(source: Source, *pages: MetricsPage) -> Unit | None:
    series = parts(source)[0]
    if not isinstance(source, Series) or not series.help_names_unit:
        return source.unit
    for page in pages:
        if (unit := series.unit_on(page)) is not None:
            return unit
    return None


def _values(samples: Iterable[Sample]) -> dict[SeriesKey, float]:
    return {s.key: s.value for s in samples}


def _total(values: Mapping[SeriesKey, float]) -> float | None:
    return sum(values.values()) if values else None
