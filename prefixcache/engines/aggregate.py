"""Two snapshots → what happened between them, per engine, per endpoint and global.

Counters are differenced per series and summed before anything is divided: a mean of ratios is never taken. What
cannot be known is null with a flag that says why; nothing is clipped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.differences import (
    ABSENT,
    ANEW,
    BORN,
    NOT_YET_BORN,
    PARTIAL,
    RESET,
    UNREAD_AFTER,
    UNREAD_BEFORE,
    UNREADABLE,
    Figure,
    Interval,
    difference,
    summed,
    unborn,
)
from prefixcache.engines.figures import Figures, figures_of, told_units
from prefixcache.engines.frameworks.stores import is_only_a_store
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.quantities import MOMENTARY, Quantity, Role
from prefixcache.engines.series import Absent
from prefixcache.engines.snapshot import Snapshot

__all__ = [
    "ABSENT",
    "BORN",
    "NOT_YET_BORN",
    "PARTIAL",
    "RESET",
    "UNREADABLE",
    "UNREAD_AFTER",
    "UNREAD_BEFORE",
    "Aggregation",
    "EndpointFigures",
    "Figure",
    "Figures",
    "aggregate",
]

CACHE_QUANTITIES = (Quantity.QUERIES, Quantity.HITS, Quantity.EXTERNAL_QUERIES, Quantity.EXTERNAL_HITS)


@dataclass(frozen=True, slots=True)
class EndpointFigures:
    """One endpoint: ``status`` is ``ok``, ``missing`` or ``reset_detected`` (``restarted``: because the process is
    another one); engines by label (none if unlabelled); what it does (``role``)."""

    endpoint: str
    status: str
    total: Figures
    engines: Mapping[str, Figures]
    restarted: bool = False
    role: Role = "mixed"

    def to_json(self) -> dict[str, Any]:
        rows = [{"engine": name, **figures.to_json()} for name, figures in self.engines.items()]
        return {
            "endpoint": self.endpoint,
            "role": self.role,
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


def aggregate(
    adapter: Adapter,
    before: Snapshot,
    after: Snapshot,
    fallen: Collection[str] = (),
    roles: Mapping[str, Role] | None = None,
    risen: Mapping[str, Mapping[Quantity, float]] | None = None,
) -> Aggregation:
    """Difference two snapshots of the same endpoints.

    A series absent before and present after counts from 0. A decrease, or another process start time, means the
    counters began anew in between: the figure is null and flagged, and what was counted since is its least. An
    endpoint without one of its pages is missing; so is one of whose two pages only one is the framework's: another's
    page lacks all counters, which is not 0.

    Args:
        adapter: what the pages are read with.
        before, after: the snapshots.
        fallen: endpoints whose counters were seen to fall in between.
        roles: endpoint → what it does, ``mixed`` if not named. Decode endpoints are not in the sums of the cache: they
            are sent prompts that were computed elsewhere.
        risen: endpoint → by how much counters were seen to rise in between: their least after a reset.
    """
    labels = [
        label
        for label in dict.fromkeys((*before.pages, *before.errors, *after.pages, *after.errors))
        if not _is_of_a_store(adapter, before.pages.get(label), after.pages.get(label))
    ]
    roles, risen = roles or {}, risen or {}
    endpoints = tuple(
        _endpoint(
            adapter,
            label,
            before.pages.get(label),
            after.pages.get(label),
            label in fallen,
            roles.get(label, "mixed"),
            risen.get(label, {}),
        )
        for label in labels
    )
    counted = [e for e in endpoints if e.role != "decode"]
    present = [e for e in counted if e.status != "missing"]
    missing = [e.endpoint for e in counted if e.status == "missing"]
    unread = tuple(
        flag for flag in (UNREAD_BEFORE, UNREAD_AFTER) if any(flag in e.total.flags for e in counted) and not present
    )
    counters = {
        quantity: summed(
            (e.total.counters[quantity] for e in present),
            _unit(adapter, quantity),
            (PARTIAL, *unread) if missing else (),
        )
        for quantity in _cumulative(adapter)
    }
    notes = [f"{name} gave no metrics, so the sums leave it out" for name in missing]
    if len(counted) < len(endpoints):
        apart = ", ".join(e.endpoint for e in endpoints if e.role == "decode")
        notes.append(f"the hit rate is that of prefill: decode endpoints ({apart}) are not in the sums")
    halved = any(
        PARTIAL in counters[quantity].flags for quantity in (Quantity.HITS, Quantity.QUERIES) if quantity in counters
    )
    lost = any(UNREADABLE in counters[q].flags for q in (Quantity.HITS, Quantity.QUERIES) if q in counters)
    if halved and not missing:
        notes.append("not every endpoint counts both hits and queries, so their sums are of a part of the service")
    status = "partial" if missing or halved or lost else "complete"
    if any(e.status == RESET for e in present):
        status = RESET
    return Aggregation(adapter.name, status, figures_of(adapter, counters, notes), endpoints)


def _is_of_a_store(adapter: Adapter, *pages: MetricsPage | None) -> bool:
    """A page beside the engines' that has none of their figures: that of a store behind them."""
    known = [page for page in pages if page is not None]
    return bool(known) and not adapter.store and all(is_only_a_store(page) for page in known)


