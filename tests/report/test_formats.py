"""Numbers as people read them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prefixcache.report.formats import (
    count,
    decimal,
    milliseconds,
    percent,
    points,
    signed,
    signed_count,
    size_in_points,
)

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("deviation", "shown"),
    [
        (None, "n/a"),
        (0.0, "0.00"),
        (0.05, "+5.00"),
        (-0.1497, "−14.97"),
        (0.00123, "+0.123"),
        (-0.000053, "−0.0053"),
        (0.0000002, "+<0.0001"),
        (-0.0000002, "−<0.0001"),
    ],
)
def test_points_are_signed_and_never_round_to_nothing(deviation: float | None, shown: str) -> None:
    assert points(deviation, "n/a") == shown


def test_sizes_have_no_sign() -> None:
    assert [size_in_points(d) for d in (-0.1, 0.1, 0.0)] == ["10.00", "10.00", "0.00"]


def test_there_is_one_minus_sign() -> None:
    assert [signed(number, 4) for number in (-0.0002, 0.0, 5.3583)] == ["−0.0002", "+0.0000", "+5.3583"]
    # A format with a sign of its own writes the hyphen; where one is needed, it is replaced at once.
    own = re.compile(r":\+,?\.?\d*[f}]")
    sources = [*(ROOT / "flows").rglob("*.py"), *(ROOT / "prefixcache" / "report").glob("*.py")]
    left = [f"{path.name}: {line.strip()}" for path in sources for line in path.read_text().splitlines()
            if own.search(line) and "MINUS" not in line]  # fmt: skip
    assert left == []


def test_a_missing_figure_is_never_0() -> None:
    assert {form(None, "n/a") for form in (percent, count, milliseconds, decimal)} == {"n/a"}


def test_other_numbers() -> None:
    assert percent(1.25, "") == "125.00 %"
    assert count(74792, "") == "74,792"
    assert [signed_count(n) for n in (-1120, 0, 16)] == ["−1,120", "0", "+16"]
    assert [milliseconds(s, "") for s in (0.0033, 0.0334, 0.334, 12.5)] == ["3.30", "33.4", "334", "12,500"]
