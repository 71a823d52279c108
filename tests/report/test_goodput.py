"""Goodput in the report: of the run's own thresholds, or of those asked for now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from prefixcache.analysis.rundir import load_run
from prefixcache.errors import InputError
from prefixcache.files import read_json, read_jsonl, write_json, write_jsonl
from prefixcache.report.build import build_prefix_cache_report, report_of
from prefixcache.report.console import print_comparison
from tests.report.handmade import Ask, make_run
from tests.report.test_html import Page

ASKS = (Ask(hit=0), Ask(hit=48), Ask(hit=80, status="timeout"), Ask(hit=72))


def run_with(path: Path, slo: str | None = None, **row: Any) -> Path:
    """A run whose answers took 0.05 s to the first token and 0.2 s in all; ``row`` changes its last answer."""
    make_run(path, ASKS, run={"options": {"slo": slo}})
    file = path / "runtime" / "request_results.jsonl"
    rows = [dict(each) for each in read_jsonl(file)]
    rows[-1] |= row
    write_jsonl(file, rows)
    return path


def test_the_runs_own_thresholds_and_those_of_now(tmp_path: Path) -> None:
    run = load_run(run_with(tmp_path, "ttft=60ms,e2e=0.3", e2e_s=0.4))
    report = report_of(run)
    assert report["slo"] == {"ttft_s": 0.06, "e2e_s": 0.3}
    found = report["passes"][0]["goodput"]
    assert (found["requests"], found["good_requests"], found["attainment"]) == (4, 2, 0.5)
    assert found["goodput"] == 2.0  # the pass lasted one second
    assert found["thresholds"]["ttft_s"]["met"] == 3
    other = report_of(run, "e2e=1")
    assert other["slo"] == {"e2e_s": 1.0}
    assert other["passes"][0]["goodput"]["good_requests"] == 3


def test_an_empty_text_is_no_threshold_and_not_taken_for_none(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        report_of(load_run(run_with(tmp_path, "ttft=60ms")), "")
    assert (caught.value.field, bool(caught.value.remedy)) == ("--slo", True)


def test_without_thresholds_there_is_no_goodput(tmp_path: Path) -> None:
    report = report_of(load_run(run_with(tmp_path)))
    assert (report["slo"], report["passes"][0]["goodput"]) == (None, None)
    page = build_page(tmp_path)
    assert "Goodput" not in page.text


def build_page(path: Path, language: str = "en", slo: str | None = None) -> Page:
    build_prefix_cache_report(path, language, slo)
    return Page((path / "report" / "prefix_cache_report.html").read_text())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_page_and_terminal_say_it(language: str, tmp_path: Path) -> None:
    page = build_page(run_with(tmp_path), language, "ttft=60ms,tpot=1ms")
    assert ("Goodput under the SLO" if language == "en" else "有效吞吐") in page.text
    assert "3 / 4" in page.text
    assert "0 / 4" in page.text
    console = Console(record=True, width=200)
    print_comparison(read_json(tmp_path / "report" / "prefix_cache_report.json"), console, language)
    printed = console.export_text()
    assert "SLO ttft=0.06,tpot=0.001" in printed
    assert ("0 of 4 requests good" if language == "en" else "4 条请求中 0 条达标") in printed


def test_thresholds_that_cannot_be_read_are_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        build_prefix_cache_report(run_with(tmp_path), slo="p99=1")


def test_retries_and_kinds_of_failure_stand_in_the_report(tmp_path: Path) -> None:
    run_with(tmp_path, attempts=2, retried=["http_503"], ttft_s=9.0, first_byte_s=0.34, first_text_s=0.5)
    file = tmp_path / "runtime" / "performance_metrics.json"
    file.unlink()  # as of a run that broke off: figures come from the records
    report = report_of(load_run(tmp_path))
    performance = report["passes"][0]["performance"]
    assert performance["retries"]["by_kind"] == {"http_503": 1}
    assert performance["without_retried"]["ttft_s"]["max"] == 0.05
    assert performance["ttfb_s"]["count"] == 1
    assert "requests_retried" in {warning["code"] for warning in report["warnings"]}
    page = build_page(tmp_path)
    assert "http_503 1" in page.text
    assert "timeout 1" in page.text
    assert "TTFT, ms, first attempts only" in page.text
    assert "First byte, ms" in page.text


def test_figures_that_an_older_run_does_not_have_are_null(tmp_path: Path) -> None:
    make_run(tmp_path)
    file = tmp_path / "runtime" / "performance_metrics.json"
    old = read_json(file)
    for entry in old["passes"]:
        for name in ("ttfb_s", "time_to_text_s", "itl_max_s", "slot_wait_s", "retries", "failures_by_kind"):
            del entry[name]
    write_json(file, old)
    performance = report_of(load_run(tmp_path))["passes"][0]["performance"]
    assert performance["ttfb_s"] is performance["retries"] is performance["itl_s"] is None
    assert performance["ttft_s"]["count"] == 4
    page = build_page(tmp_path)
    assert "First byte" not in page.text
    assert "TTFT, ms" in page.text
