"""A Prometheus text page, read tolerantly: a bad sample costs that sample and a warning, never the page."""

from __future__ import annotations

import codecs
import gzip
import math
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

CREATED, TOTAL = "_created", "_total"
# Histogram buckets are most of a page and never needed.
IGNORED_SUFFIXES = ("_bucket",)
MODEL_LABELS = ("model_name", "model")
MAX_WARNINGS = 20
MOST_DIGITS = 9
GZIP = b"\x1f\x8b"
MOST_BYTES = 256 * 2**20
TOO_LARGE = f"more than {MOST_BYTES:,} bytes of text"
# What ends a page of OpenMetrics, with or without a line's end behind it.
END = "# EOF"


SeriesKey = tuple[str, tuple[tuple[str, str], ...]]
"""Name without ``_total``, and labels in order: the identity of a series across snapshots."""


class Sample(NamedTuple):
    """One series at one moment. ``name`` is without ``_total``, so that both spellings of a counter match."""

    name: str
    labels: dict[str, str]
    value: float

    @property
    def key(self) -> SeriesKey:
        return self.name, tuple(sorted(self.labels.items()))


@dataclass(frozen=True, slots=True)
class MetricsPage:
    """Samples by name, HELP and TYPE texts by name (all without ``_total``), and what could not be read.

    ``created``: when each counter began, by its ``_created`` series, as :attr:`Sample.key` of the counter. ``unread``:
    names some sample of which could not be read; ``cut``: the page ends within a line, so more may be missing.
    ``others``: names all series of which are of other models than the one that was asked for.
    """

    series: Mapping[str, tuple[Sample, ...]]
    helps: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    created: Mapping[SeriesKey, float] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    cut: bool = False
    others: frozenset[str] = frozenset()

    @property
    def told_names(self) -> frozenset[str]:
        """All names that the page speaks of, those without a sample among them: that nothing was counted yet, or only
        for another model, makes it no other server's page."""
        return self.unread.union(self.series, self.helps, self.types, self.others)

    def named(self, name: str) -> tuple[Sample, ...]:
        return self.series.get(name, ())

    @property
    def started_at(self) -> float | None:
        """``process_start_time_seconds``, where the page has it: a change means the server was restarted."""
        found = self.named("process_start_time_seconds")
        return found[0].value if found and math.isfinite(found[0].value) else None

    @property
    def models(self) -> tuple[str, ...]:
        """The models that its series speak of."""
        found = {
            s.labels[label]
            for samples in self.series.values()
            for s in samples
            for label in MODEL_LABELS
            if label in s.labels
        }
        return tuple(sorted(found))

    def of_model(self, model: str) -> MetricsPage:
        """Only the series of one model, and those that name none."""
        kept = {
            name: tuple(s for s in samples if all(s.labels.get(label, model) == model for label in MODEL_LABELS))
            for name, samples in self.series.items()
        }
        own = {name: samples for name, samples in kept.items() if samples}
        return replace(self, series=own, others=self.others.union(kept.keys() - own.keys()))

    def parted(self, label: str) -> dict[str, MetricsPage]:
        """The page once for each value of a label, with only the series that have it."""
        found: dict[str, dict[str, list[Sample]]] = {}
        for name, samples in self.series.items():
            for sample in samples:
                if label in sample.labels:
                    found.setdefault(sample.labels[label], {}).setdefault(name, []).append(sample)
        return {
            value: replace(self, series={name: tuple(own) for name, own in series.items()})
            for value, series in found.items()
        }

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
    return name.removesuffix(TOTAL)


def page_text(body: bytes) -> str:
    """A page's bytes as text: unpacked if they are gzip whatever the header says, without a byte order mark.

    Raises:
        ValueError: broken gzip, or more than ``MOST_BYTES`` of text.
    """
    if body[:2] == GZIP:
        body = _unpacked(body)
    if len(body) > MOST_BYTES:
        raise ValueError(TOO_LARGE)
    if body[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):  # as PowerShell saves
        return body.decode("utf-16", "replace")
    return body.decode("utf-8-sig", "replace")


def _unpacked(body: bytes) -> bytes:
    """All members of a gzip file, each to its end."""
    found: list[bytes] = []
    room = MOST_BYTES
    while body[:2] == GZIP:
        unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            found.append(unpack.decompress(body, room + 1))
        except (zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"broken gzip ({error})") from None
        room -= len(found[-1])
        if room < 0:
            raise ValueError(TOO_LARGE)
        if not unpack.eof:
            raise ValueError("broken gzip (its end is missing)")
        body = unpack.unused_data
    return b"".join(found)


