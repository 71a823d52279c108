"""The request-granular LRU, said with a list: oldest block first."""

from __future__ import annotations

from collections.abc import Sequence


class SlowLru:
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.kept: list[int] = []

    def run(self, blocks: Sequence[int]) -> tuple[int, list[int]]:
        """The leading run found, and the evicted blocks."""
        found = 0
        for block in blocks:
            if block not in self.kept:
                break
            found += 1
        for block in reversed(blocks):
            if block in self.kept:
                self.kept.remove(block)
            self.kept.append(block)
        lost = []
        while len(self.kept) > self.capacity:
            lost.append(self.kept.pop(0))
        return found, lost
