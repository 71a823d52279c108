"""Hit ratio against the size of a cache as one HTML page that needs nothing beside itself."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from prefixcache.files import write_bytes
from prefixcache.help.messages import named, say
from prefixcache.help.words import Language
from prefixcache.report.figures import AXIS, COLOURS, DASHES, GRID


def write_sweep(report: dict[str, Any], path: Path, language: Language) -> None:
    """Draw the sweeps of a simulation.

    Args:
        report: of :mod:`prefixcache.simulation`, with its sweep.
    """
    write_bytes(path, render_sweep(report, language).encode())


def render_sweep(report: dict[str, Any], language: Language) -> str:
    """The page; see :func:`write_sweep`."""
    from plotly.offline import get_plotlyjs  # slow to import and needed here only

    sweeps = report["sweeps"] if "sweeps" in report else [report["sweep"]]
    title = say("simulate.sweep_title", language)
    head = say(
        "simulate.head", language, **{name: report[name] for name in ("engine", "block_size", "domains", "routing")}
    )
    spec = {"data": [line for n, sweep in enumerate(sweeps) for line in _lines(sweep, n, language)],
            "layout": _layout(language)}  # fmt: skip
    return (
        _environment()
        .get_template("sweep.html.j2")
        .render(
            lang="zh-CN" if language == "zh" else "en",
            title=title,
            head=head if report.get("dataset_id") is None else f"{report['dataset_id']} · {head}",
            columns=[say(f"column.{name}", language) for name in ("num_blocks", "hit_tokens", "ratio", "of_ideal")],
            tables=[_table(sweep, language) for sweep in sweeps],
            # "<" only, so that no text in it can end its element.
            spec=Markup(orjson.dumps(spec).decode().replace("<", "\\u003c")),
            plotly=Markup(get_plotlyjs()),
        )
    )


def _lines(sweep: dict[str, Any], number: int, language: Language) -> list[dict[str, Any]]:
    points = sorted([*sweep["points"], *sweep["needed"]], key=lambda row: row["num_blocks"])
    x = [row["num_blocks"] for row in points]
    name = named("pass_name", sweep["name"], language) if "name" in sweep else say("column.ratio", language)
    colour = COLOURS[number % len(COLOURS)]
    line = {"type": "scatter", "mode": "lines+markers", "name": name, "x": x, "y": [_share(row) for row in points],
            "line": {"color": colour, "shape": "hv", "dash": DASHES[number % len(DASHES)]}}  # fmt: skip
    ideal = sweep["ideal_token_hit_ratio"]
    level = {"type": "scatter", "mode": "lines", "name": f"{name}, {say('simulate.ideal_line', language)}",
             "x": [x[0], x[-1]], "y": [None if ideal is None else ideal * 100] * 2,
             "line": {"color": colour, "width": 1, "dash": "dot"}}  # fmt: skip
    return [line, level]


def _share(row: dict[str, Any]) -> float | None:
    ratio = row["token_hit_ratio"]
    return None if ratio is None else ratio * 100


def _layout(language: Language) -> dict[str, Any]:
    axis = {"gridcolor": GRID, "linecolor": AXIS, "zeroline": False, "automargin": True}
    return {
        "autosize": True,
        "margin": {"l": 56, "r": 12, "t": 8, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
        "xaxis": axis | {"type": "log", "title": {"text": say("simulate.sweep_axis", language)}},
        "yaxis": axis | {"rangemode": "tozero", "title": {"text": say("simulate.ratio_axis", language)}},
    }


def _table(sweep: dict[str, Any], language: Language) -> dict[str, Any]:
    """The sizes that shares of the ideal need."""
    rows = [
        [f"{row['num_blocks']:,}", f"{row['hit_tokens']:,}", _percent(row["token_hit_ratio"]), f"{row['share']:.0%}"]
        for row in sweep["needed"]
    ]
    name = named("pass_name", sweep["name"], language) if "name" in sweep else ""
    ideal = say("simulate.ideal", language, ideal=_percent(sweep["ideal_token_hit_ratio"]),
                tokens=f"{sweep['ideal_hit_tokens']:,}")  # fmt: skip
    return {"title": name, "rows": rows, "note": f"{ideal} ({named('method', sweep['method'], language)})"}


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio * 100:.4f} %"


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("prefixcache.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
