"""The loops of :class:`prefixcache.cache.models.tiers.TieredCache`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.models.compiled import compiled
from prefixcache.cache.models.ring_kernel import is_there, take_oldest, touch
from prefixcache.cache.models.trace import Counts, Numbers


@compiled
def _holder(rings: Numbers, block: int) -> int:
    """The fastest tier with the block, -1: none."""
    for tier in range(len(rings)):
        if is_there(rings[tier], block):
            return tier
    return -1


@compiled
def serve_through(
    blocks: Numbers,
    ends: Counts,
    local: Counts,
    most: Counts,
    rings: Numbers,
    counts: Counts,
    capacities: Counts,
    found: NDArray[np.int64],
) -> None:
    """Serve all requests, their blocks stored in every tier; fills ``found``, blocks per request and tier.

    Args:
        local, most: leading blocks that the device hit, and that may hit at all.
        rings, counts, capacities: the tiers' blocks, how many there are and may be.
    """
    start = 0
    for request in range(len(ends)):
        end = ends[request]
        for place in range(start + local[request], start + most[request]):
            tier = _holder(rings, blocks[place])
            if tier < 0:
                break
            found[request, tier] += 1
        for tier in range(len(rings)):
            for place in range(end - 1, start - 1, -1):
                counts[tier] += touch(rings[tier], blocks[place])
            while counts[tier] > capacities[tier]:
                take_oldest(rings[tier])
                counts[tier] -= 1
        start = end


@compiled
def serve_evicted(
    blocks: Numbers,
    ends: Counts,
    local: Counts,
    most: Counts,
    gone: Numbers,
    gone_ends: Counts,
    rings: Numbers,
    counts: Counts,
    capacities: Counts,
    found: NDArray[np.int64],
) -> None:
    """Serve all requests, each tier fed with what the faster one evicts.

    Args:
        gone, gone_ends: the device's evictions and where those of each request end; -1: nobody looks for the block.
    """
    start, first = 0, 0
    for request in range(len(ends)):
        hits = 0
        for place in range(start + local[request], start + most[request]):
            tier = _holder(rings, blocks[place])
            if tier < 0:
                break
            found[request, tier] += 1
            hits += 1
        for place in range(start + local[request] + hits - 1, start + local[request] - 1, -1):
            touch(rings[_holder(rings, blocks[place])], blocks[place])
        for place in range(first, gone_ends[request]):
            block = int(gone[place])
            for tier in range(len(rings)):
                if block < 0:
                    break
                counts[tier] += touch(rings[tier], block)
                block = -1
                if counts[tier] > capacities[tier]:
                    block = take_oldest(rings[tier])
                    counts[tier] -= 1
        first = gone_ends[request]
        start = ends[request]
