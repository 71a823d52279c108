"""The loop of :class:`prefixcache.cache.models.scattered.ScatteredLru`."""

from __future__ import annotations

from prefixcache.cache.models.compiled import compiled
from prefixcache.cache.models.ring_kernel import is_there, take_oldest, touch
from prefixcache.cache.models.trace import Counts, Numbers


@compiled
def serve_scattered(
    blocks: Numbers,
    ends: Counts,
    tokens: Counts,
    worth: Counts,
    ring: Numbers,
    sizes: Counts,
    state: Counts,
    capacity: int,
    hits: Counts,
    evicted: Counts,
    used: Counts,
) -> None:
    """Serve all requests; fills ``hits``, ``evicted`` and ``used``.

    Args:
        tokens, worth: tokens of each piece, and what it counts as a hit.
        sizes: tokens of each piece in the cache, by number.
        state: pieces and tokens in the cache.
        capacity: tokens.
    """
    start = 0
    for request in range(len(ends)):
        end = ends[request]
        hits[request], evicted[request] = 0, 0
        for place in range(start, end):
            if is_there(ring, blocks[place]):
                hits[request] += worth[place]
        for place in range(end - 1, start - 1, -1):
            if touch(ring, blocks[place]):
                sizes[blocks[place]] = tokens[place]
                state[0] += 1
                state[1] += tokens[place]
        while state[1] > capacity:
            state[0] -= 1
            state[1] -= sizes[take_oldest(ring)]
            evicted[request] += 1
        used[request] = state[0]
        start = end
