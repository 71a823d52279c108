"""One quantity between two pages: how much it grew, in which unit, and what is odd about that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from prefixcache.engines.adapter import Adapter, parts
from prefixcache.engines.page import MetricsPage, Sample, SeriesKey
from prefixcache.engines.quantities import Quantity, Unit
from prefixcache.engines.series import Series, Share, Source, Sum, present, shares

RESET = "reset_detected"
BORN = "absent_before"
ABSENT = "absent"
PARTIAL = "partial"
NOT_YET_BORN = "no_event_yet"
ESTIMATE = "estimate"
UNIT_OPEN = "unit_not_stated"
UNREADABLE = "unreadable"
UNREAD_BEFORE = "page_unread_before"
UNREAD_AFTER = "page_unread_after"
ANEW = "the counter began anew"
MOST_WHOLE = 2.0**53


@dataclass(frozen=True, slots=True)
class Figure:
    """A cumulative quantity over an interval.

    ``delta`` is null if the metric is absent or the counter was reset in between; after a reset ``at_least`` is what
    was counted since. ``flags``: ``reset_detected``, ``absent_before`` (counted from 0), ``absent``, ``no_event_yet``
    (absent because it counts from its first event: 0), ``partial`` (an endpoint is missing from the sum),
    ``unreadable`` (the series is there without a number at one end, or a part of that page is lost),
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


@dataclass(frozen=True, slots=True)
class Interval:
    """The pages of an endpoint at both ends of an interval.

    Args:
        anew: the counters are known to have begun anew in between.
    """

    before: MetricsPage
    after: MetricsPage
    anew: bool = False


def difference(
    adapter: Adapter, quantity: Quantity, whole: Interval, engines: Mapping[str, Interval]
) -> tuple[Figure, dict[str, Figure]]:
    """How much a quantity grew from page to page: of the endpoint, and of each engine.

    Args:
        whole: the endpoint's pages, which decide where the quantity stands and what it counts.
        engines: the pages with the series of one engine alone.
    """
    source = adapter.source(quantity, whole.after, whole.before)
    if source is None:
        absent = _absent(adapter, quantity)
        return absent, dict.fromkeys(engines, absent)
    gone = _renamed(adapter, quantity, source, whole)
    units = [_unit(source, page) for page in (whole.before, whole.after)]

    def figure(pages: Interval) -> Figure:
        found = _of(source, pages if gone is None else replace(pages, anew=True))
        if gone is not None and found.delta is None:
            found = replace(found, why=f"{gone} of the page of before is gone, so another version counts")
        return _in_units(found, source.unit, *units)

    return figure(whole), {name: figure(pages) for name, pages in engines.items()}


def _in_units(figure: Figure, usual: Unit, before: Unit | None, after: Unit | None) -> Figure:
    """A figure in what both pages count; None: a page does not say."""
    if before is not None and after is not None and before != after:
        why = f"the page of before counts in {before}s, that of after in {after}s"
        return replace(figure, delta=None, at_least=None, unit="mixed", why=why)
    if (unit := after or before) is None:
        return replace(figure, unit=usual, flags=(*figure.flags, UNIT_OPEN))
    return replace(figure, unit=unit)


def _renamed(adapter: Adapter, quantity: Quantity, source: Source, whole: Interval) -> str | None:
    """A series that counted this quantity before and is gone, where another counts after: versions differ."""
    then = adapter.source(quantity, whole.before)
    if then is None or present(then, whole.after) or present(source, whole.before):
        return None
    return parts(then)[0].names[0]


def unborn(adapter: Adapter, quantity: Quantity, before: MetricsPage, after: MetricsPage) -> Figure | None:
    """0, for a series that appears with its first event, on pages of a version that has it; else None."""
    for source in adapter.sources(quantity):
        if any(series.unread(page) != frozenset() for series in parts(source) for page in (before, after)):
            return None
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
    return sum(known, 0.0) if known else None


