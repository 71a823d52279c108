"""How a quantity stands on a metrics page: as one series, as a sum of several, or as a ratio of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from prefixcache.engines.page import MetricsPage, Sample, SeriesKey
from prefixcache.engines.quantities import Kind, Scope, Unit


@dataclass(frozen=True, slots=True)
class Series:
    """One series, or one for each engine.

    Args:
        names: spellings of the same thing, without ``_total``; the first one present counts.
        kind, unit, scope: see :mod:`.quantities`.
        labels: label → values one of which a sample must have; ``""`` stands for a sample without the label.
        lowest: values below it mean "not available" (MindIE writes -1).
        help_names_unit: a HELP text that speaks of blocks or of tokens decides between the two. Without one the unit is
            open, and told from the prompt tokens beside it.
        witnesses: names, or prefixes ending in ``*``, that only versions have which also export this series: with one
            of them on the page the series' absence means that nothing has happened yet, which is 0.
        versions, note: for people, in docs/engines.md.
    """

    names: tuple[str, ...]
    kind: Kind = "cumulative"
    unit: Unit = "token"
    scope: Scope = "engine"
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lowest: float | None = None
    help_names_unit: bool = False
    witnesses: tuple[str, ...] = ()
    versions: str = ""
    note: str = ""

    @property
    def all_names(self) -> frozenset[str]:
        return frozenset(self.names)

    def select(self, page: MetricsPage) -> tuple[Sample, ...]:
        """The page's samples of the first name that it has; what is no number of its kind (NaN, a negative
        count) is left out."""
        for name in self.names:
            if found := tuple(s for s in page.named(name) if self._is_own(s)):
                return found
        return ()

    def unread(self, page: MetricsPage) -> frozenset[SeriesKey] | None:
        """Series that are on the page without a number: their figure is not known, which is not 0. None: any may be,
        because a part of the page could not be read.

        Where values below ``lowest`` mean "not available", such a value and NaN mean that nothing was counted yet.
        """
        if page.cut or not page.unread.isdisjoint(self.names):
            return None
        if self.lowest is not None:
            return frozenset()
        return frozenset(
            s.key for name in self.names for s in page.named(name) if self._is_labelled(s) and not self._is_number(s)
        )

    def _is_own(self, sample: Sample) -> bool:
        return self._is_number(sample) and self._is_labelled(sample)

    def _is_number(self, sample: Sample) -> bool:
        lowest = 0.0 if self.lowest is None and self.kind == "cumulative" else self.lowest
        return sample.value == sample.value and (lowest is None or sample.value >= lowest)

    def _is_labelled(self, sample: Sample) -> bool:
        return all(sample.labels.get(label, "") in values for label, values in self.labels.items())

    def exported_by(self, page: MetricsPage) -> bool:
        """Does a page without this series come from a version that has it?"""
        if any(name in page.types or name in page.helps for name in self.names):
            return True
        return any(
            any(name.startswith(w[:-1]) for name in page.series) if w.endswith("*") else w in page.series
            for w in self.witnesses
        )

    def unit_on(self, page: MetricsPage) -> Unit | None:
        """Unit of the values on this page; None if it is open."""
        if not self.help_names_unit:
            return self.unit
        for name in self.names:
            text = page.helps.get(name, "").lower()
            if ("block" in text) != ("token" in text):
                return "block" if "block" in text else "token"
        return None


@dataclass(frozen=True, slots=True)
class Sum:
    """A linear combination of series: ``(+1 | -1, series)``; known only where all of them are."""

    terms: tuple[tuple[int, Series], ...]
    versions: str = ""
    note: str = ""

    kind: Kind = "cumulative"

    @property
    def unit(self) -> Unit:
        return self.terms[0][1].unit

    @property
    def scope(self) -> Scope:
        return "endpoint" if any(s.scope == "endpoint" for _, s in self.terms) else "engine"

    @property
    def all_names(self) -> frozenset[str]:
        return frozenset(name for _, s in self.terms for name in s.names)


@dataclass(frozen=True, slots=True)
class Share:
    """A cumulative count known only as a ratio since the start of the process, times what it is a ratio of.

    An estimate: the ratio is printed with few digits, and may be one of blocks while ``total`` counts tokens.
    """

    ratio: Series
    total: Series
    versions: str = ""
    note: str = ""

    kind: Kind = "cumulative"

    @property
    def unit(self) -> Unit:
        return self.total.unit

    @property
    def scope(self) -> Scope:
        return self.total.scope

    @property
    def all_names(self) -> frozenset[str]:
        return self.ratio.all_names | self.total.all_names


Source = Series | Sum | Share


@dataclass(frozen=True, slots=True)
class Absent:
    """A quantity that a framework does not export, with the reason: shown in place of a figure."""

    why: str


def present(source: Source, page: MetricsPage) -> bool:
    """Has the page what the source is made of?"""
    match source:
        case Series():
            return bool(source.select(page))
        case Sum():
            return all(s.select(page) for _, s in source.terms)
        case Share():
            return bool(source.ratio.select(page)) and bool(source.total.select(page))


def level(source: Source, page: MetricsPage, only: tuple[str, str] | None = None) -> float | None:
    """The source's value on a page at its moment; of ratios the largest counts. None if the page does not have it.

    Args:
        only: label and value that samples must have.
    """
    match source:
        case Series():
            values = [s.value for s in own(source.select(page), only)]
            if not values:
                return None
            return max(values) if source.unit == "ratio" else sum(values)
        case Sum():
            terms = [(sign, level(s, page, only)) for sign, s in source.terms]
            return None if any(v is None for _, v in terms) else sum(sign * (v or 0.0) for sign, v in terms)
        case Share():
            pairs = shares(source, page, only)
            return sum(ratio * total for ratio, total in pairs) if pairs else None


def shares(source: Share, page: MetricsPage, only: tuple[str, str] | None = None) -> list[tuple[float, float]]:
    """Ratio and total, paired by their labels; one ratio for all totals stands for each of them."""
    ratios = own(source.ratio.select(page), only)
    totals = own(source.total.select(page), only)
    if len(ratios) == 1:
        return [(ratios[0].value, sum(t.value for t in totals))] if totals else []
    by_labels = {s.key[1]: s.value for s in totals}
    found = [(s.value, by_labels[s.key[1]]) for s in ratios if s.key[1] in by_labels]
    return found if len(found) == len(ratios) else []


def own(samples: tuple[Sample, ...], only: tuple[str, str] | None) -> tuple[Sample, ...]:
    """Those with a label of this value; all if None."""
    return samples if only is None else tuple(s for s in samples if s.labels.get(only[0]) == only[1])
