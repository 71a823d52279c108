"""What the product must know of a serving framework, as plain data: one ``Adapter`` a framework.

A new framework is one small module that builds an ``Adapter``; nothing else in the product names its metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from prefixcache.engines.page import MetricsPage
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Absent, Series, Share, Source, Sum, level, present

Metric = tuple[Source, ...] | Absent
"""Where a quantity stands: the sources in the order in which they are looked for, or why there is none."""


MOST_SIZE = 2**53
"""Above it nothing that a server states is believed, nor fits into a JSON number."""


def whole(value: str | float | None) -> int | None:
    """A size that a server states, as a whole number above 0; None for anything else ("None", 0, infinity, 10³⁰)."""
    try:
        number = int(float(value)) if value is not None else 0
    except (ValueError, OverflowError):
        return None
    return number if 0 < number <= MOST_SIZE else None


ResetAnswer = Literal["done", "unconfirmed", "busy", "absent", "refused"]


@dataclass(frozen=True, slots=True)
class ResetRoute:
    """How the prefix cache is emptied.

    Args:
        path: route, sent by POST; empty: the framework has none.
        external_params: query parameters that also empty an external tier.
        judge: HTTP status and body → what happened.
        remedy: how a user gets the route where it is absent.
    """

    path: str
    external_params: Mapping[str, str]
    judge: Callable[[int, bytes], ResetAnswer]
    remedy: str


def no_reset(remedy: str) -> ResetRoute:
    """Of a framework that cannot empty its cache on request."""
    return ResetRoute("", {}, lambda status, body: "absent", remedy)


@dataclass(frozen=True, slots=True)
class CacheFacts:
    """What a metrics page tells about the cache; None where it does not.

    ``kv_tokens`` are the usable tokens of ONE engine (DP rank), ``hit_alignment`` a unit of matching that the server
    states beside its block size.
    """

    block_size: int | None = None
    num_blocks: int | None = None
    kv_tokens: int | None = None
    prefix_caching: bool | None = None
    hit_alignment: int | None = None
    max_model_len: int | None = None
    raw: Mapping[str, str] = field(default_factory=dict)


Tiers = Literal["counted", "none", "in_hits", "uncounted"]
"""What of the tiers behind the device's memory is counted: ``counted`` apart; there are ``none``; their hits are
``in_hits``; or ``uncounted``, so that a total is not known."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known of a framework beside its metrics, for the probe, the preflight and docs/engines.md.

    Args:
        title: its name as people write it.
        block_size: where its block size can be read, in words.
        default_block_size: its own default in tokens; None if it depends or is unknown.
        hit_rule: tokens that a request hits, in words.
        units: hit units of model families that are not the block size, ``(family, rule)``.
        traps: what misleads.
        estimate: what makes its estimated figures worse, for those who read one.
        fixed_block: it decides on its block size itself, whatever it is asked for.
        sources: where all this comes from.
    """

    title: str
    block_size: str = ""
    default_block_size: int | None = None
    hit_rule: str = ""
    units: tuple[tuple[str, str], ...] = ()
    traps: tuple[str, ...] = ()
    estimate: str = ""
    fixed_block: bool = False
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Adapter:
    """One serving framework, or one store behind it.

    Args:
        name: short name, also in the files of a run and of ``--engine``.
        marks: metric names, or prefixes ending in ``*``, by which its pages are recognised.
        metrics: logical quantity → where it stands.
        engine_label: label that tells the engines (DP ranks) of one page apart.
        cache_facts: reads the cache's facts from a page.
        reset: how the prefix cache is emptied.
        rank_header: request header that pins a DP rank; None: there is none.
        info_paths: routes that may hold server facts as JSON, first that answers counts.
        salt_field: field of the request body whose value separates caches (None: the framework has none). A server may
            be too old for it, so it is believed only after a probe.
        tiers: what of the tiers behind the device's memory is counted.
        store: a cache behind engines, whose figures are shown beside theirs and never added to them.
        by_source: its prompt tokens by source are as fresh as its hits, so that the two check each other.
        needs: a hint for users whose pages lack the metrics.
        described: by a user: that a page has none of the few names that are known is no proof that it is another's.
        owner: ``owned_by`` of its ``/v1/models``; empty: not known.
        traits: see :class:`Traits`.
    """

    name: str
    marks: tuple[str, ...]
    metrics: Mapping[Quantity, Metric]
    traits: Traits
    engine_label: str = "engine"
    cache_facts: Callable[[MetricsPage], CacheFacts] = lambda _: CacheFacts()
    reset: ResetRoute = field(default_factory=lambda: no_reset("restart the server to empty its cache"))
    rank_header: str | None = None
    info_paths: tuple[str, ...] = ("/server_info",)
    salt_field: str | None = None
    tiers: Tiers = "uncounted"
    store: bool = False
    by_source: bool = False
    needs: str = ""
    described: bool = False
    owner: str = ""

    def sources(self, quantity: Quantity) -> tuple[Source, ...]:
        """Where a quantity may stand; nowhere for one that the framework does not export."""
        found = self.metrics.get(quantity, ())
        return () if isinstance(found, Absent) else found

    def source(self, quantity: Quantity, *pages: MetricsPage) -> Source | None:
        """The first source that one of these pages has, asked in this order."""
        for page in pages:
            for source in self.sources(quantity):
                if present(source, page):
                    return source
        return None

    def why_absent(self, quantity: Quantity) -> str:
        """Why a quantity has no figure on a page that lacks all its sources."""
        found = self.metrics.get(quantity)
        if isinstance(found, Absent):
            return found.why
        names = " or ".join(dict.fromkeys(n for source in self.sources(quantity) for n in sorted(source.all_names)))
        return f"the page has no {names}" if names else f"{self.traits.title} exports no such figure"

    def name_of(self, quantity: Quantity) -> str:
        """What a quantity is called there: its newest name, or its own where the framework has none."""
        sources = self.sources(quantity)
        return parts(sources[0])[0].names[0] if sources else quantity.value

    def metric_names(self) -> frozenset[str]:
        """All names this adapter looks for, without ``_total``: what a cheap poll needs to parse."""
        quantities = {name for q in self.metrics for source in self.sources(q) for name in source.all_names}
        return frozenset(quantities | self.witnesses())

    def witnesses(self) -> set[str]:
        """Names that tell which version a page comes from."""
        return {
            name
            for q in self.metrics
            for source in self.sources(q)
            if isinstance(source, Series)
            for name in source.witnesses
            if not name.endswith("*")
        }

    def value(self, quantity: Quantity, page: MetricsPage, engine: str | None = None) -> float | None:
        """A quantity on a page (of one engine, if named): series are summed, of ratios the largest counts.

        None if the page does not have it.
        """
        source = self.source(quantity, page)
        return None if source is None else level(source, page, None if engine is None else (self.engine_label, engine))

    def engines(self, page: MetricsPage, quantities: Collection[Quantity] | None = None) -> tuple[str, ...]:
        """Engine labels seen on a page (on these quantities, if given), in numeric order where they are numbers."""
        seen = {
            s.labels[self.engine_label]
            for quantity in self.metrics
            if quantities is None or quantity in quantities
            for source in self.sources(quantity)
            for series in parts(source)
            for s in series.select(page)
            if self.engine_label in s.labels
        }
        return tuple(sorted(seen, key=lambda e: (not e.isdigit(), int(e) if e.isdigit() else 0, e)))

    def recognises(self, name: str) -> bool:
        """Is this one of the names by which its pages are known?"""
        return any(name.startswith(m[:-1]) if m.endswith("*") else name == m for m in self.marks)

    def owns(self, page: MetricsPage) -> bool:
        """Does the page speak of at least one of its metrics, with or without a figure?"""
        return any(self.recognises(name) for name in page.told_names)


def parts(source: Source) -> tuple[Series, ...]:
    """The series that a source is made of."""
    match source:
        case Series():
            return (source,)
        case Sum():
            return tuple(s for _, s in source.terms)
        case Share():
            return (source.ratio, source.total)
