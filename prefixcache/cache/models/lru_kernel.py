"""The loop of :class:`prefixcache.cache.models.lru.RequestLru`."""

from __future__ import annotations

from prefixcache.cache.models.compiled import compiled
from prefixcache.cache.models.ring_kernel import is_there, take_oldest, touch
from prefixcache.cache.models.trace import Counts, Numbers


@compiled
def serve_lru(
    blocks: Numbers,
    ends: Counts,
    ring: Numbers,
    count: int,
    capacity: int,
    runs: Counts,
    evicted: Counts,
    used: Counts,
    gone: Numbers,
    tell: bool,
) -> int:
    """Serve all requests; fills ``runs``, ``evicted``, ``used`` and, with ``tell``, ``gone``.

    Args:
        ring, count: the cached blocks, and how many there are.

    Returns:
        How many there are afterwards.
    """
    start, told = 0, 0
    for request in range(len(ends)):
        end = ends[request]
        run = start
        while run < end and is_there(ring, blocks[run]):
            run += 1
        runs[request] = run - start
        for place in range(end - 1, start - 1, -1):
            count += touch(ring, blocks[place])
        lost = max(count - capacity, 0)
        for _ in range(lost):
            block = take_oldest(ring)
            if tell:
                gone[told] = block
                told += 1
        count -= lost
        evicted[request] = lost
        used[request] = count
        start = end
    return count
