"""What servers counted between two moments (``prefixcache metrics``) as a table and lines."""

from __future__ import annotations

from typing import Any

from prefixcache.help.messages import say
from prefixcache.help.words import Language
from prefixcache.report.formats import percent
from prefixcache.report.sheet import Grid

NONE = "–"
COLUMNS = ("queries", "hits", "hit_ratio", "external_queries", "external_hits", "total_hit_ratio")


def counted_tables(told: dict[str, Any], language: Language) -> list[Grid]:
    """One row for each domain and one for all; what nothing tells is left out."""
    wide = any(row["external_hits"] for row in (*told["domains"], told["global"]))
    shown = [c for c in COLUMNS if wide or not c.startswith("external")]
    unit = say(f"counted.unit.{told['unit'] or 'token'}", language)
    title = say("counted.title", language, engine=told["engine"], unit=unit)
    head = [say(f"counted.{name}", language) for name in ("endpoint", "engine_label", *shown)]
    rows = [
        [_endpoint(row, language), row["engine_label"] or NONE, *(_cell(row, name) for name in shown)]
        for row in told["domains"]
    ]
    rows.append([say("counted.all", language), "", *(_cell(told["global"], name) for name in shown)])
    grids = [Grid(title, head, rows, texts=2, strong=frozenset({len(rows) - 1}))]
    if told["stores"]:
        grids.append(_stores(told["stores"], language))
    return grids


def counted_lines(told: dict[str, Any], language: Language) -> list[str]:
    """What the total lacks, with its reason, and its status where that is not complete."""
    lines = []
    if told["status"] != "complete":
        lines.append(say(f"counted.status.{told['status']}", language))
    return lines


def _stores(stores: list[dict[str, Any]], language: Language) -> Grid:
    columns = ("store", "endpoint", "unit", "queries", "hits", "hit_ratio")
    rows = [
        [row["store"], row["endpoint"], say(f"counted.unit.{row['unit'] or 'token'}", language),
         *(_cell(row, name) for name in columns[3:])]
        for row in stores
    ]  # fmt: skip
    return Grid(say("counted.stores", language), [say(f"counted.{c}", language) for c in columns], rows, texts=3)


def _endpoint(row: dict[str, Any], language: Language) -> str:
    return row["endpoint"] if row["role"] == "mixed" else f"{row['endpoint']} ({row['role']})"


def _cell(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if value is None:
        return NONE
    return percent(value, NONE) if name.endswith("ratio") else f"{value:,.0f}"
