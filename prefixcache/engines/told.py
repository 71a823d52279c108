"""Two snapshots told as one object: what ``prefixcache metrics`` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.aggregate import RESET, Aggregation, EndpointFigures, Figures, aggregate
from prefixcache.engines.differences import BORN, PARTIAL, plain
from prefixcache.engines.frameworks.stores import stores_on
from prefixcache.engines.quantities import Quantity, Role
from prefixcache.engines.series import Series
from prefixcache.engines.snapshot import Snapshot

CACHE = (Quantity.QUERIES, Quantity.HITS, Quantity.EXTERNAL_QUERIES, Quantity.EXTERNAL_HITS)
BESIDE = (
    Quantity.PROMPT_TOKENS,
    Quantity.PROMPT_COMPUTED,
    Quantity.PROMPT_LOCAL_HIT,
    Quantity.PROMPT_EXTERNAL,
    Quantity.GENERATION_TOKENS,
    Quantity.PREEMPTIONS,
    Quantity.EVICTED,
)


def tell(
    adapter: Adapter, before: Snapshot, after: Snapshot, roles: Mapping[str, Role] | None = None
) -> dict[str, Any]:
    """The interval between two snapshots.

    Returns:
        ``{engine, status, unit, domains[], endpoints[], global, stores[], warnings[]}``: tokens unless ``unit`` says
        otherwise, ratios 0-1, null where something is not known, with the reason in ``not_available``.
    """
    found = aggregate(adapter, before, after, roles=roles)
    return {
        "engine": adapter.name,
        "status": found.status,
        "unit": found.total.unit(Quantity.QUERIES),
        "domains": [row for endpoint in found.endpoints for row in _domains(endpoint)],
        "endpoints": [_row(e.endpoint, None, e.total, e) for e in found.endpoints],
        "global": _global(found),
        "stores": _stores(adapter, before, after),
        "warnings": _warnings(found, before, after, adapter),
    }


def _domains(endpoint: EndpointFigures) -> list[dict[str, Any]]:
    """One row for each engine that has queries or hits of its own; else one for the endpoint."""
    own = {
        name: figures
        for name, figures in endpoint.engines.items()
        if any(q in figures.counters for q in (Quantity.QUERIES, Quantity.HITS))
    }
    if not own:
        return [_row(endpoint.endpoint, None, endpoint.total, endpoint)]
    return [_row(endpoint.endpoint, name, figures, endpoint) for name, figures in own.items()]


def _row(name: str, engine: str | None, figures: Figures, endpoint: EndpointFigures) -> dict[str, Any]:
    return {
        "endpoint": name,
        "engine_label": engine,
        "role": endpoint.role,
        "status": endpoint.status,
        **_figures(figures),
    }


def _figures(figures: Figures) -> dict[str, Any]:
    reset = RESET in figures.flags
    unknown = {q.value: why for q in CACHE if (why := figures.why_unknown(q))}
    if figures.total_hit_rate is None and figures.hit_rate is not None:
        unknown["total_hit_ratio"] = unknown.get("external_hits", "hits of outer tiers are not known")
    return {
        "queries": plain(figures.delta(Quantity.QUERIES)),
        "hits": plain(figures.delta(Quantity.HITS)),
        "hit_ratio": figures.hit_rate,
        "external_queries": plain(figures.delta(Quantity.EXTERNAL_QUERIES)),
        "external_hits": plain(figures.delta(Quantity.EXTERNAL_HITS)),
        "external_hit_ratio": figures.external_hit_rate,
        "total_hit_ratio": figures.total_hit_rate,
        "reset": reset,
        "at_least": {q.value: plain(figures.at_least(q)) for q in CACHE[:2]} if reset else None,
        "unit": figures.unit(Quantity.QUERIES),
        "not_available": unknown,
        "beside": {q.value: plain(figures.delta(q)) for q in BESIDE if figures.delta(q) is not None},
    }


def _global(found: Aggregation) -> dict[str, Any]:
    missing = any(e.status == "missing" for e in found.endpoints)
    return {**_figures(found.total), "partial": missing or PARTIAL in found.total.flags}


def _stores(adapter: Adapter, before: Snapshot, after: Snapshot) -> list[dict[str, Any]]:
    """Stores behind the engine, each by itself: what they count is never added to the engine's figures."""
    rows = []
    for label, page in after.pages.items():
        for store in stores_on(page):
            if store is adapter:
                continue
            first = {label: before.pages[label]} if label in before.pages else {}
            figures = aggregate(store, Snapshot(first), Snapshot({label: page})).total
            rows.append({"store": store.name, "endpoint": label, **_figures(figures)})
    return rows