def plain(value: float | None) -> float | int | None:
    """A whole number as such, as far as whole numbers are exact."""
    if value is None or abs(value) >= MOST_WHOLE:
        return value
    return int(value) if float(value).is_integer() else value


def _absent(adapter: Adapter, quantity: Quantity) -> Figure:
    units = [source.unit for source in adapter.sources(quantity)]
    unit: Unit = units[0] if units else "token"
    return Figure(None, None, None, unit, (ABSENT,), why=adapter.why_absent(quantity))


def _of(source: Source, pages: Interval) -> Figure:
    match source:
        case Series():
            return _series(source, pages)
        case Sum():
            return _combined(source, pages)
        case Share():
            return _estimated(source, pages)


def _series(series: Series, pages: Interval) -> Figure:
    before, after = pages.before, pages.after
    old, new = _values(series.select(before)), _values(series.select(after))
    if not old and not new:
        return Figure(None, None, None, series.unit, (ABSENT,), why=f"the page has no {series.names[0]} here")
    ends = _total(old), _total(new)
    for page, here, there, when in ((before, old, new, "before"), (after, new, old, "after")):
        if any(key not in here for key in there) and _unread(series, page, here, there):
            why = f"{series.names[0]} cannot be read on the page of {when}"
            return Figure(*ends, None, series.unit, (UNREADABLE,), why=why)
    flags: list[str] = [BORN] if any(key not in old for key in new) else []
    begun = {key for key in new if _began_anew(key, before, after)}
    fallen = {key for key, value in old.items() if new.get(key, -1.0) < value} | begun
    if pages.anew or fallen:
        least = sum((v if pages.anew or key in fallen else v - old.get(key, 0.0) for key, v in new.items()), 0.0)
        return Figure(*ends, None, series.unit, (*flags, RESET), least, ANEW)
    delta = sum((value - old.get(key, 0.0) for key, value in new.items()), 0.0)
    return Figure(*ends, delta, series.unit, tuple(flags))


def _unread(
    series: Series, page: MetricsPage, here: Mapping[SeriesKey, float], there: Mapping[SeriesKey, float]
) -> bool:
    """Does a series of the other page stand on this one too, only unreadable?"""
    unread = series.unread(page)
    return unread is None or any(key in unread for key in there if key not in here)


def _began_anew(key: SeriesKey, before: MetricsPage, after: MetricsPage) -> bool:
    """By the counter's own time of creation (``_created``), which only a restart changes."""
    old, new = before.created.get(key), after.created.get(key)
    return old is not None and new is not None and new != old


def _combined(source: Sum, pages: Interval) -> Figure:
    found = [(sign, _series(s, pages)) for sign, s in source.terms]
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
    least = None
    if not known and all(sign > 0 for sign, _ in found):
        least = add(f.at_least if f.delta is None else f.delta for _, f in found)
    return Figure(sums[0], sums[1], delta, source.unit, flags, least, why)


def _estimated(source: Share, pages: Interval) -> Figure:
    total = _series(source.total, pages)
    ends = [shares(source, page) for page in (pages.before, pages.after)]
    old, new = (sum(ratio * count for ratio, count in pairs) if pairs else None for pairs in ends)
    if old is None and total.before in (None, 0.0):  # nothing asked yet, so no ratio yet
        old = 0.0
    flags = tuple(dict.fromkeys((*total.flags, ESTIMATE)))
    if total.delta is None or old is None or new is None:
        why = total.why or f"{source.ratio.names[0]} is not known at both ends"
        return Figure(old, new, None, source.unit, flags, why=why)
    return Figure(old, new, new - old, source.unit, flags)


def _unit(source: Source, page: MetricsPage) -> Unit | None:
    if not isinstance(source, Series) or not source.help_names_unit:
        return source.unit
    return source.unit_on(page)


def _values(samples: Iterable[Sample]) -> dict[SeriesKey, float]:
    return {s.key: s.value for s in samples}


def _total(values: Mapping[SeriesKey, float]) -> float | None:
    return sum(values.values()) if values else None
