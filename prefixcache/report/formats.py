"""Numbers as people read them: percent, percentage points, tokens, milliseconds."""

from __future__ import annotations

MINUS = "\u2212"


def percent(ratio: float | None, missing: str, digits: int = 2) -> str:
    """A ratio as percent, ``0.5`` → ``50.00 %``. Above 100 % it stays as it is."""
    return missing if ratio is None else f"{ratio * 100:.{digits}f} %"


def points(deviation: float | None, missing: str) -> str:
    """A deviation in percentage points, signed, 2 to 4 decimals; exactly 0 is ``0.00`` and nothing else is."""
    if deviation is None:
        return missing
    size = abs(deviation) * 100
    if size == 0:
        return "0.00"
    sign = "+" if deviation > 0 else MINUS
    if size < 0.0001:
        return f"{sign}<0.0001"
    digits = 2 if size >= 1 else 3 if size >= 0.1 else 4
    return f"{sign}{size:.{digits}f}"


def signed(number: float, digits: int) -> str:
    """With its sign, so many decimals."""
    return f"{number:+,.{digits}f}".replace("-", MINUS)


def size_in_points(deviation: float) -> str:
    """``points`` without its sign."""
    return points(deviation, "").lstrip(f"+{MINUS}")


def count(number: float | None, missing: str) -> str:
    """A whole number with thousands separators."""
    return missing if number is None else f"{number:,.0f}"


def signed_count(number: int) -> str:
    return f"{MINUS if number < 0 else '+' if number > 0 else ''}{abs(number):,}"


def milliseconds(seconds: float | None, missing: str) -> str:
    """Seconds as milliseconds with about three significant digits."""
    return missing if seconds is None else decimal(seconds * 1000, missing)


def decimal(number: float | None, missing: str) -> str:
    """A quantity of any size with about three significant digits."""
    if number is None:
        return missing
    digits = 2 if abs(number) < 10 else 1 if abs(number) < 100 else 0
    return f"{number:,.{digits}f}"