def _warnings(found: Aggregation, before: Snapshot, after: Snapshot, adapter: Adapter) -> list[str]:
    texts: list[str] = []
    for when, snapshot in (("before", before), ("after", after)):
        texts += [f"{when}: {text}" for text in snapshot.warnings]
    for endpoint in found.endpoints:
        if endpoint.status != RESET:
            texts += [f"{endpoint.endpoint}: {note}" for note in endpoint.total.notes]
        else:
            least = {q.value: endpoint.total.at_least(q) for q in CACHE[:2]}
            known = ", ".join(f"{name} at least {value:,.0f}" for name, value in least.items() if value is not None)
            cause = "its process was restarted" if endpoint.restarted else "its counters began anew"
            texts.append(
                f"{endpoint.endpoint}: {cause} in between, so its figures are not known ({known or 'no bound either'})"
            )
            texts += _swapped(endpoint, before, after)
    texts += [note for note in found.total.notes if not any(note in text for text in texts)]
    for quantity in CACHE[:2]:
        if found.total.delta(quantity) is None and not any(e.status == RESET for e in found.endpoints):
            texts.append(f"{quantity.value} are not available: {found.total.why_unknown(quantity)}")
    texts += [
        f"{label}: its two pages are the same, so one page was given twice or nothing was asked in between"
        for label, page in after.pages.items()
        if page.series and label in before.pages and page.series == before.pages[label].series
    ]
    texts += _born(adapter, found)
    texts += _never_looked_up(found)
    texts += _gauges(adapter, after)
    texts += _models(after)
    return list(dict.fromkeys(texts))


def _swapped(endpoint: EndpointFigures, before: Snapshot, after: Snapshot) -> list[str]:
    """Saved pages whose order may be wrong: no counter grew, and nothing says that the page of after is of a process
    that began later."""
    label = endpoint.endpoint
    if not before.files or label not in before.pages or label not in after.pages:  # Prometheus' moments are in order
        return []
    ends = [(f.before, f.after) for f in endpoint.total.counters.values() if f.before is not None]
    if any(new is not None and new > (old or 0.0) for old, new in ends):
        return []
    first, last = before.pages[label], after.pages[label]
    begun = [(first.started_at, last.started_at)]
    begun += [(at, last.created[key]) for key, at in first.created.items() if key in last.created]
    known = [(old, new) for old, new in begun if old is not None and new is not None]
    if any(new > old for old, new in known):
        return []
    if any(new < old for old, new in known):
        return [
            f"{label}: its page of after is of a process that began before that of its page of before: the two are "
            "probably swapped"
        ]
    if known:
        return [f"{label}: its counters fell although both pages are of one process: the two are probably swapped"]
    return [f"{label}: no counter is higher on its page of after than on its page of before: the two may be swapped"]


def _born(adapter: Adapter, found: Aggregation) -> list[str]:
    """Counters without a series before, beside others that have one: counted from 0, which a page that was saved in
    part does not bear out. Where a series is known to begin with its first event, nothing is said."""
    texts = []
    for endpoint in found.endpoints:
        own = {q: endpoint.total.counters[q] for q in CACHE if q in endpoint.total.counters}
        if endpoint.status == RESET or not any(f.before is not None for f in endpoint.total.counters.values()):
            continue
        late = [q for q in CACHE if any(isinstance(s, Series) and s.witnesses for s in adapter.sources(q))]
        born = [q.value for q, f in own.items() if BORN in f.flags and f.before is None and q not in late]
        if born:
            texts.append(
                f"{endpoint.endpoint}: the page of before has no series of {', '.join(born)}, so all that the page of "
                "after shows is taken as counted in between"
            )
    return texts


def _never_looked_up(found: Aggregation) -> list[str]:
    """Queries and prompt tokens are counted apart: where they differ, some prompts were not looked up once each."""
    texts = []
    for endpoint in found.endpoints:
        queries, prompts = endpoint.total.delta(Quantity.QUERIES), endpoint.total.delta(Quantity.PROMPT_TOKENS)
        if endpoint.total.unit(Quantity.QUERIES) != "token" or None in (queries, prompts) or queries == prompts:
            continue
        if (queries or 0) < (prompts or 0):
            why = "some prompts are never looked up (prompt logprobs bypass the cache)"
        else:
            why = (
                "some tokens were looked up more than once (older versions count preempted and waiting requests again) "
                "or belong to prompts that were aborted"
            )
        texts.append(f"{endpoint.endpoint}: {queries:,.0f} tokens were looked up, {prompts:,.0f} prompt tokens: {why}")
    return texts


def _gauges(adapter: Adapter, after: Snapshot) -> list[str]:
    """A ratio that a page shows although it is none of the interval."""
    texts = []
    for label, page in after.pages.items():
        value, source = adapter.value(Quantity.HIT_RATIO, page), adapter.source(Quantity.HIT_RATIO, page)
        if value is not None and source is not None:
            why = source.note or "no figure of an interval"
            texts.append(f"{label}: shows a hit ratio of {value:g}, which is not that of the interval ({why})")
    return texts


def _models(after: Snapshot) -> list[str]:
    return [
        f"{label}: has series of several models ({', '.join(page.models[:5])}), all of them summed; choose one with "
        "--model-name"
        for label, page in after.pages.items()
        if len(page.models) > 1
    ]
