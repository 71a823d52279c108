"""How the vocabulary is written down: words in wrapped blocks of text, separated by spaces."""

from __future__ import annotations


def words(block: str) -> tuple[str, ...]:
    """The words of ``block``, in order."""
    return tuple(block.split())


def pairs(block: str) -> dict[str, str]:
    """Entries written ``key:value``."""
    return dict(entry.split(":") for entry in block.split())
