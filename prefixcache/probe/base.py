"""The prompt that a probe's other prompts share the beginning of."""

from __future__ import annotations

from prefixcache.probe.line import Line
from prefixcache.probe.reading import Reading
from prefixcache.probe.told import longest
from prefixcache.probe.unit import RUNGS

ROOM = 8
"""Tokens that a probe needs behind the shared ones, outputs included."""
UNKNOWN_LENGTH = 4096
TRIES = 3
TIGHT = 32
"""Base prompts that a cache has to hold so that a search evicts none of the one it is about."""


class Base:
    """The prompt that others share the beginning of.

    Args:
        line: sends.
        longest: pieces it may have at most.
    """

    def __init__(self, line: Line, longest: int) -> None:
        self.line = line
        self.pieces = line.pieces.fresh(longest)
        self.cached = 0
        """Its leading tokens that were sent; the head is among them."""
        self._capacity = line.service.facts.cache.kv_tokens

    async def grow(self, tokens: int) -> None:
        """Have so many leading tokens of it cached."""
        await self.line.cache(self.pieces[: tokens - self.line.head])
        self.cached = tokens

    async def measure(self, shared: int) -> Reading:
        """A prompt that shares so many leading tokens and then leaves.

        Sent again with another continuation where other clients' requests were counted with it and no usage tells.
        """
        if self._capacity is not None and self._capacity < TIGHT * self.cached:
            # What was read least recently goes first: keep all of it in use.
            await self.line.cache(self.pieces[: self.cached - self.line.head])
        count = max(0, shared - self.line.head)
        for _ in range(TRIES):
            reading = await self.line.send(self.line.pieces.sharing(self.pieces, count, 2), count)
            if reading.hit is not None or not reading.foreign:
                break
        return reading


def longest_shared(line: Line) -> int:
    """Tokens that a base prompt may have: what the model takes, less what stands behind them."""
    facts = line.service.facts
    limits = [longest(line.service) or UNKNOWN_LENGTH, facts.cache.kv_tokens or RUNGS[-1] * 2]
    return min(limits) - ROOM - line.tail
