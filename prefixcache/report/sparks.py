"""Curves in one line of block characters."""

from __future__ import annotations

from collections.abc import Sequence

LEVELS = "▁▂▃▄▅▆▇█"
UNKNOWN = "·"
Known = float | int | None


def columns_of(count: int, width: int) -> list[int]:
    """Column of each of ``count`` moments: one each while they fit, then evenly shared."""
    return list(range(count)) if count <= width else [index * width // count for index in range(count)]


def by_column(values: Sequence[Known], width: int) -> list[Known]:
    """The last known value of each column."""
    found: list[Known] = [None] * min(len(values), width)
    for column, value in zip(columns_of(len(values), width), values, strict=True):
        found[column] = found[column] if value is None else value
    return found


def spark(values: Sequence[Known], width: int, top: float | None = None) -> str:
    """Values from 0 to ``top`` (their largest) as heights; what is not known is a dot, what is negative the lowest."""
    shown = by_column(values, width)
    most = max((v for v in shown if v is not None), default=0.0) if top is None else top
    return "".join(UNKNOWN if v is None else _level(v, most) for v in shown)


def _level(value: float, most: float) -> str:
    share = value / most if most > 0 else 0.0
    return LEVELS[min(len(LEVELS) - 1, max(0, int(share * len(LEVELS))))]


def bar(done: int, total: int, width: int) -> str:
    """How much of a whole is done, to an eighth of a column."""
    eighths = min(width * 8, done * width * 8 // total) if total else 0
    part = " ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else ""
    return ("█" * (eighths // 8) + part).ljust(width, "░")
