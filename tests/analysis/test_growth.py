"""Curves over the send order."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixcache.analysis.growth import cumulative_growth, staircase, thin
from prefixcache.analysis.rundir import load_run
from tests.report.handmade import FOUR, Ask, make_run


@pytest.mark.parametrize("count", [0, 1, 400, 401, 10_000])
def test_thinning_keeps_both_ends(count: int) -> None:
    points = thin(count)
    assert len(points) == min(count, 400)
    assert list(points[[0, -1]]) == [0, count - 1] if count else not len(points)


def test_cumulative_ratios_are_token_weighted(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path, (Ask(hit=0), Ask(length=300, hit=240, cached=160))))
    growth = cumulative_growth(run.measured("cold"))
    assert growth["order_index"] == [0, 1]
    assert growth["designed"] == [0.0, 0.6]
    assert growth["measured"] == [0.0, 0.4]


def test_the_measured_curve_has_nothing_before_and_behind_its_figures(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path, (Ask(hit=0, cached=None), Ask(hit=50), Ask(status="timeout"))))
    growth = cumulative_growth(run.measured("cold"))
    assert growth["measured"] == [None, 0.5, None]
    assert (growth["measured_requests"], growth["requests"]) == (1, 3)


def test_long_curves_end_where_the_ratio_ends(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path, FOUR * 300))
    growth = cumulative_growth(run.measured("cold"))
    assert len(growth["designed"]) == len(growth["order_index"]) == 400
    assert (growth["order_index"][-1], growth["designed"][-1]) == (1199, 0.5)


def test_a_staircase_has_its_steps_and_its_ends(tmp_path: Path) -> None:
    asks = (Ask(hit=16), Ask(hit=16), Ask(hit=64), Ask(hit=48), Ask("b", length=20, hit=16))
    [lane, other] = staircase(load_run(make_run(tmp_path, asks)).plan, 8)
    assert lane == {"domain": 0, "group": "math", "order_index": [0, 1, 3], "watermark": [0, 16, 64]}
    assert other["watermark"] == [0]
    assert [lane["group"] for lane in staircase(load_run(tmp_path).plan, 1)] == ["math"]
