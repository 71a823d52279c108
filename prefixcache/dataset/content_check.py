"""What the token ids of a written dataset do in a cache: hits and collisions under its own matching semantics."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.bounded import PoolSize, bounded_passes
from prefixcache.cache.certificate import KeyedPrompts, simulate_pass
from prefixcache.cache.key_files import KeyFiles, by_depth
from prefixcache.cache.matching.scattered import Pieces
from prefixcache.cache.matching.semantics import Matching
from prefixcache.content.collisions.detection import CollisionDetector, Found
from prefixcache.content.collisions.part_keys import CollisionRules, Placed, Prompts, shard_keys
from prefixcache.content.collisions.repair import UNRESOLVED
from prefixcache.dataset.contents import DatasetContents
from prefixcache.workload.verdict import FAIL, WARNING

Tokens = NDArray[np.int64]
PART_TOKENS = 2_000_000


def collisions_were_accepted(contents: DatasetContents) -> bool:
    """So that the dataset's hits are those of the simulator, not of the plan."""
    return bool((contents.manifest.get("collision_result") or {}).get("hits_from") == "simulator")


def hits_are_simulated(contents: DatasetContents) -> bool:
    """The hits are those of the simulator, not of the watermarks: collisions were accepted, or caches evict."""
    return PoolSize.of(contents.manifest) is not None or collisions_were_accepted(contents)


@dataclass(frozen=True)
class Examined:
    """``hits``: hit tokens per request and pass of the real token ids."""

    hits: dict[str, Tokens]
    collisions: Found


def examine(contents: DatasetContents) -> Examined:
    """Simulate the passes and look for collisions, from the published token ids.

    Part by part as the stages do it; block keys are in temporary files meanwhile.
    """
    manifest, matching = contents.manifest, _matching(contents)
    rules = manifest.get("collision_detection") or {}
    head = len(manifest["tokenizer"].get("head") or [])
    asked = CollisionRules(matching, manifest["block_size"], head, rules.get("window_blocks", 2))
    with tempfile.TemporaryDirectory(prefix="prefixcache-validate-") as folder, CollisionDetector(asked) as detector:
        requests = _keyed(asked, detector, Path(folder), "requests", _requests(contents))
        warmup = _keyed(asked, detector, Path(folder), "warmup", _warmup(contents))
        drop = manifest.get("hit_drop", 0)
        names = [row["name"] for row in manifest["passes"]]
        if (pool := PoolSize.of(manifest)) is not None:
            domains, outputs = contents.numbers("planned_dp_id"), contents.numbers("output_len")
            warm = np.array([row["planned_dp_id"] for row in contents.warmup], dtype=np.int64)
            hits = bounded_passes(names, requests, outputs, domains, warmup, warm, pool)
        else:
            hits = {name: simulate_pass(name, requests, warmup, matching.unit, drop) for name in names}
        return Examined(hits, detector.result())


def _keyed(
    asked: CollisionRules, detector: CollisionDetector, folder: Path, name: str, placed: Iterator[Placed]
) -> KeyedPrompts:
    """Register prompts with the detector and keep the keys that the simulator looks up in files."""
    lengths: list[Tokens] = [np.zeros(0, dtype=np.int64)]
    paths: list[Path] = []
    pieces: list[Pieces] = []
    first = 0
    for number, part in enumerate(_parts(placed)):
        prompts = Prompts.of(part)
        found, stored = shard_keys(asked, prompts)
        detector.add_keys(f"{name}-{number}", found)
        if asked.matching.chained:
            paths.append(folder / f"{name}-{number}.npy")
            np.save(paths[-1], by_depth(stored.keys, stored.sizes))
        else:
            places = np.arange(first, first + len(part), dtype=np.int64)
            pieces.append(Pieces.of(stored.keys, stored.sizes, stored.ends, prompts.lengths, places))
        lengths.append(prompts.lengths)
        first += len(part)
    tokens = np.concatenate(lengths)
    if asked.matching.chained:
        return KeyedPrompts(tokens, KeyFiles(paths, tokens // asked.matching.unit))
    return KeyedPrompts(tokens, None, pieces)


def _parts(placed: Iterator[Placed]) -> Iterator[list[Placed]]:
    part: list[Placed] = []
    tokens = 0
    for prompt in placed:
        part.append(prompt)
        tokens += len(prompt.ids)
        if tokens >= PART_TOKENS:
            yield part
            part, tokens = [], 0
    if part:
        yield part


def collision_problems(contents: DatasetContents, found: Found) -> list[str]:
    """Collisions that the dataset does not own up to, and those it claims that are not there."""
    names = [row["request_id"] for row in contents.metadata]
    what = "chunk" if _matching(contents).chunker is not None else "block"
    if collisions_were_accepted(contents):
        claimed = {i for i, row in enumerate(contents.metadata) if row.get("collision_status") == UNRESOLVED}
        odd = sorted(claimed ^ set(found.requests))
        return [f"{names[i]}: collision_status {contents.metadata[i].get('collision_status')} is not so" for i in odd]
    problems = [f"{names[i]}: has a {what} that must be unique and is not" for i in found.requests]
    problems += [f"{contents.warmup[i]['request_id']}: has a {what} that is not unique" for i in found.warmup]
    groups = found.report["cross_group_masters"]["colliding_groups"]
    return problems + [f"group {group}: its master prefix shares a {what} with another" for group in groups]


def status_with_collisions(status: str, reachable: bool, on_collision: str) -> str:
    """The status of a dataset with accepted collisions: at best PASS_WITH_WARNING.

    Args:
        status: by the re-taken hits. reachable: the plan could meet the target.
        on_collision: `accept_with_warning` keeps PASS_WITH_WARNING whatever the deviation.
    """
    if status == FAIL and not (reachable and on_collision == "accept_with_warning"):
        return FAIL
    return WARNING


def _matching(contents: DatasetContents) -> Matching:
    return Matching.of(contents.manifest.get("collision_detection") or {}, contents.manifest["hit_unit"])


def _requests(contents: DatasetContents) -> Iterator[Placed]:
    for place, (row, ids) in enumerate(zip(contents.metadata, contents.ids, strict=True)):
        yield Placed(place, row["prefix_group_id"], row["planned_dp_id"], row["planned_prefix_len"], ids)


def _warmup(contents: DatasetContents) -> Iterator[Placed]:
    for place, row in enumerate(contents.warmup):
        ids = np.array(row["prompt_token_ids"], dtype=np.int32)
        yield Placed(place, row["prefix_group_id"], row["planned_dp_id"], row["planned_prefix_len"], ids, True)
