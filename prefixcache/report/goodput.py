"""How the requests held an SLO: the page's table, and a line for terminals."""

from __future__ import annotations

from prefixcache.report.formats import count, decimal, milliseconds, percent
from prefixcache.report.tables import Table, Tables

_COLUMNS = ("column.threshold", "column.limit", "column.met", "column.attainment", "column.per_second")


def goodput_table(tables: Tables) -> Table | None:
    """A row per threshold, below them all thresholds together, pass by pass; None without an SLO."""
    if not tables.report["slo"]:
        return None
    rows: list[list[str]] = []
    strong = set()
    for figures in tables.report["passes"]:
        found = figures["goodput"]
        if found is None:
            continue
        of = count(found["requests"], tables.missing)
        for metric, each in found["thresholds"].items():
            cells = [tables.word(f"metric.{metric}"), milliseconds(each["limit_s"], tables.missing)]
            cells += [f"{count(each['met'], '')} / {of}", percent(each["attainment"], tables.missing), ""]
            rows.append(tables.led(figures["name"], cells))
        strong.add(len(rows))
        cells = [tables.word("all_thresholds"), "", f"{count(found['good_requests'], '')} / {of}"]
        cells += [percent(found["attainment"], tables.missing), decimal(found["goodput"], tables.missing)]
        rows.append(tables.led(figures["name"], cells))
    return Table(tables.columns(*_COLUMNS, texts=1), rows, strong=strong)


def goodput_lines(tables: Tables) -> list[str]:
    """One line a pass; none without an SLO."""
    lines = []
    for figures in tables.report["passes"]:
        found = figures["goodput"]
        if found is None:
            continue
        line = tables.word(
            "goodput_line",
            slo=found["slo"],
            good=count(found["good_requests"], ""),
            requests=count(found["requests"], ""),
            share=percent(found["attainment"], tables.missing),
            rate=decimal(found["goodput"], tables.missing),
        )
        lines.append(f"{tables.pass_name(figures['name'])} · {line}" if tables.several else line)
    return lines
