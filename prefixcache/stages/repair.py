"""Build the shards, look for collisions, build those shards again in which something collides (RFC 3.3.15).

Construction makes collisions impossible where texts are long enough, so normally every shard is built once. What
collides is repaired in the order of :mod:`prefixcache.content.collisions.repair`; what still does after ``max_retries``
is left to ``on_collision``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from prefixcache.artifact import Artifact
from prefixcache.files import read_json
from prefixcache.stages.build_masters import BUILD_MASTERS
from prefixcache.stages.build_shards import BUILD_SHARDS, shard_numbers, shard_parts
from prefixcache.stages.check_collisions import CHECK_COLLISIONS
from prefixcache.stages.hash_blocks import HASH_BLOCKS
from prefixcache.stages.job import Job
from prefixcache.stages.simulate import SIMULATE
from prefixcache.stages.stage import Runner
from prefixcache.tables import read_parquet

Entry = tuple[int, int, bool]


@dataclass(frozen=True)
class Inputs:
    """What shards are made of."""

    frame: Artifact
    plan: Artifact
    corpus: Artifact
    masters: Artifact


@dataclass(frozen=True)
class Proven:
    """Shards with what was found out about them, and the masters they were cut from at last."""

    masters: Artifact
    shards: list[Artifact]
    collisions: Artifact
    certificate: Artifact


def build_and_prove(runner: Runner, root: Path, job: Job, inputs: Inputs) -> Proven:
    """Shards, the collisions left in them and the certificate.

    With ``on_collision`` other than ``error``, collisions that are left are written into the shards: their status, and
    hits as the certificate's simulator has them.
    """
    work = _Work(runner, root, job, inputs)
    collisions = work.repaired()
    certificate = work.certify()
    if not has_collisions(root, collisions) or job.config.suffix.collision_detection.on_collision == "error":
        return Proven(work.inputs.masters, work.shards, collisions, certificate)
    work.take_hits(collisions, certificate)
    collisions = work.check()
    return Proven(work.inputs.masters, work.shards, collisions, work.certify())


def has_collisions(root: Path, collisions: Artifact) -> bool:
    """Something in the dataset collides that must not."""
    report = read_json(collisions.path(root, ".json"))
    return bool(collisions.rows or report["cross_group_masters"]["colliding_groups"])


@dataclass
class _Work:
    """Shards and their keys by part, and per part the repairs made in it: generated index → retries."""

    runner: Runner
    root: Path
    job: Job
    inputs: Inputs
    made: dict[str, Artifact] = field(default_factory=dict)
    hashed: dict[str, Artifact] = field(default_factory=dict)
    retries: dict[str, dict[int, int]] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)
    """Per group whose master had to be built again: how often."""

    @property
    def shards(self) -> list[Artifact]:
        return list(self.made.values())

    def repaired(self) -> Artifact:
        """Build all shards, and again those with collisions until there are none or no retries are left."""
        parts = shard_parts(self.root, self.inputs.plan)
        self._build(parts, {})
        most = self.job.config.suffix.collision_detection.max_retries
        collisions = self.check()
        while True:
            if self._rebuild_masters(collisions, most):
                self._build(parts, {})
            elif affected := self._count(collisions, most):
                self._build(affected, {})
            else:
                return collisions
            collisions = self.check()

    def _rebuild_masters(self, collisions: Artifact, most: int) -> bool:
        """Another attempt for each master that shares a block with an earlier group's and has one left."""
        found = read_json(collisions.path(self.root, ".json"))["cross_group_masters"]["colliding_groups"]
        numbers = {name: number for number, name in enumerate(self.job.config.prefix.group_ids())}
        affected = [number for name in found if self.attempts.get(number := numbers[name], 0) < most]
        for number in affected:
            self.attempts[number] = self.attempts.get(number, 0) + 1
        if affected:
            wanted = (self.inputs.plan, self.inputs.corpus, sorted(self.attempts.items()))
            masters = self.runner.call(BUILD_MASTERS, self.root, self.job, *wanted)
            self.inputs = replace(self.inputs, masters=masters)
        return bool(affected)

    def check(self) -> Artifact:
        inputs = (self.inputs.frame, self.inputs.plan, self.shards, list(self.hashed.values()))
        return self.runner.call(CHECK_COLLISIONS, self.root, self.job, *inputs)

    def certify(self) -> Artifact:
        return self.runner.call(SIMULATE, self.root, self.job, self.shards, list(self.hashed.values()))

    def _found(self, collisions: Artifact) -> list[tuple[str, int]]:
        table = read_parquet(collisions.path(self.root, ".parquet"))
        return list(zip(table["part"].to_list(), table["index"].to_list(), strict=True))

    def _count(self, collisions: Artifact, most: int) -> list[str]:
        """One retry more for each prompt that collides and has one left; the parts these are in."""
        affected = set()
        for part, index in self._found(collisions):
            name = part.removeprefix("requests-")
            known = self.retries.setdefault(name, {})
            if known.get(index, 0) < most:
                known[index] = known.get(index, 0) + 1
                affected.add(name)
        return sorted(affected)

    def take_hits(self, collisions: Artifact, certificate: Artifact) -> None:
        """Build the shards again in which a request collides or hits otherwise than planned."""
        unresolved: dict[str, set[int]] = {}
        for part, index in self._found(collisions):
            unresolved.setdefault(part.removeprefix("requests-"), set()).add(index)
        plan = read_parquet(self.inputs.plan.path(self.root, "plan.parquet"))
        hits = read_parquet(certificate.path(self.root, ".parquet"))
        differs = pl.Series([False] * len(plan))
        for name in hits.columns:
            differs |= hits[name] != plan[name]
        numbers = pl.Series(shard_numbers(plan["input_len"]))
        moved = [f"{number:05d}" for number in numbers.filter(differs).unique().to_list()]
        self._build(sorted({*moved, *unresolved}), unresolved, certificate)

    def _build(self, parts: list[str], unresolved: dict[str, set[int]], hits: Artifact | None = None) -> None:
        """Parts without repairs have the inputs they always had, so that a cached shard is known again."""
        calls = []
        for part in parts:
            call: tuple[object, ...] = (part, self.inputs.plan, self.inputs.corpus, self.inputs.masters)
            entries = self._entries(part, unresolved.get(part, set()))
            if entries or hits is not None:
                call = (*call, entries, hits)
            calls.append(call)
        for part, shard in zip(parts, self.runner.map(BUILD_SHARDS, self.root, self.job, calls), strict=True):
            self.made[part] = shard
        shards = [(self.inputs.frame, self.made[part]) for part in parts]
        for part, keys in zip(parts, self.runner.map(HASH_BLOCKS, self.root, self.job, shards), strict=True):
            self.hashed[part] = keys

    def _entries(self, part: str, unresolved: set[int]) -> list[Entry]:
        known = self.retries.get(part, {})
        return sorted((index, known.get(index, 0), index in unresolved) for index in {*known, *unresolved})
