"""vLLM's pool from its rules, over tokens: the queue is a list, a block's hash is the whole prefix it ends."""

from __future__ import annotations

from dataclasses import dataclass

from tests.cache.models.workloads import Request, generated


@dataclass
class Block:
    number: int
    prefix: tuple[int, ...] | None = None


class SlowPool:
    def __init__(self, blocks: int, unit: int, drop: int = 0) -> None:
        self.unit, self.drop = unit, drop
        self.queue = [Block(number) for number in range(1, blocks)]
        self.cached: list[Block] = []  # in the order in which they were cached

    def reset(self) -> None:
        for block in self.cached:
            block.prefix = None
        self.cached = []

    def find(self, prefix: tuple[int, ...]) -> Block | None:
        return next((block for block in self.cached if block.prefix == prefix), None)

    def run(self, request: Request) -> tuple[int, int, int]:
        """Hit tokens, evicted blocks, cached blocks afterwards."""
        unit = self.unit
        sequence = request.prompt + tuple(generated(request)[:-1])
        mine: list[Block] = []
        while (len(mine) + 1) * unit <= len(request.prompt) - 1:
            block = self.find(request.prompt[: (len(mine) + 1) * unit])
            if block is None:
                break
            mine.append(block)
        mine = mine[: max(0, len(mine) - self.drop)]
        hits = len(mine)
        for block in mine:
            self.queue.remove(block)
        lost = 0
        while len(mine) * unit < len(sequence):
            block = self.queue.pop(0)
            if block.prefix is not None:
                lost += 1
                self.cached.remove(block)
                block.prefix = None
            mine.append(block)
        for place in range(hits, len(sequence) // unit):
            mine[place].prefix = sequence[: (place + 1) * unit]
            self.cached.append(mine[place])
        for block in reversed(mine):
            if block.prefix is None:
                self.queue.insert(0, block)
            else:
                self.queue.append(block)
        return hits * unit, lost, len(self.cached)
