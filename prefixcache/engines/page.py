"""A Prometheus text page, read tolerantly: a bad sample costs that sample and a warning, never the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

# Histogram buckets are most of a page and never needed; `_created` is a time, not a value.
IGNORED_SUFFIXES = ("_created", "_bucket")
MAX_WARNINGS = 20
MOST_DIGITS = 9


class Sample(NamedTuple):
    """One series at one moment. ``name`` is without ``_total``, so that both spellings of a counter match."""

    name: str
    labels: dict[str, str]
    value: float

    @property
    def key(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Identity of the series across snapshots."""
        return self.name, tuple(sorted(self.labels.items()))


@dataclass(frozen=True, slots=True)
class MetricsPage:
    """Samples by name, HELP texts by name (both without ``_total``), and what could not be read."""

    series: Mapping[str, tuple[Sample, ...]]
    helps: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def named(self, name: str) -> tuple[Sample, ...]:
        return self.series.get(name, ())

    @property
    def started_at(self) -> float | None:
        """``process_start_time_seconds``, where the page has it: a change means the server was restarted."""
        found = self.named("process_start_time_seconds")
        return found[0].value if found and math.isfinite(found[0].value) else None

    def cleaned(self, labels: Collection[str], clean: Callable[[str], str]) -> MetricsPage:
        """The same page with the values of these labels passed through ``clean``.

        Only of those that are written down: the others are asked for by name and value, and a password can be a word
        of them.
        """

        def own(sample: Sample) -> Sample:
            found = {name: shown_label(sample.labels[name], clean) for name in labels if name in sample.labels}
            return sample._replace(labels={**sample.labels, **found}) if found else sample

        return replace(self, series={name: tuple(map(own, samples)) for name, samples in self.series.items()})


def shown_label(value: str, clean: Callable[[str], str]) -> str:
    """A label's value as it may be shown; a short number (a rank, a size) is a figure and stays."""
    return value if value.isascii() and value.isdecimal() and len(value) <= MOST_DIGITS else clean(value)


def base_name(name: str) -> str:
    return name.removesuffix("_total")


def parse_page(text: str, wanted: Collection[str] | None = None, clean: Callable[[str], str] = str) -> MetricsPage:
    """Read a metrics page in Prometheus' text format.

    Args:
        text: the page.
        wanted: names without ``_total``; the other lines are skipped unread. A full page takes milliseconds to
            parse, which a load generator cannot spare while it polls.
        clean: takes out of a line what must not be shown, before the line is shortened for a warning.

    Returns:
        The page; lines that are no samples are in ``warnings``.
    """
    series: dict[str, list[Sample]] = {}
    helps: dict[str, str] = {}
    warnings: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line:
            continue
        if line.startswith("#"):
            _read_help(line, helps)
            continue
        name = line.split("{", 1)[0].split(None, 1)[0] if line[0] not in "{ " else ""
        if name.endswith(IGNORED_SUFFIXES) or (wanted is not None and base_name(name) not in wanted):
            continue
        try:
            samples = _read_samples(line)
        except (ValueError, IndexError, KeyError) as error:
            if len(warnings) < MAX_WARNINGS:
                warnings.append(f"metrics line {number} skipped ({error.__class__.__name__}): {clean(line)[:80]}")
            continue
        for sample in samples:
            if math.isinf(sample.value):  # NaN is "not available", this is no figure at all
                if len(warnings) < MAX_WARNINGS:
                    warnings.append(f"metrics line {number} skipped (infinite): {clean(line)[:80]}")
                continue
            series.setdefault(sample.name, []).append(sample)
    return MetricsPage({name: tuple(found) for name, found in series.items()}, helps, tuple(warnings))


def _read_help(line: str, helps: dict[str, str]) -> None:
    parts = line.split(None, 3)
    if len(parts) == 4 and parts[1] == "HELP":
        helps[base_name(parts[2])] = parts[3]


def _read_samples(line: str) -> list[Sample]:
    return [
        Sample(base_name(s.name), dict(s.labels), float(s.value))
        for family in text_string_to_metric_families(line + "\n")
        for s in family.samples
    ]
