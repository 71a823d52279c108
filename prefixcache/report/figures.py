"""The page's figures as plotly.js specifications (plain data; no Python plotly objects).

Colours are Okabe and Ito's, safe for colour-blind readers; what is compared also differs in line style.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from prefixcache.analysis.growth import staircase, thin
from prefixcache.analysis.rundir import RunDirectory
from prefixcache.report.strings import Language, named, text

BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#6b7280",
)
COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, GREY, "#1f2937")
DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star", "triangle-down")
MOST_LETTERS = 24
MAX_SERIES = len(COLOURS)
MAX_MARKERS = 2000
INK, GRID, AXIS = "#374151", "#e5e7eb", "#9ca3af"


@dataclass(frozen=True)
class Figure:
    """``spec`` is ``{data, layout}`` of plotly.js; without data only the ``note`` is shown."""

    name: str
    title: str
    spec: dict[str, Any] | None
    note: str = ""


def all_figures(report: dict[str, Any], run: RunDirectory, language: Language) -> dict[str, list[Figure]]:
    """The figures by the section they stand in: ``growth``, ``performance``, ``kv``."""
    several = len(report["passes"]) > 1
    growth = [_growth(figures, several, language) for figures in report["passes"]]
    stairs = _staircase(run, language)
    return {
        "growth": [*growth, *([stairs] if stairs else [])],
        "performance": [_ttft_by_hit(run, language), _cdf(run, language)],
        "kv": [_usage(run, language)],
    }


def _growth(figures: dict[str, Any], several: bool, language: Language) -> Figure:
    growth = figures["growth"]
    title = text("chart.growth", language)
    if several:
        title = f"{title} · {named('pass', figures['name'], language)}"
    x = growth["order_index"]
    data = [_line(text("designed", language), x, _percent(growth["designed"]), SKY, width=6)]
    note = text("chart.growth_none", language)
    if growth["measured_requests"]:
        data.append(_line(text("measured", language), x, _percent(growth["measured"]), INK, width=1.6))
        note = text(
            "chart.growth_note",
            language,
            known=f"{growth['measured_requests']:,}",
            planned=f"{growth['requests']:,}",
        )
    target = figures["target_hit_ratio"]
    if target is not None and x:
        level = [target * 100] * 2
        data.append(_line(text("target", language), [x[0], x[-1]], level, VERMILION, width=1.6, dash="dash"))
    layout = _layout(text("chart.order_axis", language), text("chart.ratio_axis", language))
    return Figure(f"growth-{figures['name']}", title, {"data": data, "layout": layout}, note)


def _staircase(run: RunDirectory, language: Language) -> Figure | None:
    """Only where watermarks rise: in a warm plan each lane stands at its longest prefix from the beginning."""
    lanes = staircase(run.plan, MAX_SERIES)
    if not any(len(set(lane["watermark"])) > 1 for lane in lanes):
        return None
    domains = len({lane["domain"] for lane in lanes}) > 1
    data = []
    for n, lane in enumerate(lanes):
        group = lane["group"]
        name = _safe(text("chart.lane", language, group=group, domain=lane["domain"]) if domains else group)
        line = _line(name, lane["order_index"], lane["watermark"], COLOURS[n], dash=DASHES[n % len(DASHES)])
        line["line"]["shape"] = "hv"
        data.append(line)
    total = run.plan.select("planned_dp_id", "prefix_group_id").n_unique()
    note = text("chart.staircase_note", language)
    if total > len(lanes):
        note += " " + text("chart.staircase_more", language, shown=len(lanes), total=total)
    layout = _layout(text("chart.order_axis", language), text("chart.tokens_axis", language), ",d")
    return Figure("staircase", text("chart.staircase", language), {"data": data, "layout": layout}, note)


def _ttft_by_hit(run: RunDirectory, language: Language) -> Figure:
    """One mark a request, coloured by pass if there are several, else by group."""
    title = text("chart.ttft_by_hit", language)
    data: list[dict[str, Any]] = []
    for name in run.passes:
        rows = run.measured(name).filter((pl.col("status") == "ok") & pl.col("ttft_s").is_not_null())
        rows = rows[thin(rows.height, MAX_MARKERS)]
        parts = [(named("pass", name, language), rows)]
        if len(run.passes) == 1 and 1 < rows["prefix_group_id"].n_unique() <= MAX_SERIES:
            groups = rows.partition_by("prefix_group_id", as_dict=True, maintain_order=True)
            parts = [(str(key[0]), part) for key, part in groups.items()]
        data += [_marks(label, part, len(data) + n) for n, (label, part) in enumerate(parts) if part.height]
    if not data:
        return Figure("ttft-by-hit", title, None, text("chart.no_answers", language))
    layout = _layout(text("chart.expected_axis", language), text("metric.ttft_s", language))
    layout["hovermode"] = "closest"
    layout["xaxis"]["range"] = [-2, 102]
    return Figure("ttft-by-hit", title, {"data": data, "layout": layout})


def _marks(name: str, rows: pl.DataFrame, number: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": _safe(name),
        "x": _rounded((rows["expected"] / rows["input_len"] * 100).to_numpy()),
        "y": _rounded((rows["ttft_s"] * 1000).to_numpy()),
        "marker": {
            "color": COLOURS[number % MAX_SERIES],
            "symbol": SYMBOLS[number % MAX_SERIES],
            "size": 6,
            "opacity": 0.65,
        },
    }


def _cdf(run: RunDirectory, language: Language) -> Figure:
    """TTFT, TPOT and E2E side by side; a pass keeps its colour and dash in all three."""
    title = text("chart.cdf", language)
    data: list[dict[str, Any]] = []
    layout = _layout("", text("chart.share_axis", language))
    layout["yaxis"] |= {"range": [0, 101], "rangemode": "normal"}
    for place, metric in enumerate(("ttft_s", "tpot_s", "e2e_s")):
        suffix = "" if place == 0 else str(place + 1)
        axis = _axis(text(f"metric.{metric}", language)) | {"nticks": 6}
        axis["domain"] = [place * 0.36, place * 0.36 + 0.28]
        layout[f"xaxis{suffix}"] = axis
        ends: set[float] = set()
        if place:
            layout[f"yaxis{suffix}"] = layout["yaxis"] | {"anchor": f"x{suffix}", "title": {"text": ""}}
        for n, name in enumerate(run.passes):
            values = run.measured(name).filter(pl.col("status") == "ok")[metric].drop_nulls().sort().to_numpy()
            if not len(values):
                continue
            ends |= {float(values[0]) * 1000, float(values[-1]) * 1000}
            at = thin(len(values))
            line = _line(
                named("pass", name, language),
                _rounded(values[[0, *at]] * 1000),  # a curve begins at 0 %
                _rounded(np.concatenate([[0], at + 1]) / len(values) * 100),
                COLOURS[n],
                dash=DASHES[n],
            )
            shown = n not in {entry["legendrank"] for entry in data}
            data.append(
                line
                | {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "legendgroup": name, "legendrank": n}
                | {"showlegend": shown and len(run.passes) > 1}
            )
        if len(ends) == 1:  # of a constant plotly.js knows no scale: it would draw 0 on an axis from -1 to 1
            size = max(ends) * 2 or 1
            axis["range"] = [-0.03 * size, size]  # a line at 0 stands beside the frame, where it is seen
    if not data:
        return Figure("cdf", title, None, text("chart.no_answers", language))
    layout["hovermode"] = "closest"
    return Figure("cdf", title, {"data": data, "layout": layout})


def _usage(run: RunDirectory, language: Language) -> Figure:
    title = text("section.kv", language)
    samples = run.samples.filter(pl.col("kv_usage").is_not_null() & pl.col("t_s").is_not_null())
    if samples.is_empty():
        return Figure("kv", title, None, text("chart.usage_none", language))
    first, last = samples["kv_usage"].min(), samples["kv_usage"].max()
    if first == last == 0:
        return Figure("kv", title, None, text("chart.usage_zero", language, count=f"{samples.height:,}"))
    series = samples.partition_by(["pass", "endpoint", "engine"], as_dict=True, maintain_order=True)
    endpoints = samples["endpoint"].n_unique()
    data = []
    for n, (key, part) in enumerate(list(series.items())[:MAX_SERIES]):
        name, endpoint, engine = (str(k) for k in key)
        parts = [named("pass", name, language)] if len(run.passes) > 1 else []
        parts += [endpoint] if endpoints > 1 else []
        parts += [text("column.engine", language) + f" {engine}"] if engine != "None" else []
        at = thin(part.height)
        x, y = _rounded(part["t_s"].to_numpy()[at]), _rounded(part["kv_usage"].to_numpy()[at] * 100, 4)
        style = run.passes.index(name) if len(run.passes) > 1 and name in run.passes else n
        data.append(_line(_safe(" · ".join(parts) or endpoint), x, y, COLOURS[n], dash=DASHES[style % len(DASHES)]))
    note = ""
    if len(series) > MAX_SERIES:
        note = text("chart.usage_more", language, shown=MAX_SERIES, total=len(series))
    layout = _layout(text("chart.time_axis", language), text("chart.usage_axis", language))
    layout["showlegend"] = len(data) > 1
    return Figure("kv", title, {"data": data, "layout": layout}, note)


def _line(
    name: str, x: list[Any], y: list[Any], colour: str, *, width: float = 2, dash: str = "solid"
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines" if len(x) > 1 else "markers",
        "name": name,
        "x": x,
        "y": y,
        "line": {"color": colour, "width": width, "dash": dash},
        "marker": {"color": colour},
    }


def _layout(x: str, y: str, y_format: str | None = None) -> dict[str, Any]:
    layout = {
        "autosize": True,
        "margin": {"l": 56, "r": 12, "t": 8, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "x unified",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
        "showlegend": True,
        "xaxis": _axis(x),
        "yaxis": _axis(y) | {"rangemode": "tozero"},
    }
    if y_format:
        layout["yaxis"] |= {"tickformat": y_format}  # type: ignore[operator]
    return layout


def _axis(title: str) -> dict[str, Any]:
    return {
        "title": {"text": title, "standoff": 8},
        "gridcolor": GRID,
        "linecolor": AXIS,
        "zeroline": False,
        "automargin": True,
    }


def _percent(ratios: list[float | None]) -> list[float | None]:
    return [None if r is None else round(r * 100, 4) for r in ratios]


def _rounded(values: Any, digits: int = 3) -> list[float]:
    rounded: list[float] = np.round(np.asarray(values, dtype=np.float64), digits).tolist()
    return rounded


def _safe(name: str) -> str:
    """plotly.js reads names as markup of its own (but knows no ``&quot;``): a user's string must stay a string."""
    return html.escape(_short(name), quote=False)


def _short(name: str) -> str:
    """A long name keeps its ends, which tell names apart: a legend of whole ones leaves no room for the plot."""
    return name if len(name) <= MOST_LETTERS else f"{name[:14]}…{name[-9:]}"
