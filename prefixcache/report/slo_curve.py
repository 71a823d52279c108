"""An SLO search as a table, and as one HTML page with its curve."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefixcache.files import write_bytes
from prefixcache.help.messages import named, say
from prefixcache.help.words import Language
from prefixcache.report.figures import BLUE, COLOURS, DASHES, GREEN, GREY, VERMILION
from prefixcache.report.formats import count, decimal, milliseconds, percent
from prefixcache.report.sheet import Grid, Part, axis, layout, render_sheet

NONE = "–"
SEARCH_HTML = "search.html"


def write_slo_curve(report: dict[str, Any], path: Path, language: Language) -> None:
    """Write the page of a search (``prefixcache.load.slo_points.search_slo``)."""
    write_bytes(path, render_slo_curve(report, language).encode())


def render_slo_curve(report: dict[str, Any], language: Language) -> str:
    """The page; see :func:`write_slo_curve`."""
    warnings = [warning[f"text_{language}"] for warning in report["warnings"]]
    part = Part("", [answer(report, language)], warnings, _figure(report, language), [points_table(report, language)])
    return render_sheet(say("search.title", language), head(report, language), [part], language)


def head(report: dict[str, Any], language: Language) -> str:
    """What was asked."""
    loads = report["loads"]
    return say(
        "search.head" if loads is None else "search.head_of_loads",
        language,
        dataset=report["dataset_id"],
        pass_name=report["pass"],
        slo=report["slo_text"],
        share=percent(report["attainment"], NONE),
        over=say(f"over.{report['over']}", language),
        low=report["low"],
        high=report["high"],
        step=report["resolution"],
        loads=", ".join(f"{load:g}" for load in loads or ()),
    )


def answer(report: dict[str, Any], language: Language) -> str:
    """What was found."""
    return say(
        f"limit.{'' if report['loads'] is None else 'of_loads_'}{report['limit']}",
        language,
        over=say(f"over.{report['over']}", language),
        best=report["best"],
        low=report["low"],
        share=percent(report["best_attainment"], NONE),
    )


def points_table(report: dict[str, Any], language: Language) -> Grid:
    """A row a point, by load; the answer in bold."""
    points = sorted(report["points"], key=lambda point: point["value"])
    metrics = list(report["slo"])
    columns = [say(f"over.{report['over']}", language)]
    columns += [say(f"column.{name}", language) for name in ("requests", "failed", "attainment", "goodput")]
    columns.append(say("column.throughput", language))
    columns += [f"{say(f'metric.{metric}', language)}, P99" for metric in metrics]
    columns += [say("column.hit_ratio", language), say("column.meets", language)]
    rows = [
        [
            f"{point['value']:g}",
            count(point["requests"], NONE),
            count(point["failed"], NONE),
            percent(point["attainment"], NONE),
            decimal(point["goodput"], NONE),
            decimal(point["request_throughput"], NONE),
            *(milliseconds(point[metric]["p99"], NONE) for metric in metrics),
            percent(point["actual_hit_rate"], NONE),
            say("search.yes" if point["meets"] else "search.no", language),
        ]
        for point in points
    ]
    best = frozenset(n for n, point in enumerate(points) if point["value"] == report["best"])
    return Grid("", columns, rows, texts=0, strong=best)


def _figure(report: dict[str, Any], language: Language) -> dict[str, Any]:
    """Attainment, of all thresholds and of each, on the left; goodput on the right; what was wanted as a line."""
    points = sorted(report["points"], key=lambda point: point["value"])
    x = [point["value"] for point in points]

    def line(name: str, y: list[Any], colour: str, dash: str = "solid", width: int = 2, **more: Any) -> dict[str, Any]:
        style = {"color": colour, "dash": dash, "width": width}
        return {"type": "scatter", "mode": "lines+markers", "name": name, "x": x, "y": y, "line": style} | more

    data = [line(say("search.all", language), [_percent(p["attainment"]) for p in points], BLUE, width=4)]
    for n, metric in enumerate(report["slo"] if len(report["slo"]) > 1 else ()):
        shares = [_percent(p["thresholds"][metric]["attainment"]) for p in points]
        limit = milliseconds(report["slo"][metric], NONE)
        name = f"{say(f'metric.{metric}', language)} ≤ {limit}"
        data.append(line(name, shares, COLOURS[(n + 3) % len(COLOURS)], DASHES[(n + 1) % len(DASHES)]))
    goal = [report["attainment"] * 100] * 2
    ends = {"x": [x[0], x[-1]], "mode": "lines"}
    data.append(line(say("search.goal", language), goal, VERMILION, "dash", 1, **ends))
    goodput = [p["goodput"] for p in points]
    data.append(line(say("search.goodput_axis", language), goodput, GREEN, "dot", yaxis="y2"))
    axes: dict[str, Any] = {
        "xaxis": axis(named("over", report["over"], language), type="log", tickvals=x),
        "yaxis": axis(say("search.attainment_axis", language), range=[0, 102]),
        "yaxis2": axis(say("search.goodput_axis", language), overlaying="y", side="right", rangemode="tozero", nticks=6)
        | {"showgrid": False},
    }
    if report["best"] is not None:
        axes["shapes"] = [
            {"type": "line", "x0": report["best"], "x1": report["best"], "yref": "paper", "y0": 0, "y1": 1,
             "line": {"color": GREY, "width": 1, "dash": "dot"}}
        ]  # fmt: skip
    return {"data": data, "layout": layout(**axes)}


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100
