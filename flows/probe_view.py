"""What a probe found, as a card for people: whole in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from prefixcache.help.messages import named, say
from prefixcache.help.words import Language
from prefixcache.probe.findings import NAMES, Finding, ProbeReport

CARD_WIDTH = 80
COLOURS = {"measured": "green", "stated": "cyan", "derived": "cyan", "unknown": "yellow"}


def card(report: ProbeReport, lang: Language) -> Table:
    """One row a finding: value, source, evidence."""
    table = Table(
        title=escape(say("probe.title", lang, endpoint=report.endpoint)),
        title_justify="left",
        width=CARD_WIDTH,
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column(say("probe.finding", lang), no_wrap=True)
    table.add_column(say("probe.value", lang), max_width=21, overflow="fold")
    table.add_column(say("probe.source", lang), no_wrap=True)
    table.add_column(say("probe.evidence", lang), overflow="fold")
    for name in NAMES:
        if (finding := report.findings.get(name)) is not None:
            colour = COLOURS[finding.source]
            table.add_row(
                named("probe.name", name, lang),
                escape(value_text(finding, lang)),
                f"[{colour}]{say(f'probe.source.{finding.source}', lang)}[/]",
                escape(finding.text(lang)),
            )
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
        return ", ".join(map(str, value))
    if isinstance(value, Mapping):
        return say("probe.tokens_value", lang, agree=value["agree"], strings=value["strings"])
    return str(value)


def closing(report: ProbeReport, lang: Language) -> Iterator[str]:
    """What stands below the card."""
    for each in report.contradictions:
        yield f"[bold red]{say('probe.contradiction', lang)}[/] {escape(each.sentence.text(lang))}"
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
