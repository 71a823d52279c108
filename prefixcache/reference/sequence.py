"""One prompt on its way through the engine."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from prefixcache.reference.matching import Held


@dataclass(eq=False)
class Sequence:
    """One prompt on its way through a rank. What it will answer is known from the start; time decides when.

    Attributes:
        prompt, output: token ids, complete from the start; ``emitted`` says how much of the output exists so far.
        texts: what each output token adds to the text.
        keys: by which the cache knows the pieces of what it may store of prompt and output but its last token.
        finish: how it ends if nobody aborts it, ``length`` or ``stop``.
        notify: called after every change of ``emitted`` or ``finished``.
        streams: the answer is a stream.
        cached: prompt tokens found in the cache; None until admitted.
        finished: reason, None while running.
    """

    prompt: array[int]
    output: list[int]
    texts: list[str]
    keys: list[Any]
    finish: str
    notify: Callable[[], None]
    rank: int = 0
    streams: bool = False
    emitted: int = 0
    cached: int | None = None
    finished: str | None = None
    arrived: float = 0.0
    first_at: float = 0.0
    lease: Held | None = None
    timer: asyncio.TimerHandle | None = field(default=None, repr=False)
