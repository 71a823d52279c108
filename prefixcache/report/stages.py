"""The stages of a load, one by one: the page's table, and a line each for terminals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prefixcache.report.formats import count, decimal, milliseconds
from prefixcache.report.tables import Table, Tables

_COLUMNS = ("column.stage", "column.requests", "column.failed", "column.sent_rate")
_LATENCIES = (("ttft_s", "p50"), ("ttft_s", "p99"), ("tpot_s", "p50"), ("e2e_s", "p50"), ("e2e_s", "p99"))


def stage_table(tables: Tables) -> Table | None:
    """A row per stage, pass by pass; None for loads of one stage."""
    rows = []
    for name, stage in _stages(tables):
        cells = [_asked(tables, stage), count(stage["requests"], ""), count(stage["failed"], "")]
        cells.append(decimal(stage["achieved_rate"], tables.missing))
        cells += [milliseconds(stage[metric][part], tables.missing) for metric, part in _LATENCIES]
        rows.append(tables.led(name, cells))
    if not rows:
        return None
    latencies = [f"column.{metric.removesuffix('_s')}_{part}" for metric, part in _LATENCIES]
    return Table(tables.columns(*_COLUMNS, *latencies, texts=1), rows)


def stage_lines(tables: Tables) -> list[str]:
    """A line per stage; none for loads of one."""
    lines = []
    for name, stage in _stages(tables):
        line = tables.word(
            "stage_line" if stage["requests"] else "stage_line_none",
            stage=_asked(tables, stage),
            requests=count(stage["requests"], ""),
            failed=count(stage["failed"], ""),
            rate=decimal(stage["achieved_rate"], tables.missing),
            p50=milliseconds(stage["ttft_s"]["p50"], tables.missing),
            p99=milliseconds(stage["ttft_s"]["p99"], tables.missing),
        )
        lines.append(f"{tables.pass_name(name)} · {line}" if tables.several else line)
    return lines


def _stages(tables: Tables) -> Iterator[tuple[str, dict[str, Any]]]:
    for figures in tables.report["passes"]:
        load = (figures["performance"] or {}).get("load") or {}
        for stage in load.get("stages") or ():
            yield figures["name"], stage


def _asked(tables: Tables, stage: dict[str, Any]) -> str:
    """What the stage asked for, and when: ``50/s, 2–4 s``."""
    if stage["concurrency"] is not None:
        what = tables.word("stage.slots", count=count(stage["concurrency"], ""))
    elif stage["rate"] == stage["rate_at_end"]:
        what = tables.word("stage.rate", rate=f"{stage['rate']:g}")
    else:
        what = tables.word("stage.rate", rate=f"{stage['rate']:g}–{stage['rate_at_end']:g}")
    if stage["until_s"] is None:
        return tables.word("stage.from", what=what, begin=f"{stage['from_s']:g}")
    return tables.word("stage.between", what=what, begin=f"{stage['from_s']:g}", end=f"{stage['until_s']:g}")
