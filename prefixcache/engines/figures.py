"""Cumulative quantities of one engine, one endpoint or all, and the rates that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.differences import ESTIMATE, NOT_YET_BORN, UNIT_OPEN, Figure
from prefixcache.engines.quantities import Quantity

# Full blocks only are looked up, so even block counters of blocks of 2 stay below this share of the prompt tokens.
SHARE_OF_TOKENS = 0.6


@dataclass(frozen=True, slots=True)
class Figures:
    """Counters of one engine, one endpoint or all, with the rates that follow from them (0-1, null = unknown).

    ``adapter`` says what of the tiers behind the device is counted.
    """

    adapter: Adapter
    counters: Mapping[Quantity, Figure]
    notes: tuple[str, ...] = ()

    @property
    def flags(self) -> frozenset[str]:
        """What is special about any of the counters."""
        return frozenset(flag for figure in self.counters.values() for flag in figure.flags)

    def delta(self, quantity: Quantity) -> float | None:
        figure = self.counters.get(quantity)
        return figure.delta if figure else None

    def unit(self, quantity: Quantity) -> str | None:
        figure = self.counters.get(quantity)
        return figure.unit if figure else None

    def at_least(self, quantity: Quantity) -> float | None:
        """What is known to have been counted; the figure itself where it is known."""
        figure = self.counters.get(quantity)
        return None if figure is None else figure.at_least if figure.delta is None else figure.delta

    @property
    def hit_rate(self) -> float | None:
        """Local hits over local queries. May exceed 1; ``notes`` then says so."""
        return self._ratio(self.delta(Quantity.HITS), Quantity.HITS, Quantity.QUERIES)

    @property
    def external_hit_rate(self) -> float | None:
        return self._ratio(self.delta(Quantity.EXTERNAL_HITS), Quantity.EXTERNAL_HITS, Quantity.EXTERNAL_QUERIES)

    @property
    def total_hit_rate(self) -> float | None:
        """Local plus external hits over local queries: an external tier is asked only for what missed locally.

        Where the framework has no tier behind the device, or counts one among its hits, that is the local rate; where
        it may have one that is not counted, it is unknown.
        """
        if self.adapter.tiers in ("none", "in_hits"):
            return self.hit_rate
        hits, external = self.delta(Quantity.HITS), self.delta(Quantity.EXTERNAL_HITS)
        if hits is None or external is None or self.unit(Quantity.HITS) != self.unit(Quantity.EXTERNAL_HITS):
            return None
        return self._ratio(hits + external, Quantity.HITS, Quantity.QUERIES)

    def why_unknown(self, quantity: Quantity) -> str | None:
        """The reason of a figure that is null."""
        figure = self.counters.get(quantity)
        if figure is None:
            return self.adapter.why_absent(quantity)
        return None if figure.delta is not None else figure.why or self.adapter.why_absent(quantity)

    def _ratio(self, part: float | None, of: Quantity, whole: Quantity) -> float | None:
        queries = self.delta(whole)
        if part is None or not queries or self.unit(of) != self.unit(whole):
            return None
        return part / queries

    def to_json(self) -> dict[str, Any]:
        return {
            "counters": {q.value: f.to_json() for q, f in self.counters.items()},
            "hit_rate": self.hit_rate,
            "external_hit_rate": self.external_hit_rate,
            "total_hit_rate": self.total_hit_rate,
            "notes": list(self.notes),
        }


def told_units(counters: dict[Quantity, Figure]) -> dict[Quantity, Figure]:
    """Blocks or tokens, where the page does not say: queries in tokens are about as many as the prompt tokens."""
    queries, prompts = counters.get(Quantity.QUERIES), counters.get(Quantity.PROMPT_TOKENS)
    if queries is None or UNIT_OPEN not in queries.flags or not queries.delta:
        return counters
    if prompts is None or not prompts.delta:
        return counters
    unit = "token" if queries.delta >= SHARE_OF_TOKENS * prompts.delta else "block"
    return {
        q: replace(f, unit=unit, flags=tuple(flag for flag in f.flags if flag != UNIT_OPEN))
        if UNIT_OPEN in f.flags
        else f
        for q, f in counters.items()
    }


def figures_of(adapter: Adapter, counters: Mapping[Quantity, Figure], notes: list[str]) -> Figures:
    figures = Figures(adapter, counters, tuple(notes))
    more = []
    hits, queries = figures.delta(Quantity.HITS), figures.delta(Quantity.QUERIES)
    if hits is not None and queries is not None and hits > queries:
        more.append(
            f"more hits ({hits:,.0f}) than queries ({queries:,.0f}): the two counters do not count the same thing "
            "here, or other traffic was in flight when they were read; the ratio is shown as it is"
        )
    more += [
        f"{name} fell by {-delta:,.0f}: what is taken off grew more than what it is taken from"
        for name, delta in (("hits", hits), ("queries", queries))
        if delta is not None and delta < 0
    ]
    found = figures.delta(Quantity.PROMPT_LOCAL_HIT) if adapter.by_source else None
    if None not in (hits, found) and hits != found and figures.unit(Quantity.HITS) == "token":
        more.append(
            f"the hits counter says {hits:,.0f}, the prompt tokens by source say that {found:,.0f} were found cached: "
            "lookups that were made again or given up are among the hits, or one of the two is wrong in this version"
        )
    if figures.unit(Quantity.QUERIES) == "block":
        more.append("this server counts queries and hits in blocks, full blocks only")
    if UNIT_OPEN in figures.flags:
        more.append("the page does not say whether it counts blocks or tokens; taken as blocks")
    if ESTIMATE in figures.flags:
        worse = f"; {adapter.traits.estimate}" if adapter.traits.estimate else ""
        more.append(
            f"hits are an estimate: a rounded ratio since the start times the prompt tokens, at both ends{worse}"
        )
    unborn = [q for q in (Quantity.HITS, Quantity.EXTERNAL_HITS) if q in counters and NOT_YET_BORN in counters[q].flags]
    # Of the tier behind the device alone its flag tells: most servers have none, and a note in every run says nothing.
    if Quantity.HITS in unborn:
        names = ", ".join(unborn)
        more.append(f"no series of {names} yet: this version shows it from its first event on, so it is 0")
    return Figures(adapter, counters, (*notes, *more))
