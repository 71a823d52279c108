"""A page of figures, tables and notes that needs nothing beside itself, and the same tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from prefixcache.help.words import Language
from prefixcache.report.figures import AXIS, GRID


@dataclass(frozen=True)
class Grid:
    """A table of ready text; the first ``texts`` columns are words, the others numbers; ``strong``: rows in bold."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 1
    strong: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Part:
    """A section: lines, warnings, a plotly.js specification, tables, notes."""

    title: str = ""
    lines: Sequence[str] = ()
    warnings: Sequence[str] = ()
    spec: dict[str, Any] | None = None
    tables: Sequence[Grid] = ()
    notes: Sequence[str] = field(default_factory=tuple)


def render_sheet(title: str, head: str, parts: Sequence[Part], language: Language) -> str:
    """The page as HTML."""
    from plotly.offline import get_plotlyjs  # slow to import and needed here only

    return (
        _environment()
        .get_template("sheet.html.j2")
        .render(
            lang="zh-CN" if language == "zh" else "en",
            title=title,
            head=head,
            parts=parts,
            # "<" only, so that no text in it can end its element.
            specs=Markup(orjson.dumps([part.spec for part in parts]).decode().replace("<", "\\u003c")),
            plotly=Markup(get_plotlyjs()),
        )
    )


def axis(title: str, **more: Any) -> dict[str, Any]:
    return {
        "gridcolor": GRID,
        "linecolor": AXIS,
        "zeroline": False,
        "automargin": True,
        "title": {"text": title},
    } | more


def layout(**axes: Any) -> dict[str, Any]:
    """A figure's frame with these axes."""
    return {
        "autosize": True,
        "margin": {"l": 56, "r": 56, "t": 8, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
    } | axes


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("prefixcache.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
