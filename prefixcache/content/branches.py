"""The block trie's branches: which requests leave their master at the same node, numbered so that none share a word.

A node is (group, planned prefix); where the planned prefix ends within the head the node is the root, which lies at the
head's end and which all groups share. The
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


def number_branches(groups: Array, prefixes: Array, head: int = 0) -> Branches:
    """Number the children of each node in the given order.

    Args:
        groups, prefixes: per request (and warmup prompt); prefixes in tokens.
        head: tokens with which every prompt begins; who takes no more of its master leaves at the root.
    """
    at_root = prefixes <= head
    node = np.stack([np.where(at_root, -1, groups), np.where(at_root, 0, prefixes)])
    _, inverse, counts = np.unique(node, axis=1, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    by_node = np.argsort(inverse, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    number = np.empty(len(groups), dtype=np.int64)
    number[by_node] = np.arange(len(groups)) - starts[inverse[by_node]]
    return Branches(number, counts[inverse].astype(np.int64))
