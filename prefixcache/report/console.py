"""Target, designed and measured side by side on a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from prefixcache.report.formats import count, percent
from prefixcache.report.goodput import goodput_lines
from prefixcache.report.stages import stage_lines
from prefixcache.report.strings import language_of
from prefixcache.report.tables import Tables

STYLES = {
    "exact": "bold green",
    "within_range": "bold blue",
    "misfit": "bold yellow",
    "deviates": "bold red",
    "polluted": "bold red",
    "incomplete": "bold yellow",
}


def three_way_table(report: dict[str, Any], language: str = "en") -> RenderableType:
    """What ``run``, ``report`` and ``demo`` print: the table, the verdict, and the number of warnings.

    Args:
        report: the JSON of ``build_prefix_cache_report``.
        language: ``en`` or ``zh``.
    """
    words = Tables(report, language_of(language))
    table = Table(title=Text(str(report["dataset"]["id"])), title_justify="left")
    if words.several:
        table.add_column(words.word("pass"), no_wrap=True)
    table.add_column("", no_wrap=True)
    for key in ("hit_ratio", "hit_tokens", "query_tokens", "deviation"):
        table.add_column(words.word(key), justify="right", no_wrap=True)
    for figures in report["passes"]:
        for n, row in enumerate(_rows(words, figures)):
            lead = [words.pass_name(figures["name"]) if n == 0 else ""] if words.several else []
            table.add_row(*(Text(cell) for cell in (*lead, *row)), end_section=n == 2)
    parts: list[RenderableType] = [table, _verdict(words)]
    parts += [Text(line) for line in (*goodput_lines(words), *stage_lines(words))]
    parts += [Text(line, style="dim") for line in words.missing_notes()]
    return Group(*parts, _status(words))


def print_comparison(report: dict[str, Any], console: Console, language: str = "en") -> None:
    """Print ``three_way_table``."""
    console.print(three_way_table(report, language))


def _rows(words: Tables, figures: dict[str, Any]) -> list[tuple[str, ...]]:
    none = words.missing
    construction = _deviation(words, figures, "construction")
    runtime = _deviation(words, figures, "runtime")
    return [
        (words.word("target.short"), percent(figures["target_hit_ratio"], none), "", "", ""),
        (
            words.word("designed.short"),
            percent(figures["designed_hit_ratio"], none),
            count(figures["expected_hit_tokens"], none),
            count(figures["input_tokens"], none),
            construction,
        ),
        (
            words.word("measured.short"),
            words.mark(figures, percent(figures["actual_hit_rate"], none)),
            count(figures["measured_hit_tokens"], none),
            count(figures["measured_query_tokens"], none),
            runtime,
        ),
    ]


def _deviation(words: Tables, figures: dict[str, Any], kind: str) -> str:
    size = figures[f"{kind}_deviation"]
    if size is None:
        return words.missing
    return words.word("kind_of_deviation", size=words.pp(size), kind=words.word(f"{kind}.short"))


def _verdict(words: Tables) -> Text:
    verdict = words.report["verdict"]
    line = Text(words.word("verdict." + verdict["code"]) + words.word("colon"), style=STYLES[verdict["code"]])
    return line.append(verdict[f"text_{words.language}"], style="not bold default")


def _status(words: Tables) -> Text:
    report = words.report
    parts = [
        f"{words.word('dataset_status')} {words.status(report['validation_status'])}",
        f"{words.word('run_status')} {words.status(report['run_status'])}",
        f"{words.word('section.warnings')} {len(report['warnings'])}",
    ]
    return Text(" · ".join(parts), style="dim")
