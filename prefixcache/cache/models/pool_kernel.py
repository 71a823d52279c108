"""The loop of :class:`prefixcache.cache.models.pool.BlockPool`."""

from __future__ import annotations

import numpy as np

from prefixcache.cache.models.compiled import compiled
from prefixcache.cache.models.trace import Counts, Numbers

GENERATED = -2
"""Number of all blocks that hold generated tokens; -1: a block without a hash."""


def new_pool(blocks: int) -> tuple[Numbers, Numbers]:
    """The free queue and what the blocks hold.

    The queue is a doubly linked ring, shape (blocks, 2); the null block is its anchor. Column 0 leads to the next one
    (from the anchor: the front), column 1 to the one before (from the anchor: the end). What blocks hold, shape
    (blocks, 3): a number, and the next and the previous block that hold the same.
    """
    places = np.arange(blocks, dtype=np.int32)
    queue = np.stack([np.roll(places, -1), np.roll(places, 1)], axis=1)
    return np.ascontiguousarray(queue), np.full((blocks, 3), -1, dtype=np.int32)


@compiled
def _take_from_queue(queue: Numbers, block: int) -> None:
    after, before = queue[block, 0], queue[block, 1]
    queue[before, 0] = after
    queue[after, 1] = before


@compiled
def _put_before(queue: Numbers, block: int, after: int) -> None:
    before = queue[after, 1]
    queue[block, 0], queue[block, 1] = after, before
    queue[before, 0] = block
    queue[after, 1] = block


@compiled
def _forget(block: int, of_block: Numbers, of_number: Numbers) -> int:
    """The block loses what it holds; returns the number of that, -1 if there was nothing."""
    number, after, before = of_block[block, 0], of_block[block, 1], of_block[block, 2]
    of_block[block, 0] = -1
    if number >= 0:
        if before >= 0:
            of_block[before, 1] = after
        else:
            of_number[number, 0] = after
        if after >= 0:
            of_block[after, 2] = before
        else:
            of_number[number, 1] = before
    return int(number)


@compiled
def _hold(block: int, number: int, of_block: Numbers, of_number: Numbers) -> None:
    """The block is the last of those that hold this number."""
    before = of_number[number, 1]
    of_block[block, 0], of_block[block, 1], of_block[block, 2] = number, -1, before
    if before >= 0:
        of_block[before, 1] = block
    else:
        of_number[number, 0] = block
    of_number[number, 1] = block


@compiled
def serve_pool(
    blocks: Numbers,
    ends: Counts,
    most_hit: Counts,
    full: Counts,
    needed: Counts,
    drop: int,
    queue: Numbers,
    of_block: Numbers,
    of_number: Numbers,
    hit_blocks: Counts,
    runs: Counts,
    evicted: Counts,
    used: Counts,
    gone: Numbers,
    tell: bool,
) -> None:
    """Serve all requests; each must fit into the pool.

    Args:
        full, needed: blocks of each request's prompt and generated tokens, full ones and all.
        of_number: first and last block that hold each number, shape (distinct, 2).
    """
    mine = np.empty(len(queue), dtype=np.int32)
    holding = 0
    for block in range(1, len(of_block)):
        holding += of_block[block, 0] != -1
    start, told = 0, 0
    for request in range(len(ends)):
        size = ends[request] - start
        run = 0
        while run < size and of_number[blocks[start + run], 0] >= 0:
            run += 1
        runs[request] = run
        hits = max(min(run, most_hit[request]) - drop, 0)
        hit_blocks[request] = hits
        for place in range(hits):
            mine[place] = of_number[blocks[start + place], 0]
            _take_from_queue(queue, mine[place])
        lost = 0
        for place in range(hits, needed[request]):
            block = queue[0, 0]
            _take_from_queue(queue, block)
            number = _forget(block, of_block, of_number)
            if number != -1:
                lost += 1
                if tell:
                    gone[told] = max(number, -1)
                    told += 1
            mine[place] = block
        for place in range(hits, full[request]):
            if place < size:
                _hold(mine[place], blocks[start + place], of_block, of_number)
            else:
                of_block[mine[place], 0] = GENERATED
        for place in range(full[request], needed[request]):
            _put_before(queue, mine[place], queue[0, 0])
        for place in range(full[request] - 1, -1, -1):
            _put_before(queue, mine[place], 0)
        holding += full[request] - hits - lost
        evicted[request] = lost
        used[request] = holding
        start = ends[request]
