"""Stage hash_blocks: block keys of one shard's real token ids, read back from its file.

Shard by shard and in any process, so that the registry of collisions and the certificate's simulator need only put
together what lies in files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from prefixcache.artifact import Artifact
from prefixcache.cache.certificate import KeyedPrompts
from prefixcache.cache.key_files import KeyFiles, by_depth, write_array
from prefixcache.cache.matching.scattered import Pieces
from prefixcache.cache.matching.semantics import Matching
from prefixcache.content.collisions.part_keys import CollisionRules, PartKeys, Prompts, Stored, shard_keys
from prefixcache.content.collisions.registry import WARMUP
from prefixcache.dataset.shards import flat_token_ids
from prefixcache.stages.job import Job
from prefixcache.stages.marking import matching_of
from prefixcache.stages.probe_tokenizer import read_frame
from prefixcache.stages.stage import Stage
from prefixcache.stages.workspace import WORK
from prefixcache.tables import read_parquet

FOLDER = f"{WORK}/keys"
BLOCKS, LENGTHS = "blocks.npy", "lengths.npy"
PIECES = ("piece_keys.npy", "piece_prompts.npy", "piece_tokens.npy")
Tokens = NDArray[np.int64]


def hash_blocks(root: Path, job: Job, frame: Artifact, shard: Artifact) -> Artifact:
    """keys/<shard>.*: what must be unique, later windows, masters, and the keys that the simulator looks up."""
    path = shard.path(root)
    stem = root / FOLDER / path.stem
    prompts = read_prompts(path)
    rules = collision_rules(job, read_frame(frame.path(root)).head)
    found, stored = shard_keys(rules, prompts)
    files = [*found.save(stem), *_save_keys(stem, rules.matching, prompts, stored)]
    names = [file.relative_to(root).as_posix() for file in files]
    return Artifact.of("keys", root, names, len(prompts.ends), len(prompts.ids))


def collision_rules(job: Job, head: int) -> CollisionRules:
    config = job.config
    windows = config.suffix.collision_detection.window_blocks
    return CollisionRules(matching_of(config), config.block_size, head, windows)


def read_prompts(path: Path) -> Prompts:
    """The prompts of a shard as arrays."""
    warmup = path.stem == "warmup"
    columns = ["prefix_group_id", "planned_dp_id", "planned_prefix_len", *(() if warmup else ("order_index",))]
    table = read_parquet(path, columns=columns)
    ids, ends = flat_token_ids(pq.read_table(path, columns=["prompt_token_ids"]))
    rows = np.arange(len(table), dtype=np.int64) + WARMUP if warmup else table["order_index"].to_numpy()
    return Prompts(
        ids,
        ends,
        rows.astype(np.int64),
        table["prefix_group_id"].to_list(),
        table["planned_dp_id"].to_numpy().astype(np.int64),
        table["planned_prefix_len"].to_numpy().astype(np.int64),
    )


def _save_keys(stem: Path, matching: Matching, prompts: Prompts, stored: Stored) -> list[Path]:
    arrays: dict[str, NDArray[np.int64] | NDArray[np.uint64]] = {LENGTHS: prompts.lengths}
    if matching.chained:
        arrays[BLOCKS] = by_depth(stored.keys, stored.sizes)
    else:
        places = np.where(prompts.owners < 0, prompts.owners - WARMUP, prompts.owners)
        found = Pieces.of(stored.keys, stored.sizes, stored.ends, prompts.lengths, places)
        arrays |= dict(zip(PIECES, (found.keys, found.prompts, found.tokens), strict=True))
    paths = [stem.with_name(f"{stem.name}.{name}") for name in arrays]
    for path, array in zip(paths, arrays.values(), strict=True):
        write_array(path, array)
    return paths


def stem_of(root: Path, keys: Artifact) -> Path:
    """What all files of one shard's keys begin with."""
    path = keys.path(root, LENGTHS)
    return path.with_name(path.name.removesuffix(f".{LENGTHS}"))


def is_warmup(root: Path, keys: Artifact) -> bool:
    return stem_of(root, keys).name == "warmup"


def open_part(root: Path, keys: Artifact) -> PartKeys:
    """What a shard contributes to the search for collisions, mapped."""
    return PartKeys.open(stem_of(root, keys))


def open_prompts(root: Path, keys: Sequence[Artifact], matching: Matching) -> KeyedPrompts:
    """Keys of these shards' prompts in send order, on disk until they are looked at."""
    stems = [stem_of(root, each) for each in keys]
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.load(_file(stem, LENGTHS)) for stem in stems)])
    if matching.chained:
        return KeyedPrompts(lengths, KeyFiles([_file(stem, BLOCKS) for stem in stems], lengths // matching.unit))
    parts = [Pieces(*(np.load(_file(stem, name), mmap_mode="r") for name in PIECES)) for stem in stems]
    return KeyedPrompts(lengths, None, parts)


def _file(stem: Path, name: str) -> Path:
    return stem.with_name(f"{stem.name}.{name}")


HASH_BLOCKS = Stage("hash_blocks", 1, hash_blocks)
