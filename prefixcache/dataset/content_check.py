"""What the token ids of a written dataset do in a cache: hits and collisions under its own matching semantics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.certificate import KeyedPrompts, simulate_pass
from prefixcache.cache.matching.semantics import Matching
from prefixcache.content.collisions.detection import CollisionDetector, CollisionRules, Found, Placed
from prefixcache.content.collisions.repair import UNRESOLVED
from prefixcache.dataset.contents import DatasetContents
from prefixcache.workload.verdict import FAIL, WARNING

Tokens = NDArray[np.int64]


def hits_are_simulated(contents: DatasetContents) -> bool:
    """Collisions were accepted, so that the dataset's hits are those of the simulator, not of the plan."""
    return bool((contents.manifest.get("collision_result") or {}).get("hits_from") == "simulator")


def simulated_hits(contents: DatasetContents) -> dict[str, Tokens]:
    """Hit tokens per request and pass of the real token ids."""
    manifest, matching = contents.manifest, _matching(contents)
    domains = [row["planned_dp_id"] for row in contents.metadata]
    requests = KeyedPrompts.of(zip(contents.ids, domains, strict=True), matching.unit, matching)
    warm = [(np.array(row["prompt_token_ids"], dtype=np.int32), row["planned_dp_id"]) for row in contents.warmup]
    warmup = KeyedPrompts.of(warm, matching.unit, matching)
    drop = manifest.get("hit_drop", 0)
    names = [row["name"] for row in manifest["passes"]]
    return {name: simulate_pass(name, requests, warmup, matching.unit, drop) for name in names}


def find_collisions(contents: DatasetContents) -> Found:
    """As the stage check_collisions does, from the published files."""
    manifest = contents.manifest
    rules = manifest.get("collision_detection") or {}
    head = len(manifest["tokenizer"].get("head") or [])
    asked = CollisionRules(_matching(contents), manifest["block_size"], head, rules.get("window_blocks", 2))
    with CollisionDetector(asked) as detector:
        detector.add("requests", _requests(contents))
        detector.add("warmup", _warmup(contents))
        return detector.result()


def collision_problems(contents: DatasetContents) -> list[str]:
    """Collisions that the dataset does not own up to, and those it claims that are not there."""
    found = find_collisions(contents)
    names = [row["request_id"] for row in contents.metadata]
    what = "chunk" if _matching(contents).chunker is not None else "block"
    if hits_are_simulated(contents):
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
