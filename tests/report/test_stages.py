"""The stages of a load in the report: a row and a line each, in both languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from prefixcache.analysis.performance import distribution
from prefixcache.analysis.rundir import load_run
from prefixcache.files import read_json, write_json
from prefixcache.report.build import build_prefix_cache_report, report_of
from prefixcache.report.console import print_comparison
from tests.report.handmade import make_run
from tests.report.test_html import Page


def stage(requests: int, **asked: Any) -> dict[str, Any]:
    spread = dict.fromkeys(("ttft_s", "tpot_s", "e2e_s"), distribution([0.012] * requests))
    none = {"concurrency": None, "rate": None, "rate_at_end": None, "until_s": None}
    return {**none, **asked, "requests": requests, "failed": 0, "achieved_rate": 9.5 if requests else None, **spread}


def run_of(path: Path, stages: list[dict[str, Any]] | None) -> Path:
    make_run(path)
    file = path / "runtime" / "performance_metrics.json"
    performance = read_json(file)
    performance["passes"][0]["load"] = {"loop": "closed", "stages": stages}
    write_json(file, performance)
    return path


def said(path: Path, language: str) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        print_comparison(report_of(load_run(path)), console, language)
    return capture.get()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_page_and_terminal_show_each(tmp_path: Path, language: str) -> None:
    stages = [
        stage(4, from_s=0.0, until_s=2.5, concurrency=16),
        stage(0, from_s=2.5, until_s=4.0, rate=10.0, rate_at_end=50.0),
        stage(3, from_s=4.0, rate=50.0, rate_at_end=50.0),
    ]
    lines = said(run_of(tmp_path, stages), language)
    en = language == "en"
    assert ("Stage 16 slots, 0–2.5 s: 4 requests, 0 failed, 9.50/s sent, TTFT P50 12.0 ms" in lines) is en
    assert ("Stage 10–50/s, 2.5–4 s: no requests" in lines) is en
    assert ("Stage 50/s, from 4 s: 3 requests" in lines) is en
    assert ("阶段 并发 16，0–2.5 秒：4 条请求" in lines) is not en
    assert ("阶段 10–50 条/秒，2.5–4 秒：无请求" in lines) is not en
    build_prefix_cache_report(tmp_path, language)
    page = Page((tmp_path / "report" / "prefix_cache_report.html").read_text())
    assert ("Stages of the load" if en else "负载阶段") in page.text
    assert ("10–50/s, 2.5–4 s" if en else "10–50 条/秒，2.5–4 秒") in page.text


def test_a_load_of_one_stage_has_no_table(tmp_path: Path) -> None:
    assert "Stage " not in said(run_of(tmp_path, None), "en")
    build_prefix_cache_report(tmp_path)
    assert "Stages of the load" not in (tmp_path / "report" / "prefix_cache_report.html").read_text()