def parse_page(
    text: str, wanted: Collection[str] | None = None, clean: Callable[[str], str] = str, *, to_end: bool = False
) -> MetricsPage:
    """Read a metrics page in Prometheus' text format, or OpenMetrics.

    Args:
        text: the page.
        wanted: names without ``_total``; the other lines are skipped unread. A full page takes milliseconds to
            parse, which a load generator cannot spare while it polls.
        clean: takes out of a line what must not be shown, before the line is shortened for a warning.
        to_end: both formats end every line with a line feed, so of a page that does not the last line was cut and is
            not read: 12 may have been 1,234.

    Returns:
        The page; lines that are no samples are in ``warnings``. Of two samples of one series the first counts, as a
        Prometheus server has it.
    """
    return _Reading(wanted, clean).read(text, to_end)


class _Reading:
    """The page as far as it is read."""

    def __init__(self, wanted: Collection[str] | None, clean: Callable[[str], str]) -> None:
        self.wanted = wanted
        self.clean = clean
        self.series: dict[str, dict[SeriesKey, Sample]] = {}
        self.spelled: dict[SeriesKey, str] = {}
        self.helps: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.created: dict[SeriesKey, float] = {}
        self.warnings: list[str] = []
        self.unread: set[str] = set()

    def read(self, text: str, to_end: bool) -> MetricsPage:
        lines = text.split("\n")  # other ends of lines that Unicode knows may stand in a label
        last = lines[-1].strip()
        cut = to_end and last not in ("", END)
        if cut:
            lines.pop()
        for number, line in enumerate(lines, 1):
            if line := line.strip():
                self._line(number, line)
        if cut:
            self._warn(len(lines) + 1, "skipped (the page ends within this line: what stood behind it is lost)", last)
        samples = {name: tuple(found.values()) for name, found in self.series.items()}
        unread = frozenset(self.unread)
        return MetricsPage(samples, self.helps, tuple(self.warnings), self.types, self.created, unread, cut)

    def _line(self, number: int, line: str) -> None:
        if line.startswith("#"):
            self._comment(line)
            return
        # A name of any characters stands quoted inside of the braces.
        name = line.split("{", 1)[0].split(None, 1)[0] if line[0] not in "{ " else ""
        if name and (name.endswith(IGNORED_SUFFIXES) or not self._is_wanted(name)):
            return
        try:
            samples = _read_samples(line)
        except (ValueError, IndexError, KeyError, AttributeError, TypeError) as error:
            self._warn(number, f"skipped ({error.__class__.__name__})", line)
            self.unread.add(base_name(name))
            return
        for spelled, sample in samples:
            self._take(number, line, spelled, sample)

    def _is_wanted(self, name: str) -> bool:
        return self.wanted is None or base_name(name.removesuffix(CREATED)) in self.wanted

    def _take(self, number: int, line: str, spelled: str, sample: Sample) -> None:
        if not self._is_wanted(sample.name):
            return
        if math.isinf(sample.value):  # NaN is "not available", this is no figure at all
            self._warn(number, "skipped (infinite)", line)
            self.unread.add(sample.name)
            return
        if sample.name.endswith(CREATED):
            self.created[sample._replace(name=base_name(sample.name.removesuffix(CREATED))).key] = sample.value
            return
        key, known = sample.key, self.series.setdefault(sample.name, {})
        before = self.spelled.get(key)
        if before == spelled:
            self._warn(number, f"skipped (the series is there before, as {known[key].value:g})", line)
        elif before is None or spelled.endswith(TOTAL):  # a counter beside a gauge of the same name
            known[key], self.spelled[key] = sample, spelled

    def _warn(self, number: int, what: str, line: str) -> None:
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(f"metrics line {number} {what}: {self.clean(line)[:80]}")

    def _comment(self, line: str) -> None:
        words = line.split(None, 3)
        if len(words) == 4 and words[1] == "HELP":
            self.helps[base_name(words[2])] = words[3]
        elif len(words) == 4 and words[1] == "TYPE":
            self.types[base_name(words[2])] = words[3]


def _read_samples(line: str) -> list[tuple[str, Sample]]:
    """The samples of a line, with the names as they are spelled."""
    return [
        (s.name, Sample(base_name(s.name), dict(s.labels), float(s.value)))
        for family in text_string_to_metric_families(line + "\n")
        for s in family.samples
    ]
