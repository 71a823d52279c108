"""Numbers as people read them."""

from __future__ import annotations

import pytest

from prefixcache.report.formats import count, decimal, milliseconds, percent, points, signed_count, size_in_points


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


def test_a_missing_figure_is_never_0() -> None:
    assert {form(None, "n/a") for form in (percent, count, milliseconds, decimal)} == {"n/a"}


def test_other_numbers() -> None:
    assert percent(1.25, "") == "125.00 %"
    assert count(74792, "") == "74,792"
    assert [signed_count(n) for n in (-1120, 0, 16)] == ["−1,120", "0", "+16"]
    assert [milliseconds(s, "") for s in (0.0033, 0.0334, 0.334, 12.5)] == ["3.30", "33.4", "334", "12,500"]
