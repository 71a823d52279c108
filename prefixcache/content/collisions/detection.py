"""Detection over real token ids: is everything that must be unique unique under the cache's matching semantics?

- ``chained_prefix``: the first non-shared block behind its chain of parents, among the requests, the warmup prompts and
  the masters of one cache domain.
- ``independent_block``, ``content_defined_chunk``: every block or chunk outside of the shared region, and the masters'
  own, in the whole dataset.

A group's master is the longest planned prefix among its prompts, so nothing but the dataset is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.collisions.part_keys import CollisionRules, PartKeys, Placed, Prompts, part_keys
from prefixcache.content.collisions.registry import MASTERS, MEMORY_PAIRS, WARMUP, BlockRegistry
from prefixcache.content.collisions.windows import window_report

__all__ = ["CollisionDetector", "CollisionRules", "Found", "Placed"]


@dataclass(frozen=True)
class Found:
    """Rows of the requests and of the warmup prompts that have to change, and figures as plain data."""

    requests: list[int]
    warmup: list[int]
    report: dict[str, Any]

    @property
    def clean(self) -> bool:
        return not (self.requests or self.warmup or self.report["cross_group_masters"]["colliding_groups"])


class CollisionDetector:
    """Takes prompts part by part, in any order; :meth:`result` is the same whatever it was.

    Args:
        memory_pairs, folder: bound and place of the registries (:class:`BlockRegistry`).
    """

    def __init__(self, rules: CollisionRules, memory_pairs: int = MEMORY_PAIRS, folder: Path | None = None) -> None:
        self.rules = rules
        self.blocks = BlockRegistry(memory_pairs, folder)
        self.windows = BlockRegistry(memory_pairs, folder)
        self.masters: dict[str, NDArray[np.int32]] = {}
        self.domains: set[int] = set()
        self.requests = self.warmup = 0

    def __enter__(self) -> CollisionDetector:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.blocks.__exit__(kind, error, at)
        self.windows.__exit__(kind, error, at)

    def add(self, part: str, prompts: Iterable[Placed]) -> None:
        """Register the prompts of one shard."""
        self.add_keys(part, part_keys(self.rules, Prompts.of(prompts)))

    def add_keys(self, part: str, found: PartKeys) -> None:
        """Register what one shard contributes; maps of files stay where they are."""
        for group in sorted(found.masters):
            if len(self.masters.get(group, ())) < len(found.masters[group]):
                self.masters[group] = found.masters[group]
        self.domains |= found.domains
        self.requests += found.requests
        self.warmup += found.warmup
        self.blocks.add_sorted(part, found.keys, found.owners)
        self.windows.add_sorted(part, found.windows, found.window_owners)

    def _add_masters(self) -> list[str]:
        """Register the masters' own blocks; returns the groups in the order of their owners."""
        matching, groups = self.rules.matching, sorted(self.masters)
        pairs = _Pairs()
        for number, group in enumerate(groups):
            ids = self.masters[group]
            if matching.chained:
                for domain in sorted(self.domains):
                    keys, ends = matching.stored(ids, domain)
                    pairs.add(keys[ends > self.rules.shared_head], MASTERS + number)
            else:
                keys, ends = matching.pieces(ids)
                pairs.add(keys[ends > self.rules.shared_head], MASTERS + number)
        self.blocks.add("masters", *pairs.arrays())
        return groups

    def result(self) -> Found:
        """What was found in the parts so far."""
        groups = self._add_masters()
        owners = self.blocks.colliding()
        masters = [groups[owner - MASTERS] for owner in owners[owners < WARMUP].tolist()]
        requests = owners[owners >= 0].tolist()
        warmup = (owners[(owners >= WARMUP) & (owners < 0)] - WARMUP).tolist()
        report = {
            "cache_match_semantics": self.rules.matching.semantics,
            "checked_requests": self.requests,
            "checked_warmup_prompts": self.warmup,
            "checked_blocks": len(self.blocks),
            "colliding_requests": len(requests),
            "colliding_warmup_prompts": len(warmup),
            "first_non_shared_block_duplicates": len(requests) if self.rules.matching.chained else None,
            "cross_group_masters": {
                "checked_groups": len(groups),
                "colliding_groups": masters,
                "longest_common_prefix_tokens": self._common_prefix(groups),
                "shared_head_tokens": self.rules.head,
            },
            "windows": window_report(self.windows, self.rules.window_blocks, self.requests)
            if self.rules.matching.chained
            else None,
        }
        return Found(requests, warmup, report)

    def _common_prefix(self, groups: list[str]) -> int | None:
        """Tokens of the longest prefix that two masters share; None with fewer than two.

        In sorted order the longest common prefix of any two stands between neighbours.
        """
        if len(groups) < 2:
            return None
        rows = sorted((self.masters[group] for group in groups), key=lambda ids: ids.astype(">u4").tobytes())
        longest = 0
        for one, other in pairwise(rows):
            size = min(len(one), len(other))
            differ = np.flatnonzero(one[:size] != other[:size])
            longest = max(longest, int(differ[0]) if len(differ) else size)
        return longest


class _Pairs:
    """Keys and their owners, gathered prompt by prompt."""

    def __init__(self) -> None:
        self.keys: list[NDArray[np.uint64]] = [np.zeros(0, dtype=np.uint64)]
        self.owners: list[int] = [0]

    def add(self, keys: NDArray[np.uint64], owner: int) -> None:
        self.keys.append(keys)
        self.owners.append(owner)

    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        counts = [len(keys) for keys in self.keys]
        return np.concatenate(self.keys), np.repeat(np.array(self.owners, dtype=np.int64), counts)
