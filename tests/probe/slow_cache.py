"""A cache that compares token by token: obvious, slow, and without any formula of the product's."""

from __future__ import annotations

from collections.abc import Sequence


class SlowCache:
    """Remembers whole prompts.

    Args:
        unit: tokens of a block.
        drop: matched blocks that are computed again.
        last: whether the last token of a prompt is always computed.
    """

    def __init__(self, unit: int, drop: int = 0, *, last: bool = True) -> None:
        self.unit, self.drop, self.last = unit, drop, last
        self.seen: list[list[int]] = []

    def send(self, prompt: Sequence[int]) -> int:
        """Tokens that hit; then the prompt is cached."""
        most = len(prompt) - 1 if self.last else len(prompt)
        best = 0
        for other in self.seen:
            blocks = 0
            while True:
                begin, end = blocks * self.unit, (blocks + 1) * self.unit
                if end > most or end > len(other) or list(prompt[begin:end]) != other[begin:end]:
                    break
                blocks += 1
            best = max(best, blocks)
        self.seen.append(list(prompt))
        kept = best
        for _ in range(self.drop):
            kept = max(0, kept - 1)
        return kept * self.unit
