"""Ratios and their differences, exact until the last step: what is equal to the token must come out as 0."""

from __future__ import annotations

from fractions import Fraction

Ratio = Fraction | float | None


def ratio(part: int | None, whole: int | None) -> Fraction | None:
    """part / whole; None if one is unknown or the whole is 0. May exceed 1: nothing is clipped."""
    return Fraction(part, whole) if part is not None and whole else None


def stated(value: float | None) -> Fraction | None:
    """A ratio as a user wrote it in decimals (0.29 is 29/100, not the float next to it)."""
    return None if value is None else Fraction(repr(value))


def difference(later: Ratio, earlier: Ratio) -> float | None:
    """later − earlier as a ratio (1 percentage point = 0.01), None if one is unknown."""
    return None if later is None or earlier is None else float(later - earlier)


def plain(value: Ratio) -> float | None:
    return None if value is None else float(value)
