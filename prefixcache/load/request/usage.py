"""The token counts at the end of an answer, believed only where they are counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

NAMES = ("prompt_tokens", "completion_tokens", "cached_tokens")
LARGEST = 1 << 40
"""More tokens than any answer has; what is larger is no count, and sums of it would not be one."""
SHOWN = 40


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server states them; None where it does not, or states what is no count.

    ``odd``: name and value of what was no count, shortened: ``cached_tokens "abc"``.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    odd: tuple[str, ...] = ()

    def with_output(self, tokens: int) -> Usage:
        """The same with output tokens that somebody else counted."""
        return replace(self, completion_tokens=tokens)


def read_usage(usage: Mapping[str, Any], before: Usage) -> Usage:
    """The ``usage`` of an event; what it does not say stays as ``before``.

    A count is a whole number from 0. A text, a fraction, a truth value or a negative number is none.
    """
    found: dict[str, int | None] = {name: getattr(before, name) for name in NAMES}
    odd = list(before.odd)
    for name, value in _stated(usage):
        if type(value) is int and 0 <= value <= LARGEST:
            found[name] = value
        else:
            found[name] = None
            odd.append(f"{name} {_short(value)}")
    return Usage(**found, odd=tuple(dict.fromkeys(odd)))


def _stated(usage: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    if cached is None:
        cached = usage.get("prompt_cache_hit_tokens")  # DeepSeek's spelling
    for name, value in zip(NAMES, (usage.get(NAMES[0]), usage.get(NAMES[1]), cached), strict=True):
        if value is not None:
            yield name, value


def _short(value: Any) -> str:
    """Kinds, not contents, of what could hold anything; figures as they are."""
    if isinstance(value, bool | int | float):
        return str(value)[:SHOWN]
    return "a text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
