"""Names in figures: short enough to leave room for the plot, and still apart."""

from __future__ import annotations

from prefixcache.report.figures import MOST_LETTERS, _safe


def test_long_names_keep_both_ends() -> None:
    names = [f"customer-with-a-very-long-name-{'x' * 60}-{number:03d}" for number in range(30)]
    shown = [_safe(name) for name in names]
    assert len(set(shown)) == 30
    assert all(len(name) <= MOST_LETTERS for name in shown)
    assert shown[7] == "customer-with-…xxxxx-007"


def test_short_names_stay_and_markup_is_none() -> None:
    assert _safe("customer_a") == "customer_a"
    assert _safe("<b>x</b>") == "&lt;b&gt;x&lt;/b&gt;"
