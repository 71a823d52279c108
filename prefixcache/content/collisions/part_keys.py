"""What one shard contributes to the search for collisions: sorted keys that must be unique, later windows, masters.

It is computed shard by shard, in any process, and needs nothing of the other shards.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.blocks import block_forms_of_many, chain_of_forms, mix
from prefixcache.cache.matching.semantics import Matching
from prefixcache.content.collisions.registry import WARMUP, sorted_pairs
from prefixcache.content.collisions.windows import windows_of_many
from prefixcache.files import replacing

U64 = NDArray[np.uint64]
Array = NDArray[np.int64]
Ids = NDArray[np.int32]


@dataclass(frozen=True)
class Placed:
    """One prompt and its place in the dataset.

    ``row``: place in send order; warmup prompts, in lane order, are counted apart. ``prefix``: planned, in tokens.
    """

    row: int
    group: str
    domain: int
    prefix: int
    ids: Ids
    warmup: bool = False

    @property
    def owner(self) -> int:
        return self.row + WARMUP if self.warmup else self.row


@dataclass(frozen=True)
class CollisionRules:
    """``block``: tokens per block of the window diagnostic. ``head``: tokens that all prompts share."""

    matching: Matching
    block: int
    head: int
    window_blocks: int

    @property
    def shared_head(self) -> int:
        """Whole hit units of the head."""
        return self.head // self.matching.unit * self.matching.unit


@dataclass(frozen=True)
class Prompts:
    """Prompts of one shard as arrays.

    ``ids``: all token ids, one prompt after the other; ``ends``: where each ends. ``owners``: :attr:`Placed.owner`.
    """

    ids: Ids
    ends: Array
    owners: Array
    groups: list[str]
    domains: Array
    prefixes: Array

    @classmethod
    def of(cls, placed: Iterable[Placed]) -> Prompts:
        rows = list(placed)
        return cls(
            np.concatenate([np.zeros(0, dtype=np.int32), *(row.ids for row in rows)]),
            np.cumsum([len(row.ids) for row in rows], dtype=np.int64),
            np.array([row.owner for row in rows], dtype=np.int64),
            [row.group for row in rows],
            np.array([row.domain for row in rows], dtype=np.int64),
            np.array([row.prefix for row in rows], dtype=np.int64),
        )

    @property
    def lengths(self) -> Array:
        return np.diff(self.ends, prepend=0)

    def ids_of(self, place: int) -> Ids:
        return self.ids[self.ends[place] - self.lengths[place] : self.ends[place]]

    def masters(self) -> dict[str, Ids]:
        """The longest planned prefix of each group, of the first prompt that has it."""
        found: dict[str, int] = {}
        for place, (group, prefix) in enumerate(zip(self.groups, self.prefixes.tolist(), strict=True)):
            if prefix and (group not in found or prefix > self.prefixes[found[group]]):
                found[group] = place
        return {group: self.ids_of(at)[: self.prefixes[at]].copy() for group, at in found.items()}


@dataclass(frozen=True)
class PartKeys:
    """Sorted by key and then owner: ``keys`` that no other prompt may have, and ``windows`` of requests."""

    keys: U64
    owners: Array
    windows: U64
    window_owners: Array
    masters: dict[str, Ids] = field(default_factory=dict)
    domains: frozenset[int] = frozenset()
    requests: int = 0
    warmup: int = 0

    def save(self, stem: Path) -> list[Path]:
        """Arrays as files that can be mapped, ``<stem>.<name>.npy``; masters in one ``.masters.npz``."""
        stem.parent.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in ARRAYS:
            paths.append(stem.with_name(f"{stem.name}.{name}.npy"))
            with replacing(paths[-1], sync=False) as file:
                np.save(file, getattr(self, name))
        paths.append(stem.with_name(f"{stem.name}.masters.npz"))
        names = sorted(self.masters)
        facts = np.array([self.requests, self.warmup, *sorted(self.domains)], dtype=np.int64)
        masters: dict[str, Any] = {f"master{number}": self.masters[name] for number, name in enumerate(names)}
        with replacing(paths[-1], sync=False) as file:
            np.savez(file, facts=facts, names=np.array(names, dtype=np.str_), **masters)
        return paths

    @classmethod
    def open(cls, stem: Path) -> PartKeys:
        """Map the arrays of :meth:`save`."""
        mapped = {name: np.load(stem.with_name(f"{stem.name}.{name}.npy"), mmap_mode="r") for name in ARRAYS}
        with np.load(stem.with_name(f"{stem.name}.masters.npz")) as told:
            facts = told["facts"].tolist()
            masters = {str(name): told[f"master{number}"] for number, name in enumerate(told["names"].tolist())}
        places = {"domains": frozenset(facts[2:]), "requests": facts[0], "warmup": facts[1]}
        return cls(**mapped, masters=masters, **places)


ARRAYS = ("keys", "owners", "windows", "window_owners")


@dataclass(frozen=True)
class Stored:
    """Keys under which a cache holds the pieces of prompts, one prompt after the other (``stored_of_many``)."""

    keys: U64
    sizes: Array
    ends: Array


def shard_keys(rules: CollisionRules, prompts: Prompts) -> tuple[PartKeys, Stored]:
    """What a shard contributes to the search for collisions, and the keys that a simulated cache looks up."""
    matching, measured = rules.matching, prompts.owners >= 0
    if not matching.chained:
        stored = Stored(*matching.stored_of_many(prompts.ids, prompts.ends, prompts.domains))
        return _contribution(prompts, _all_own_pieces(rules, prompts), None), stored
    forms, blocks = block_forms_of_many(prompts.ids, prompts.ends, matching.unit)
    stored = Stored(chain_of_forms(forms, blocks, prompts.domains), blocks, np.zeros(0, dtype=np.int64))
    windows = None
    if rules.window_blocks:
        if rules.block != matching.unit:
            forms, blocks = block_forms_of_many(prompts.ids, prompts.ends, rules.block)
        first = prompts.prefixes // rules.block + 1
        keys, counts = windows_of_many(mix(forms), blocks, first, rules.window_blocks)
        kept = np.repeat(measured, counts)
        windows = keys[kept], np.repeat(prompts.owners, counts)[kept]
    return _contribution(prompts, _first_own_blocks(matching, prompts, stored), windows), stored


def part_keys(rules: CollisionRules, prompts: Prompts) -> PartKeys:
    """What a shard contributes to the search for collisions."""
    return shard_keys(rules, prompts)[0]


def _contribution(prompts: Prompts, own: tuple[U64, Array], windows: tuple[U64, Array] | None) -> PartKeys:
    none = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    measured = prompts.owners >= 0
    return PartKeys(
        *sorted_pairs(*own),
        *sorted_pairs(*(windows or none)),
        prompts.masters(),
        frozenset(prompts.domains.tolist()),
        int(measured.sum()),
        int((~measured).sum()),
    )


def _first_own_blocks(matching: Matching, prompts: Prompts, stored: Stored) -> tuple[U64, Array]:
    """The first non-shared block of each prompt: its key holds its whole chain, so nothing behind it is looked at."""
    place = prompts.prefixes // matching.unit
    there = place < stored.sizes
    first = np.cumsum(stored.sizes) - stored.sizes
    return stored.keys[(first + place)[there]], prompts.owners[there]


def _all_own_pieces(rules: CollisionRules, prompts: Prompts) -> tuple[U64, Array]:
    """Every block or chunk behind the planned prefix and the shared head."""
    keys, sizes, ends = rules.matching.pieces_of_many(prompts.ids, prompts.ends)
    behind = ends > np.repeat(np.maximum(prompts.prefixes, rules.shared_head), sizes)
    return keys[behind], np.repeat(prompts.owners, sizes)[behind]
