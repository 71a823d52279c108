"""What stands around every prompt's own text: tokens before it (head) and after it (tail)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """Token counts. ``head``: BOS, template head, common system text; ``tail``: template tail (domain.md 1)."""

    head: int = 0
    tail: int = 0

    def shared(self, unit: int) -> int:
        """K in tokens: the part of the head that a cache of this hit unit can serve."""
        return self.head // unit * unit

    @property
    def shortest(self) -> int:
        """Tokens of the shortest possible request: head, tail and one of its own."""
        return self.head + self.tail + 1
