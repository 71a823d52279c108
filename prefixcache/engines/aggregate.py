"""Two snapshots → what happened between them, per engine, per endpoint and global.

Counters are differenced per series and summed before anything is divided: a mean of ratios is never taken. What
cannot be known is null with a flag that says why; nothing is clipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from prefixcache.engines.adapter import Adapter, Metric, Quantity
from prefixcache.engines.page import MetricsPage, Sample
from prefixcache.engines.snapshot import Snapshot

RESET = "reset_detected"
BORN = "absent_before"
ABSENT = "absent"
PARTIAL = "partial"
NOT_YET_BORN = "no_event_yet"
UNREAD_BEFORE = "page_unread_before"
UNREAD_AFTER = "page_unread_after"


@dataclass(frozen=True, slots=True)
class Figure:
    """A counter over an interval.

    ``delta`` is null if the metric is absent or the counter was reset in between. ``flags``: ``reset_detected``,
    ``absent_before`` (counted from 0), ``absent``, ``no_event_yet`` (absent because it counts from its first event:
    0), ``partial`` (an endpoint is missing from the sum), ``page_unread_before`` and ``page_unread_after`` (absent
    because there is no page of that end of the interval).
    """

    before: float | None
    after: float | None
    delta: float | None
    unit: str
    flags: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "before": _plain(self.before),
            "after": _plain(self.after),
            "delta": _plain(self.delta),
            "unit": self.unit,
            "flags": list(self.flags),
        }


@dataclass(frozen=True, slots=True)
class Figures:
    """Counters of one engine, one endpoint or all, with the rates that follow from them (0-1, null = unknown)."""

    counters: Mapping[Quantity, Figure]
    notes: tuple[str, ...] = ()

    @property
    def flags(self) -> frozenset[str]:
        """What is special about any of the counters."""
        return frozenset(flag for figure in self.counters.values() for flag in figure.flags)

    def delta(self, quantity: Quantity) -> float | None:
        figure = self.counters.get(quantity)
        return figure.delta if figure else None

    @property
    def hit_rate(self) -> float | None:
        """Local hits over local queries. May exceed 1; ``notes`` then says so."""
        return _ratio(self.delta(Quantity.HITS), self.delta(Quantity.QUERIES))

    @property
    def external_hit_rate(self) -> float | None:
        return _ratio(self.delta(Quantity.EXTERNAL_HITS), self.delta(Quantity.EXTERNAL_QUERIES))

    @property
    def total_hit_rate(self) -> float | None:
        """Local plus external hits over local queries: an external tier is asked only for what missed locally."""
        hits, external = self.delta(Quantity.HITS), self.delta(Quantity.EXTERNAL_HITS)
        return _ratio(None if hits is None else hits + (external or 0), self.delta(Quantity.QUERIES))

    def to_json(self) -> dict[str, Any]:
        return {
            "counters": {q.value: f.to_json() for q, f in self.counters.items()},
            "hit_rate": self.hit_rate,
            "external_hit_rate": self.external_hit_rate,
            "total_hit_rate": self.total_hit_rate,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class EndpointFigures:
    """One endpoint: ``status`` is ``ok``, ``missing`` or ``reset_detected`` (``restarted``: because the process is
    another one); engines by label (none if unlabelled)."""

    endpoint: str
    status: str
    total: Figures
    engines: Mapping[str, Figures]
    restarted: bool = False

    def to_json(self) -> dict[str, Any]:
        rows = [{"engine": name, **figures.to_json()} for name, figures in self.engines.items()]
        return {
            "endpoint": self.endpoint,
            "status": self.status,
            "restarted": self.restarted,
            **self.total.to_json(),
            "engines": rows,
        }


@dataclass(frozen=True, slots=True)
class Aggregation:
    """``status``: ``complete``, ``partial`` (an endpoint, or its hits or queries, is missing) or ``reset_detected``."""

    adapter: str
    status: str
    total: Figures
    endpoints: tuple[EndpointFigures, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "adapter": self.adapter,
            "status": self.status,
            "global": self.total.to_json(),
            "endpoints": [e.to_json() for e in self.endpoints],
        }


def aggregate(adapter: Adapter, before: Snapshot, after: Snapshot, fallen: Collection[str] = ()) -> Aggregation:
    """Difference two snapshots of the same endpoints.

    A series absent before and present after counts from 0. A decrease, or another process start time, means the
    counters began anew in between: the figure is null and flagged. An endpoint without one of its pages is missing.
    ``fallen``: endpoints whose counters were seen to fall in between.
    """
    labels = list(dict.fromkeys((*before.pages, *before.errors, *after.pages, *after.errors)))
    endpoints = tuple(
        _endpoint(adapter, label, before.pages.get(label), after.pages.get(label), label in fallen) for label in labels
    )
    present = [e for e in endpoints if e.status != "missing"]
    missing = [e.endpoint for e in endpoints if e.status == "missing"]
    unread = tuple(
        flag for flag in (UNREAD_BEFORE, UNREAD_AFTER) if any(flag in e.total.flags for e in endpoints) and not present
    )
    counters = {
        quantity: _sum(
            (e.total.counters[quantity] for e in present), metric.unit, (PARTIAL, *unread) if missing else ()
        )
        for quantity, metric in _counters(adapter)
    }
    notes = [f"{name} gave no metrics, so the sums leave it out" for name in missing]
    halved = any(
        PARTIAL in counters[quantity].flags for quantity in (Quantity.HITS, Quantity.QUERIES) if quantity in counters
    )
    if halved and not missing:
        notes.append("not every endpoint counts both hits and queries, so their sums are of a part of the service")
    status = "partial" if missing or halved else "complete"
    if any(e.status == RESET for e in present):
        status = RESET
    return Aggregation(adapter.name, status, _figures(counters, notes), endpoints)


def _endpoint(
    adapter: Adapter, label: str, before: MetricsPage | None, after: MetricsPage | None, fallen: bool
) -> EndpointFigures:
    if before is None or after is None:
        ends = ((UNREAD_BEFORE,) if before is None else ()) + ((UNREAD_AFTER,) if after is None else ())
        absent = {q: Figure(None, None, None, m.unit, (ABSENT, *ends)) for q, m in _counters(adapter)}
        return EndpointFigures(label, "missing", Figures(absent), {})
    restarted = before.started_at is not None and after.started_at is not None and before.started_at != after.started_at
    anew = restarted or fallen
    engines = {}
    for engine in dict.fromkeys((*adapter.engines(before), *adapter.engines(after))):
        own = {q: _difference(m, before, after, anew, (adapter.engine_label, engine)) for q, m in _counters(adapter)}
        engines[engine] = _figures({q: f for q, f in own.items() if ABSENT not in f.flags}, [])
    total = {q: _difference(m, before, after, anew) for q, m in _counters(adapter)}
    _fill_unborn(adapter, total)
    reset = any(RESET in f.flags for f in total.values())
    notes = ["the server was restarted within the interval"] if restarted else []
    return EndpointFigures(label, RESET if reset else "ok", _figures(total, notes), engines, restarted)


def _counters(adapter: Adapter) -> list[tuple[Quantity, Metric]]:
    return [(q, m) for q, m in adapter.metrics.items() if m.kind == "counter"]


def _difference(
    metric: Metric, before: MetricsPage, after: MetricsPage, anew: bool, only: tuple[str, str] | None = None
) -> Figure:
    def own(samples: Iterable[Sample]) -> dict[Any, float]:
        return {s.key: s.value for s in samples if only is None or s.labels.get(only[0]) == only[1]}

    old, new = own(metric.select(before)), own(metric.select(after))
    unit = _unit(metric, after)
    if not old and not new:
        return Figure(None, None, None, unit, (ABSENT,))
    flags = [BORN] if any(key not in old for key in new) else []
    if anew or any(new.get(key, -1.0) < value for key, value in old.items()):
        return Figure(_total(old), _total(new), None, unit, (*flags, RESET))
    delta = sum(value - old.get(key, 0.0) for key, value in new.items())
    return Figure(_total(old), _total(new), delta, unit, tuple(flags))


def _fill_unborn(adapter: Adapter, total: dict[Quantity, Figure]) -> None:
    """A series known to appear with its first event is 0 while the queries beside it move."""
    queries = total[Quantity.QUERIES]
    for quantity, metric in _counters(adapter):
        if metric.born_with_first and ABSENT in total[quantity].flags and queries.delta:
            total[quantity] = Figure(None, None, 0.0, metric.unit, (NOT_YET_BORN,))


def _unit(metric: Metric, page: MetricsPage) -> str:
    for name in metric.names:
        if page.named(name):
            return "blocks" if metric.unit == "tokens" and "block" in page.helps.get(name, "").lower() else metric.unit
    return metric.unit


def _sum(figures: Iterable[Figure], unit: str, extra: tuple[str, ...]) -> Figure:
    parts = list(figures)
    present = [p for p in parts if ABSENT not in p.flags]
    if not present:
        return Figure(None, None, None, unit, (ABSENT, *extra))
    flags = dict.fromkeys(flag for p in parts for flag in p.flags if flag != ABSENT)
    if len(present) < len(parts):
        flags[PARTIAL] = None
    units = {p.unit for p in present}
    known = all(p.delta is not None for p in present) and len(units) == 1
    delta = sum(p.delta for p in present if p.delta is not None) if known else None
    return Figure(
        _add(p.before for p in present),
        _add(p.after for p in present),
        delta,
        units.pop() if len(units) == 1 else "mixed",
        tuple(dict.fromkeys((*flags, *extra))),
    )


def _figures(counters: Mapping[Quantity, Figure], notes: list[str]) -> Figures:
    figures = Figures(counters, tuple(notes))
    more = []
    hits, queries = figures.delta(Quantity.HITS), figures.delta(Quantity.QUERIES)
    if hits is not None and queries is not None and hits > queries:
        more.append(
            f"more hits ({hits:,.0f}) than queries ({queries:,.0f}): the two counters do not count the same thing "
            "here, or other traffic was in flight when they were read; the ratio is shown as it is"
        )
    if counters.get(Quantity.QUERIES) and counters[Quantity.QUERIES].unit == "blocks":
        more.append("this server counts queries and hits in blocks, full blocks only")
    return Figures(counters, (*notes, *more))


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _total(values: Mapping[Any, float]) -> float | None:
    return sum(values.values()) if values else None


def _add(values: Iterable[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def _plain(value: float | None) -> float | int | None:
    return int(value) if value is not None and value.is_integer() else value
