"""Numbers and durations in the text of a load."""

from __future__ import annotations

import re

from prefixcache.errors import InputError

MOST_SLOTS = 100_000
LARGEST = 1e9
_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?", re.ASCII)
_SECONDS = {"": 1.0, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def wrong(message: str, remedy: str) -> InputError:
    """A mistake in the text of a load."""
    return InputError(message, field="load", remedy=remedy, stage="run_benchmark")


def number(text: str, what: str) -> float:
    """A finite number, not negative."""
    text = text.strip()
    if not _NUMBER.fullmatch(text) or (value := float(text)) > LARGEST:
        raise wrong(f"{what} {text!r} is no number from 0 to {LARGEST:g}", "write e.g. 200 or 0.5.")
    return value


def positive(text: str, what: str) -> float:
    """A finite number above 0."""
    value = number(text, what)
    if value < 1e-9:
        raise wrong(f"{what} {text.strip()!r} is not above 0", "write e.g. 200 or 0.5.")
    return value


def rate(text: str) -> float:
    """Requests per second, 0 or more."""
    return number(text, "the rate")


def whole(text: str, what: str) -> int:
    """A whole number, not negative."""
    text = text.strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise wrong(f"{what} {text!r} is no whole number", "write e.g. 7.")
    return int(text)


def slots(text: str) -> int:
    """A number of requests in flight."""
    value = whole(text, "the concurrency")
    if not 1 <= value <= MOST_SLOTS:
        raise wrong(f"the concurrency {value} is not from 1 to {MOST_SLOTS:,}", "write e.g. closed:16.")
    return value


def seconds_of(text: str, *, bare: bool = False) -> float:
    """A duration such as ``30s``, ``500ms``, ``2m`` or ``1h``; with ``bare`` also a number of seconds."""
    found = re.fullmatch(r"\s*(.*?)\s*([a-z]*)\s*", text)
    assert found is not None
    value, unit = found.groups()
    if unit not in _SECONDS or (not unit and not bare):
        raise wrong(f"the duration {text.strip()!r} has no unit", "write e.g. 30s, 500ms, 2m or 1h.")
    return positive(value, "the duration") * _SECONDS[unit]
