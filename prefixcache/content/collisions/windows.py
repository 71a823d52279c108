"""Diagnostic of repeated text: equal windows of blocks behind the first non-shared one (RFC 3.3.14; domain.md 6).

Under chained block hashes they cannot hit, so they are counted and never rejected.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.blocks import block_forms, mix
from prefixcache.content.collisions.registry import BlockRegistry

U64 = NDArray[np.uint64]
Counts = NDArray[np.int64]
MOST_REPEATED = 5
_STREAM = 0x77696E646F7773


def window_keys(ids: NDArray[np.int32], block: int, blocks: int, prefix: int) -> U64:
    """Keys of all windows of ``blocks`` blocks that begin behind the first non-shared block of a prompt.

    Args:
        block: tokens per block.
        prefix: tokens of the shared prefix.
    """
    forms = mix(block_forms(ids[prefix // block * block + block :], block))
    count = len(forms) - blocks + 1
    if count <= 0:
        return np.zeros(0, dtype=np.uint64)
    total = np.zeros(count, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for at, multiplier in enumerate(_multipliers(blocks)):
            total += forms[at : at + count] * multiplier
    return mix(total)


def windows_of_many(forms: U64, blocks: Counts, first: Counts, width: int) -> tuple[U64, Counts]:
    """:func:`window_keys` of many prompts at once.

    Args:
        forms: mixed forms of all blocks, one prompt after the other.
        blocks: blocks of each prompt. first: its first block that may begin a window. width: blocks per window.

    Returns:
        Keys one prompt after the other, and how many windows each prompt has.
    """
    counts = np.maximum(blocks - width + 1 - first, 0)
    starts = np.repeat(np.cumsum(blocks) - blocks + first, counts)
    starts = starts + np.arange(len(starts)) - np.repeat(np.cumsum(counts) - counts, counts)
    total = np.zeros(len(starts), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for at, multiplier in enumerate(_multipliers(width)):
            total += forms[starts + at] * multiplier
    return mix(total), counts


def _multipliers(width: int) -> U64:
    return np.random.Philox(key=_STREAM).random_raw(width) | np.uint64(1)


def window_report(registry: BlockRegistry, blocks: int, requests: int) -> dict[str, Any]:
    """How often later windows repeat, as plain data.

    Args:
        registry: windows of all requests.
        blocks: blocks per window.
        requests: how many requests there are.
    """
    keys = times = 0
    repeating = np.zeros(0, dtype=np.int64)
    top: list[tuple[int, int]] = []
    for found in registry.repeated():
        keys += len(found.keys)
        times += int(found.counts.sum())
        most = np.argsort(-found.counts, kind="stable")[:MOST_REPEATED]
        top += [(-int(found.counts[i]), int(found.keys[i])) for i in most]
        top = sorted(top)[:MOST_REPEATED]
        repeating = np.union1d(repeating, found.owners)
    return {
        "window_blocks": blocks,
        "windows": len(registry),
        "repeated_windows": keys,
        "repeated_occurrences": times,
        "requests_with_repeats": len(repeating),
        "share_of_requests": len(repeating) / requests if requests else None,
        "most_repeated": [{"hash": f"{key:016x}", "count": -count} for count, key in top],
    }
