"""The block trie's branches: which requests leave their master at the same node, numbered so that none share a word.

A node is (group, planned prefix); where the planned prefix is 0 the node is the root, which all groups share. The
children of a node are the requests that leave there, the warmup prompts that do, and the master that continues.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Branches:
    """Per request: its number among its node's children and how many children the node has (without the master)."""

    number: Array
    siblings: Array


def number_branches(groups: Array, prefixes: Array) -> Branches:
    """Number the children of each node in the given order.

    Args:
        groups, prefixes: per request (and warmup prompt); prefixes in tokens.
    """
    node = np.where(prefixes == 0, -1, groups)
    _, inverse, counts = np.unique(np.stack([node, prefixes]), axis=1, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    by_node = np.argsort(inverse, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    number = np.empty(len(groups), dtype=np.int64)
    number[by_node] = np.arange(len(groups)) - starts[inverse[by_node]]
    return Branches(number, counts[inverse].astype(np.int64))