def _endpoint(
    adapter: Adapter,
    label: str,
    before: MetricsPage | None,
    after: MetricsPage | None,
    fallen: bool,
    role: Role,
    risen: Mapping[Quantity, float],
) -> EndpointFigures:
    if before is None or after is None:
        ends = ((UNREAD_BEFORE,) if before is None else ()) + ((UNREAD_AFTER,) if after is None else ())
        why = "there is no page of " + " and ".join(
            text for flag, text in ((UNREAD_BEFORE, "its beginning"), (UNREAD_AFTER, "its end")) if flag in ends
        )
        return _missing(adapter, label, role, ends, why)
    if (other := _of_another(adapter, before, after)) is not None:
        when = "beginning" if other == UNREAD_BEFORE else "end"
        return _missing(
            adapter, label, role, (other,), f"the page of its {when} has no series of {adapter.traits.title}"
        )
    restarted = before.started_at is not None and after.started_at is not None and before.started_at != after.started_at
    whole = Interval(before, after, restarted or fallen)
    parts = _engines(adapter, whole)
    found = {q: difference(adapter, q, whole, parts) for q in _cumulative(adapter)}
    total = {q: figure for q, (figure, _) in found.items()}
    engines = {name: {q: own[name] for q, (_, own) in found.items() if ABSENT not in own[name].flags} for name in parts}
    _fill_unborn(adapter, total, before, after)
    if reset := any(RESET in f.flags for own in (total, *engines.values()) for f in own.values()):
        total, engines = _all_anew(total), {name: _all_anew(own) for name, own in engines.items()}
    total = {
        q: replace(f, at_least=max(f.at_least or 0.0, risen[q])) if RESET in f.flags and q in risen else f
        for q, f in total.items()
    }
    rows = {name: figures_of(adapter, told_units(own), []) for name, own in engines.items()}
    notes = ["the server was restarted within the interval"] if restarted else []
    figures = figures_of(adapter, told_units(total), notes)
    return EndpointFigures(label, RESET if reset else "ok", figures, rows, restarted, role)


def _missing(adapter: Adapter, label: str, role: Role, ends: tuple[str, ...], why: str) -> EndpointFigures:
    absent = {q: Figure(None, None, None, _unit(adapter, q), (ABSENT, *ends), why=why) for q in _cumulative(adapter)}
    return EndpointFigures(label, "missing", Figures(adapter, absent), {}, role=role)


def _of_another(adapter: Adapter, before: MetricsPage, after: MetricsPage) -> str | None:
    """The end of the interval at which another exporter answered in the framework's place.

    A store's series, and those that a user describes, may all begin with the first request.
    """
    if adapter.store or adapter.described or adapter.owns(before) == adapter.owns(after):
        return None
    return UNREAD_BEFORE if adapter.owns(after) else UNREAD_AFTER


def _engines(adapter: Adapter, whole: Interval) -> dict[str, Interval]:
    """The pages of each engine."""
    pages = [(page.parted(adapter.engine_label), page) for page in (whole.before, whole.after)]
    found = {}
    for engine in dict.fromkeys((*adapter.engines(whole.before), *adapter.engines(whole.after))):
        first, last = (own.get(engine) or replace(page, series={}) for own, page in pages)
        found[engine] = Interval(first, last, whole.anew)
    return found


def _all_anew(figures: Mapping[Quantity, Figure]) -> dict[Quantity, Figure]:
    """An endpoint of which one counter began anew: another that did not fall may have begun anew and grown further.

    What it grew by since the page of before is its least in either case.
    """
    return {
        q: f
        if f.delta is None or RESET in f.flags
        else replace(f, delta=None, at_least=f.delta, flags=(*f.flags, RESET), why=ANEW)
        for q, f in figures.items()
    }


def _cumulative(adapter: Adapter) -> list[Quantity]:
    """What is differenced: all that the adapter knows but gauges, and the four of the cache in any case."""
    found = [
        q
        for q, metric in adapter.metrics.items()
        if q not in MOMENTARY
        and not isinstance(metric, Absent)
        and any(source.kind == "cumulative" for source in metric)
    ]
    return [
        *(q for q in CACHE_QUANTITIES if q in adapter.metrics or not adapter.store),
        *(q for q in found if q not in CACHE_QUANTITIES),
    ]


def _unit(adapter: Adapter, quantity: Quantity) -> str:
    sources = adapter.sources(quantity)
    return sources[0].unit if sources else "token"


def _fill_unborn(adapter: Adapter, total: dict[Quantity, Figure], before: MetricsPage, after: MetricsPage) -> None:
    """A series known to appear with its first event is 0 while the queries beside it move."""
    moved = total[Quantity.QUERIES].delta or total.get(Quantity.PROMPT_TOKENS, total[Quantity.QUERIES]).delta
    if not moved:
        return
    for quantity, figure in total.items():
        if ABSENT in figure.flags and (zero := unborn(adapter, quantity, before, after)) is not None:
            total[quantity] = zero
