"""The table on the terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from rich.console import Console

from prefixcache.analysis.rundir import load_run
from prefixcache.report.build import report_of
from prefixcache.report.console import print_comparison
from prefixcache.report.particulars import conduct, reproduction
from prefixcache.report.strings import LANGUAGES
from prefixcache.report.tables import Tables
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
    assert "理论命中率校验 PASS（通过） · 运行状态 完成 · 警告 0" in out
    assert "逐 Token 一致：实测命中与理论命中逐 Token 一致" in out
    assert not re.search(r"[\u4e00-\u9fff][:,;] ", out), "marks of Chinese sentences are wide"


def test_kinds_of_failure_and_bounds_in_both_languages(tmp_path: Path) -> None:
    report = report_of(load_run(make_run(tmp_path, FOUR)))
    report["passes"][0]["performance"] |= {
        "failures_by_kind": {"incomplete": 1, "refused": 53},
        "retries": {"requests": 2, "by_kind": {"http_503": 2}, "possibly_warm": 0},
    }
    shown = {language: dict(conduct(Tables(report, language)).rows) for language in LANGUAGES}
    assert shown["en"]["Failures by kind"] == "incomplete 1, refused 53"
    assert shown["zh"]["失败类型"] == "incomplete（应答未完成即正常断开） 1、refused（连接被拒绝） 53"
    assert shown["zh"]["重试的请求（原因）"] == "2（http_503（HTTP 503） 2）"
    again = {language: dict(reproduction(Tables(report, language))) for language in LANGUAGES}
    name = "Load / in flight at most / duration in s / limit"
    assert again["en"][name].endswith("not set / not set / not set")
    assert again["zh"]["负载 / 在途上限 / 持续秒数 / 条数上限"].endswith("未设置 / 未设置 / 未设置")


def test_brackets_in_names_are_no_markup(tmp_path: Path) -> None:
    out = printed(tmp_path, manifest={"dataset_id": "[red]x[/red] [/nothing]"})
    assert "[red]x[/red] [/nothing]" in out
