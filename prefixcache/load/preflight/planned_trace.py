"""A dataset's requests as blocks for cache models, from the plan alone: no prompt is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prefixcache.load.dataset import Planned

if TYPE_CHECKING:
    from prefixcache.cache.models.trace import Trace


def planned_trace(requests: tuple[Planned, ...], unit: int, head: int) -> Trace:
    """Requests as blocks, as the plan has them.

    A block inside the head is everybody's, one inside the planned prefix its group's, every other its request's own.

    Args:
        unit: tokens per block.
        head: tokens with which every request begins.
    """
    from prefixcache.cache.models.trace import Trace

    names = {name: number for number, name in enumerate(dict.fromkeys(r.group for r in requests))}
    groups = np.array([names[r.group] for r in requests], dtype=np.int64)
    lengths, outputs, prefixes = (
        np.array(column, dtype=np.int64)
        for column in zip(*((r.input_len, r.output_len, r.prefix) for r in requests), strict=True)
    )
    sizes = lengths // unit
    everybodys = np.minimum(head // unit, sizes)
    shared = np.maximum(np.minimum(prefixes // unit, sizes), everybodys)
    # Numbers: the head's blocks, then each group's, then what is nobody else's.
    deepest = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(deepest, groups, shared)
    first_of_group = head // unit + np.cumsum(deepest) - deepest
    ends = np.cumsum(sizes)
    depth = np.arange(int(ends[-1]), dtype=np.int64) - np.repeat(ends - sizes, sizes)
    own = depth >= np.repeat(shared, sizes)
    blocks = depth + np.where(depth < head // unit, 0, np.repeat(first_of_group[groups], sizes))
    alone = int(first_of_group[-1] + deepest[-1])
    blocks[own] = alone + np.arange(int(np.count_nonzero(own)))
    distinct = alone + int(np.count_nonzero(own))
    return Trace(blocks.astype(np.int32), ends, lengths, outputs, unit, distinct)
