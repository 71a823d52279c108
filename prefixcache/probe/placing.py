"""Where the words of a chat prompt stand: how many tokens a template puts before them, from what prompts hit.

Usage tells how many it puts around them in all, and so the length of every prompt. A prompt sent twice shares its whole
length n, so it hits u·(⌊n / u⌋ − d) wherever the words stand (n no multiple of u): that gives d. The least w words that
hit as much as the base prompt does, h, end a unit: head + w = h + d·u.
"""

from __future__ import annotations

from prefixcache.probe.base import ROOM, Base, longest_shared
from prefixcache.probe.line import Line
from prefixcache.probe.reading import Reading
from prefixcache.probe.unit import ASKED_AGAIN, rungs

UNITS = 4
"""Units of the prompt that is sent twice, at least."""


async def place(line: Line) -> tuple[str, Base] | None:
    """Set the line's head and tail; None, or the key of the words that say why that could not be done, and a base
    prompt that hits.

    Where nothing hits or nothing tells, all stays counted as head: the search for the unit then says so.
    """
    around = line.head
    line.head, line.tail = 0, around
    why = None
    try:
        base, top = await _hitting(line, around)
        if base is not None and top is not None:
            found = await _from_hits(line, base, top, around)
            if isinstance(found, int):
                line.head, line.tail, line.placed = found, around - found, True
                return None
            why = found, base
    finally:
        if not line.placed:
            line.head, line.tail = around, 0
    return why


async def _hitting(line: Line, around: int) -> tuple[Base, Reading] | tuple[None, None]:
    """A base prompt that is hit in more than what all prompts share, and the reading of it."""
    lengths = rungs(longest_shared(line))
    base = Base(line, max(lengths, default=0) + ROOM)
    for length in lengths:
        await base.grow(length)
        top = await base.measure(length)
        if top.hit is not None and top.hit - top.slack > around:
            return base, top
        if top.hit is None and length >= ASKED_AGAIN:
            break
    return None, None


async def _from_hits(line: Line, base: Base, top: Reading, around: int) -> int | str:
    assert top.hit is not None
    if top.slack:
        return "place.rounded"
    words, below = await _least(base, base.cached, round(top.hit), around)
    unit = round(top.hit - (below.hit or 0.0))
    if unit < 2:  # the last token's rule and the drop cannot be told apart
        return "place.single"
    whole = unit * max(UNITS, around // unit + 2) + unit // 2
    while whole <= longest_shared(line):
        prompt = line.pieces.fresh(whole - around)
        await line.cache(prompt)
        twice = await line.send(prompt, len(prompt))
        if twice.hit is None or twice.length != whole or twice.hit % unit:
            return "place.odd"
        if twice.hit:
            drop = whole // unit - round(twice.hit) // unit
            head = round(top.hit) + drop * unit - words
            return head if drop >= 0 and 0 <= head <= around else "place.odd"
        whole += UNITS * unit
    return "place.odd"


async def _least(base: Base, most: int, full: int, around: int) -> tuple[int, Reading]:
    """The least words that hit ``full`` tokens, and the reading of one word less."""
    low, high = max(0, full - around - 1), most
    seen: dict[int, Reading] = {}
    guess = full
    while high - low > 1:
        middle = guess if low < guess < high else (low + high) // 2
        guess = 0
        seen[middle] = await base.measure(middle)
        if (seen[middle].hit or 0.0) >= full:
            high = middle
        else:
            low = middle
    return high, seen[low] if low in seen else await base.measure(low)
