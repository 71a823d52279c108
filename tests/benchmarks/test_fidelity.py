"""The page about fidelity says what was measured, differences included, in both languages."""

from __future__ import annotations

import re
from typing import Any

import pytest

from benchmarks.fidelity.page import ENGLISH, Language, page
from benchmarks.fidelity.sections import SECTIONS
from benchmarks.fidelity.words import CHINESE

MACHINE = {"cpu": "some CPU", "cpus": 2, "load": 0.5, "prefixcache": "0.1.0"}
FLIGHT = {"in_flight": 510, "clocked": 501, "from_events": 502, "events_told": 10, "events_off": 0}
TIER = {"external_expected": 300, "external_measured": 300}


def results(measured: int = 500) -> dict[str, dict[str, Any]]:
    """One row for each scenario; everything designed and simulated is 500 of 1,000 tokens."""
    found = {}
    for section in SECTIONS:
        rows = [
            {"scenario": s.name, "pass": "cold", "concurrency": s.concurrency, "gating": s.gating, "requests": 10}
            | {"input_tokens": 1000, "designed": 500, "simulated": 500, "measured": measured, "queries": 1000}
            | {"order_free": s.order_free, "requests_off": int(measured != 500), **FLIGHT, **TIER}
            for s in section.scenarios
        ]
        known = {"engine": section.engine, "version": "9.9", "model": "Tiny", "machine": MACHINE}
        found[section.key] = {"section": section.key, "kind": section.kind, **known, "rows": rows}
    return found


def exact_rows() -> int:
    return sum(len(section.scenarios) for section in SECTIONS if section.kind != "flight")


@pytest.mark.parametrize("language", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_every_section_has_its_table(language: Language) -> None:
    text = page(results(), language)
    assert text.count("\n## ") == len(SECTIONS) + 1
    for section in SECTIONS:
        assert len(language.columns[section.kind]) in {line.count("|") - 1 for line in text.splitlines()}
    assert "9.9" in text
    assert "some CPU" in text
    assert not re.search(r"[{}]", text)


def test_a_difference_is_shown_and_summed_up() -> None:
    good, bad = page(results(), ENGLISH), page(results(487), ENGLISH)
    assert " 0 tokens of difference" in good
    assert f" {13 * exact_rows()} tokens of difference" in bad
    assert "| -13 |" in bad
    assert "| -13 |" not in good
    assert "+1.00 | +0.20 | +0.10 | 10 / 10 |" in good  # in flight, clocked by events, led by their steps
    assert "0.20 pp when clocked by recorded KV events" in good
    assert "off by 0.10 pp at most" in good


def test_a_row_kept_without_the_events_figure_has_the_measured_one_where_all_hits_were_told() -> None:
    found = results()
    for section in found.values():
        for row in section["rows"]:
            del row["from_events"]
    assert "+1.00 | +0.00 | +0.10 | 10 / 10 |" in page(found, ENGLISH)
    for section in found.values():
        for row in section["rows"]:
            row["events_told"] = 9
    assert "+1.00 | +0.10 | +0.10 | 9 / 10 |" in page(found, ENGLISH)


def test_what_could_not_be_measured_is_named() -> None:
    found = results()
    found["sglang-1"] = {"section": "sglang-1", "kind": "design", "absent": "no network", "rows": []}
    del found["sglang-32"]
    assert "Left out here: no network" in page(found, ENGLISH)


def test_every_scenario_has_a_chinese_name() -> None:
    names = {scenario.name for section in SECTIONS for scenario in section.scenarios}
    assert names <= set(CHINESE.scenarios)
