"""A paired comparison as tables, and as one HTML page."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from prefixcache.files import write_bytes
from prefixcache.help.messages import say
from prefixcache.help.words import Language
from prefixcache.report.figures import BLUE, GREY
from prefixcache.report.formats import decimal, milliseconds, percent, points
from prefixcache.report.sheet import Grid, Part, axis, layout, render_sheet

NONE = "–"
_STATISTICS = ("mean", "p50", "p90", "p99")


def write_comparison(report: dict[str, Any], path: Path, language: Language) -> None:
    """Write the page of a comparison (``prefixcache.analysis.paired.compare``)."""
    write_bytes(path, render_comparison(report, language).encode())


def render_comparison(report: dict[str, Any], language: Language) -> str:
    """The page; see :func:`write_comparison`."""
    runs = " · ".join(f"{run['label']}: {run['dataset_id']}, {run['execution_mode']}" for run in report["runs"])
    parts = []
    for each in report["comparisons"]:
        tables = comparison_tables(report, each, language)
        notes = [] if each["differences"] else [say("compare.nothing", language)]
        parts.append(
            Part(headline(each, language), [pairing_line(each, language)], warning_lines(each, language),
                 _figure(each, language), tables, notes)
        )  # fmt: skip
    parts.append(Part(notes=[method_note(report, language)]))
    return render_sheet(say("compare.title", language), runs, parts, language)


def headline(comparison: dict[str, Any], language: Language) -> str:
    return say(
        "compare.head",
        language,
        **{side: _name(comparison[side]) for side in ("baseline", "candidate")},
        pairs=f"{comparison['pairing']['pairs']:,}",
        by=comparison["paired_by"],
    )


def pairing_line(comparison: dict[str, Any], language: Language) -> str:
    """What was left out."""
    counts = {name: f"{number:,}" for name, number in comparison["pairing"].items()}
    sides = {side: _name(comparison[side]) for side in ("baseline", "candidate")}
    return say("compare.pairing", language, **sides, **counts)


def warning_lines(comparison: dict[str, Any], language: Language) -> list[str]:
    return [warning[f"text_{language}"] for warning in comparison["warnings"]]


def method_note(report: dict[str, Any], language: Language) -> str:
    chosen = report["bootstrap"]
    return say(
        "compare.note", language, share=_share(report), resamples=f"{chosen['resamples']:,}", seed=chosen["seed"]
    )


def comparison_tables(report: dict[str, Any], comparison: dict[str, Any], language: Language) -> list[Grid]:
    """Speed-ups, hit ratios, and what differs besides, if anything does."""
    grids = [_speedups(report, comparison, language), _hits(comparison, language)]
    if comparison["differences"]:
        columns = [say(f"column.{name}", language) for name in ("field", "baseline", "candidate")]
        rows = [
            [row["field"], *(NONE if row[side] is None else str(row[side]) for side in ("baseline", "candidate"))]
            for row in comparison["differences"]
        ]
        grids.append(Grid(say("compare.differs", language), columns, rows, texts=3))
    return grids


def _speedups(report: dict[str, Any], comparison: dict[str, Any], language: Language) -> Grid:
    names = ("metric", "pairs", "baseline", "candidate", "speedup")
    columns = [say(f"column.{name}", language) for name in names]
    columns.append(say("column.interval", language, share=_share(report)))
    rows: list[list[str]] = []
    strong = set()
    for metric, found in comparison["speedups"].items():
        for statistic in _STATISTICS if found["pairs"] else ():
            if statistic == "mean":
                strong.add(len(rows))
            label = f"{say(f'metric.{metric}', language)}, {_statistic(statistic, language)}"
            values = [milliseconds(found[f"{side}_s"][statistic], NONE) for side in ("baseline", "candidate")]
            rows.append([label, f"{found['pairs']:,}", *values, *_ratio(found[statistic])])
    for metric, found in comparison["throughput"].items():
        values = [decimal(found[side], NONE) for side in ("baseline", "candidate")]
        rows.append([say(f"metric.{metric}", language), "", *values, *_ratio(found)])
    return Grid("", columns, rows, strong=frozenset(strong))


def _hits(comparison: dict[str, Any], language: Language) -> Grid:
    columns = [say(f"column.{name}", language) for name in ("metric", "baseline", "candidate", "difference_pp")]
    rows = [
        [say(f"metric.{name}", language), percent(found["baseline"], NONE), percent(found["candidate"], NONE),
         points(found["difference"], NONE)]
        for name, found in comparison["hit_ratio"].items()
    ]  # fmt: skip
    return Grid(say("compare.hits", language), columns, rows)


def _ratio(found: dict[str, Any]) -> list[str]:
    if found["ratio"] is None:
        return [NONE, NONE]
    ends = NONE if found["low"] is None else f"{found['low']:.3f} … {found['high']:.3f}"
    return [f"{found['ratio']:.3f}", ends]


def _figure(comparison: dict[str, Any], language: Language) -> dict[str, Any] | None:
    """One mark with its interval a row, the first row on top, and the line where nothing changes."""
    marks = [
        (f"{say(f'metric.{metric}', language)}, {_statistic(statistic, language)}", found[statistic])
        for metric, found in comparison["speedups"].items()
        if found["pairs"]
        for statistic in _STATISTICS
    ]
    marks += [(say(f"metric.{name}", language), found) for name, found in comparison["throughput"].items()]
    marks = [(name, found) for name, found in marks if found["ratio"] is not None]
    if not marks:
        return None
    names = [html.escape(name) for name, _ in marks]
    ratios = [found["ratio"] for _, found in marks]
    ends = [
        [0 if found[end] is None else abs(found[end] - found["ratio"]) for _, found in marks] for end in ("high", "low")
    ]
    marks_spec = {
        "type": "scatter", "mode": "markers", "x": ratios, "y": names, "marker": {"color": BLUE, "size": 8},
        "error_x": {"type": "data", "symmetric": False, "array": ends[0], "arrayminus": ends[1], "color": BLUE},
    }  # fmt: skip
    line = {"type": "line", "xref": "x", "yref": "paper", "x0": 1, "x1": 1, "y0": 0, "y1": 1,
            "line": {"color": GREY, "width": 1, "dash": "dash"}}  # fmt: skip
    axes = {
        "xaxis": axis(say("compare.axis", language), type="log"),
        "yaxis": axis("", autorange="reversed"),
        "shapes": [line],
        "showlegend": False,
    }
    return {"data": [marks_spec], "layout": layout(**axes)}


def _statistic(name: str, language: Language) -> str:
    return say("metric.mean", language) if name == "mean" else name.upper()


def _share(report: dict[str, Any]) -> str:
    return f"{report['bootstrap']['confidence'] * 100:g} %"


def _name(side: dict[str, Any]) -> str:
    return f"{side['label']} ({side['pass']})"
