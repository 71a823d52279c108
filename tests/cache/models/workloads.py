"""Requests as token lists, for slow models, and as a trace, for fast ones."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from prefixcache.cache.models.trace import Trace

COMPILED = settings(deadline=None)
"""The first example waits for the compiler."""


@dataclass(frozen=True)
class Request:
    """``out``: tokens to generate; a slow model makes them up, all different."""

    prompt: tuple[int, ...]
    out: int = 1


_NEVER_SEEN = count(1_000_000)


def generated(request: Request) -> list[int]:
    """All sampled tokens; they occur nowhere else."""
    return [next(_NEVER_SEEN) for _ in range(request.out)]


def trace_of(requests: list[Request], unit: int, known: dict[tuple[int, ...], int] | None = None) -> Trace:
    """``known``: numbers of the prefixes of earlier traces; it grows."""
    known = {} if known is None else known
    blocks, ends = [], []
    for request in requests:
        for end in range(unit, len(request.prompt) + 1, unit):
            blocks.append(known.setdefault(request.prompt[:end], len(known)))
        ends.append(len(blocks))
    return Trace(
        np.array(blocks, dtype=np.int32),
        np.array(ends, dtype=np.int64),
        np.array([len(request.prompt) for request in requests], dtype=np.int64),
        np.array([request.out for request in requests], dtype=np.int64),
        unit,
        len(known),
    )


# Prompts that share prefixes of every depth, the same prompts again, and tails that end inside a block.
PROMPTS = st.one_of(
    st.sampled_from([2, 3, 4, 6, 8, 12]).map(lambda length: list(range(50, 50 + length))),
    st.lists(st.integers(0, 1), min_size=1, max_size=12),
    st.builds(
        lambda master, cut, own: [100 * (master + 1) + place for place in range(cut)] + own,
        st.integers(0, 2),
        st.integers(1, 14),
        st.lists(st.integers(0, 2), max_size=5),
    ),
).map(tuple)
REQUESTS = st.lists(st.builds(Request, PROMPTS, st.integers(0, 7)), min_size=1, max_size=25)
RESETS = st.lists(st.integers(0, 24), max_size=2)
"""Requests before which the cache is reset."""


def parts_of(requests: list[Request], resets: list[int]) -> list[list[Request]]:
    """The requests between resets."""
    cuts = sorted({place for place in resets if 0 < place < len(requests)})
    return [requests[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(requests)], strict=True)]
