"""The table on the terminal."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from rich.console import Console

from prefixcache.analysis.rundir import load_run
from prefixcache.report.build import report_of
from prefixcache.report.console import print_comparison
from tests.report.handmade import FOUR, Ask, counted, make_run


def printed(path: Path, *asks: Ask, language: str = "en", **more: Any) -> str:
    report = report_of(load_run(make_run(path, asks or FOUR, **more)))
    out = io.StringIO()
    print_comparison(report, Console(file=out, width=120, force_terminal=False), language)
    return out.getvalue()


def test_three_rows_with_tokens_and_deviations(tmp_path: Path) -> None:
    out = printed(tmp_path, target=0.49, counters={"cold": counted(190, 400)})
    rows = [line.split("│")[1:-1] for line in out.splitlines() if line.startswith("│")]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["Target", "49.00 %", "", "", ""],
        ["Designed", "50.00 %", "200", "400", "+1.00 pp (construction)"],
        ["Measured", "47.50 %", "190", "400", "−2.50 pp (runtime)"],
    ]
    assert "Within range: Measured is 2.50 pp below designed" in out
    assert "Dataset check PASS · Run status complete · Warnings 0" in out


def test_passes_are_told_apart(tmp_path: Path) -> None:
    out = printed(tmp_path, Ask(hit=0, hot_hit=64), Ask(hit=32, hot_hit=64), mode="compare", target=0.16)
    assert "│ cold │" in out
    assert "│ hot  │" in out


def test_what_is_missing_is_said_not_zero(tmp_path: Path) -> None:
    out = printed(tmp_path, counters={"cold": counted(None, None)})
    assert "n/a" in out
    assert "Measured hit tokens, Measured query tokens" in out
    assert "the server does not publish these counters" in " ".join(out.split())


def test_chinese(tmp_path: Path) -> None:
    out = printed(tmp_path, language="zh")
    assert "理论" in out
    assert "0.00 个百分点（运行实现）" in out


def test_brackets_in_names_are_no_markup(tmp_path: Path) -> None:
    out = printed(tmp_path, manifest={"dataset_id": "[red]x[/red] [/nothing]"})
    assert "[red]x[/red] [/nothing]" in out
