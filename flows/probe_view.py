"""What a probe found, as a card for people: whole in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table

from flows.narrow import wrapped
from prefixcache.help.messages import named, say
from prefixcache.help.words import Language
from prefixcache.help.words.cli import CLI
from prefixcache.probe.findings import NAMES, Finding, ProbeReport

CARD_WIDTH, GAP, MOST_VALUE = 80, 2, 21
COLOURS = {"measured": "green", "stated": "cyan", "derived": "cyan", "unknown": "yellow"}


def card(report: ProbeReport, lang: Language) -> Table:
    """One row a finding: value, source, evidence."""
    rows = [
        (
            named("probe.name", name, lang),
            value_text(finding, lang),
            say(f"probe.source.{finding.source}", lang),
            finding.text(lang),
            COLOURS[finding.source],
        )
        for name in NAMES
        if (finding := report.findings.get(name)) is not None
    ]
    heads = [say(f"probe.{name}", lang) for name in ("finding", "value", "source", "evidence")]
    widths = [max(cell_len(row[at]) for row in (heads, *rows)) for at in range(3)]
    widths[1] = min(MOST_VALUE, widths[1])
    widths.append(CARD_WIDTH - sum(widths) - GAP * len(widths))
    table = Table(width=CARD_WIDTH, box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    for head, width in zip(heads, widths, strict=True):
        table.add_column(head, width=width, overflow="fold")
    for name, value, source, evidence, colour in rows:
        lines = "\n".join(wrapped(evidence, widths[3]))
        table.add_row(name, escape(value), f"[{colour}]{source}[/]", escape(lines))
    return table


def value_text(finding: Finding, lang: Language) -> str:
    """A value in short."""
    value: Any = finding.value
    if value is None:
        return say("probe.unknown_value" if finding.source == "unknown" else "probe.none_value", lang)
    if isinstance(value, bool):
        return say("probe.yes" if value else "probe.no", lang)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return say("list", lang).join(_word(finding.name, each, lang) for each in value)
    if isinstance(value, Mapping):
        return say("probe.tokens_value", lang, agree=value["agree"], strings=value["strings"])
    return _word(finding.name, value, lang)


def _word(name: str, value: Any, lang: Language) -> str:
    """A value that is a word, or a name of the server's."""
    key = f"probe.value.{name}.{value}"
    return say(key, lang) if key in CLI else str(value)


def opening(report: ProbeReport, lang: Language) -> Iterator[str]:
    """What stands above the card: whose it is, and what contradicts."""
    yield f"[bold]{escape(say('probe.title', lang, endpoint=report.endpoint))}[/]"
    for each in report.contradictions:
        yield f"[bold red]{say('probe.contradiction', lang)}[/]{escape(each.sentence.text(lang))}"


def closing(report: ProbeReport, lang: Language) -> Iterator[str]:
    """What stands below the card."""
    if not report.contradictions:
        yield say("probe.no_contradiction", lang)
    if report.status == "partial":
        yield f"[yellow]{say('probe.partial', lang)}[/]"
    figures = {
        "requests": f"{report.requests:,}",
        "tokens": f"{report.tokens_sent:,}",
        "left": f"{report.tokens_left:,}",
        "seconds": f"{report.seconds:.1f}",
    }
    yield f"[dim]{say('probe.sums', lang, **figures)}[/]"
