"""A metrics page kept as plain numbers, for engines whose pages prometheus_client's own classes cannot show: series
that are born with their first event, and no ``_created``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from prometheus_client.core import Metric

Labels = tuple[tuple[str, str], ...]
Kind = Literal["counter", "gauge", "histogram"]


@dataclass
class Family:
    """One family; ``buckets`` are the upper bounds of a histogram's."""

    name: str
    kind: Kind
    help: str
    buckets: tuple[float, ...] = ()
    values: dict[Labels, float] = field(default_factory=dict)
    read: dict[Labels, Callable[[], float]] = field(default_factory=dict)
    counts: dict[Labels, list[int]] = field(default_factory=dict)

    @property
    def base(self) -> str:
        return self.name.removesuffix("_total")

    def add(self, amount: float, labels: Labels) -> None:
        self.values[labels] = self.values.get(labels, 0) + amount

    def set(self, value: float, labels: Labels) -> None:
        self.values[labels] = value

    def observe(self, value: float, labels: Labels) -> None:
        counts = self.counts.setdefault(labels, [0] * (len(self.buckets) + 1))
        counts[next((i for i, bound in enumerate(self.buckets) if value <= bound), len(self.buckets))] += 1
        self.add(value, labels)

    def clear(self) -> None:
        self.values.clear()
        self.counts.clear()

    def samples(self) -> Iterator[tuple[str, dict[str, str], float]]:
        """Names with their ends, labels, values; a histogram's are its buckets, sum and count."""
        known = {**self.values, **{labels: value() for labels, value in self.read.items()}}
        for labels, value in known.items():
            given = dict(labels)
            if self.kind != "histogram":
                yield self.name, given, value
                continue
            total = 0
            for bound, count in zip((*self.buckets, float("inf")), self.counts[labels], strict=True):
                total += count
                yield f"{self.name}_bucket", {**given, "le": _bound(bound)}, total
            yield f"{self.name}_count", given, total
            yield f"{self.name}_sum", given, value


class Table:
    """Families in the order they were named in."""

    def __init__(self) -> None:
        self._families: dict[str, Family] = {}
        self._dropped: frozenset[str] = frozenset()

    def family(self, name: str, kind: Kind, text: str, buckets: tuple[float, ...] = ()) -> Family:
        made = self._families[name] = Family(name, kind, text, buckets)
        return made

    def clear(self) -> None:
        """Counters and histograms have counted nothing; gauges are what they are."""
        for family in self._families.values():
            if family.kind != "gauge":
                family.clear()

    def families(self) -> list[str]:
        return [family.base for family in self._families.values()]

    def drop(self, names: Iterable[str]) -> None:
        self._dropped |= {name.removesuffix("_total") for name in names}

    def shown(self) -> Iterator[tuple[Family, list[tuple[str, dict[str, str], float]]]]:
        """What the page has: families with at least one series."""
        for family in self._families.values():
            samples = list(family.samples())
            if samples and family.base not in self._dropped:
                yield family, samples

    def collect(self) -> Iterator[Metric]:
        """For prometheus_client."""
        for family, samples in self.shown():
            name = family.base if family.kind == "counter" else family.name
            metric = Metric(name, family.help, family.kind)
            for sample, labels, value in samples:
                metric.add_sample(sample, labels, value)
            yield metric


def labels_of(**labels: str) -> Labels:
    return tuple(sorted(labels.items()))


def _bound(bound: float) -> str:
    return "+Inf" if bound == float("inf") else str(float(bound))
