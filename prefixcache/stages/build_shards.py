"""Stage build_shards: prompts of one shard as Parquet, the dataset's canonical form.

A shard is a pure function of its plan slice, the corpus, the masters and the seeds: any worker, any order, same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prefixcache.artifact import Artifact
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.content.assembly import Assembler, Prompt
from prefixcache.content.collisions.repair import Repairs
from prefixcache.content.divergence import Alphabet
from prefixcache.content.framing import Framing
from prefixcache.content.joints import JointAudit
from prefixcache.content.keys import ContentKeys
from prefixcache.content.library import Library
from prefixcache.content.masters import Masters
from prefixcache.content.repair import verified_prompts
from prefixcache.dataset.shards import request_table, warmup_table, write_table
from prefixcache.files import read_json, write_json
from prefixcache.stages.build_masters import rows_of
from prefixcache.stages.construction import BY_REPAIR
from prefixcache.stages.job import Job
from prefixcache.stages.marking import owners_of, with_markers
from prefixcache.stages.probe_tokenizer import cached_tokenizer
from prefixcache.stages.stage import Stage
from prefixcache.stages.tokenize_sources import read_seams
from prefixcache.stages.workspace import WORK
from prefixcache.tables import read_parquet, read_rows_between

SHARD_TOKENS = 2_000_000  # bounds a worker's memory: about 100 MB of ids, text and Parquet buffers
WARMUP = "warmup"
JOINTS = f"{WORK}/joints"


def shard_parts(root: Path, plan: Artifact) -> list[str]:
    """Names of a plan's shards, in send order; the warmup prompts are a shard of their own."""
    lengths = read_parquet(plan.path(root, "plan.parquet"), columns=["input_len"])["input_len"]
    parts = [f"{number:05d}" for number in np.unique(shard_numbers(lengths)).tolist()]
    warmup = read_parquet(plan.path(root, "plan_warmup.parquet"), columns=["lane"])
    return [*parts, WARMUP] if len(warmup) else parts


def shard_files(root: Path, config: PrefixCacheDatasetConfig, plan: Artifact) -> list[str]:
    """Names of the files that a plan's shards are written to."""
    return [_file_of(config, part) for part in shard_parts(root, plan)]


def _file_of(config: PrefixCacheDatasetConfig, part: str) -> str:
    """Shards that are no part of the dataset are working files."""
    folder = "shards" if "parquet" in config.output.formats else f"{WORK}/shards"
    return f"{folder}/{WARMUP}.parquet" if part == WARMUP else f"{folder}/requests-{part}.parquet"


def build_shard(
    root: Path,
    job: Job,
    part: str,
    plan: Artifact,
    corpus: Artifact,
    masters: Artifact,
    repairs: Sequence[Sequence[int]] = (),
    hits: Artifact | None = None,
) -> Artifact:
    """shards/requests-<part>.parquet or shards/warmup.parquet.

    Args:
        repairs: (generated index, retries, unresolved) of prompts of this part that collided.
        hits: certificate whose simulated hits take the place of the planned ones.
    """
    config = job.config
    mended = Repairs.of(repairs, config.suffix.collision_detection.max_retries)
    assembler, backend = _assembler(root, job, plan, corpus, masters)
    opened = replace(assembler, repairs=mended), backend
    if part == WARMUP:
        frame = read_parquet(plan.path(root, "plan_warmup.parquet"))
        prompts = _prompts(opened, frame)
        table = warmup_table(config, frame, prompts)
    else:
        first, last, total = _bounds(root, plan, int(part))
        frame = read_rows_between(plan.path(root, "plan.parquet"), first, last)
        if hits is not None:
            taken = read_rows_between(hits.path(root, ".parquet"), first, last)
            frame = frame.with_columns(taken)
        prompts = _prompts(opened, frame)
        table = request_table(config, frame, prompts, total, mended)
    path, joints = _file_of(config, part), f"{JOINTS}/{part}.json"
    tokenizer = corpus.path(root, "tokenizer.json")
    write_json(root / joints, _joints(tokenizer, corpus.content_hash, table["request_id"].to_pylist(), prompts))
    write_table(root / path, table)  # last, so that little lies between a whole shard and the note of it
    return Artifact.of("shard", root, [path, joints], len(frame), int(frame["input_len"].sum()))


def _joints(tokenizer: Path, content: str, names: list[str], prompts: list[Prompt]) -> dict[str, Any]:
    """Every joint of these prompts encoded again; nothing where prompts are proven one by one, or have no text."""
    audit = JointAudit()
    for number, prompt in enumerate(prompts):
        audit.add(number, prompt.joints)
    if audit.distinct:
        audit.encode(_backend(str(tokenizer), content))
    differing = [names[number] for number in sorted(set(audit.differing))]
    return {"seen": audit.seen, "distinct": audit.distinct, "differing": differing}


@lru_cache(maxsize=1)
def _backend(path: str, content: str) -> Any:
    """The tokenizer in a file; ``content``: its hash, since the next dataset's may lie in the same place."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(path)


_BOUNDS: dict[tuple[str, str, int], NDArray[np.int64]] = {}


def _bounds(root: Path, plan: Artifact, part: int) -> tuple[int, int, int]:
    """First row of a shard, the row behind its last, and rows of the whole plan; found once per process."""
    key = (str(root), plan.content_hash, SHARD_TOKENS)
    if key not in _BOUNDS:
        _BOUNDS.clear()
        _BOUNDS[key] = shard_numbers(read_parquet(plan.path(root, "plan.parquet"), columns=["input_len"])["input_len"])
    numbers = _BOUNDS[key]
    first, last = np.searchsorted(numbers, (part, part + 1)).tolist()
    return first, last, len(numbers)


def shard_numbers(lengths: pl.Series) -> NDArray[np.int64]:
    """Number of each request's shard. ``lengths``: input tokens in send order."""
    before: NDArray[np.int64] = np.cumsum(lengths.to_numpy()) - lengths.to_numpy()
    return before // SHARD_TOKENS


def _prompts(opened: Opened, frame: pl.DataFrame) -> list[Prompt]:
    assembler, backend = opened
    rows = rows_of(frame)
    return list(assembler.prompts(rows) if backend is None else verified_prompts(assembler, rows, backend))


# Assembler, and the tokenizer's backend where prompts have to be verified one by one.
Opened = tuple[Assembler, Any]
_OPENED: dict[tuple[str, ...], Opened] = {}


def _assembler(root: Path, job: Job, plan: Artifact, corpus: Artifact, masters: Artifact) -> Opened:
    """The parts all shards share, opened once per process."""
    parents = (plan.content_hash, corpus.content_hash, masters.content_hash)
    key = (str(root), job.fingerprint(content_only=True), *parents)
    if key not in _OPENED:
        _OPENED.clear()  # one dataset at a time
        folder = corpus.path(root, "corpus.json").parent
        facts = read_json(folder / "corpus.json")
        keys = ContentKeys.of(job.config)
        alphabet = Alphabet.of(read_seams(folder, facts), len(keys.groups), keys.dataset)
        opened = Masters.open(masters.path(root, "master_ids.npy").parent)
        framing = Framing.from_json(facts["framing"])
        backend = cached_tokenizer(job.config.tokenizer).backend if facts["construction"] == BY_REPAIR else None
        library = Library.open(folder, facts)
        parts = Assembler(library, opened, alphabet, keys, framing, job.config.block_size)
        _OPENED[key] = with_markers(parts, job.config, owners_of(root, job.config, plan)), backend
    return _OPENED[key]


BUILD_SHARDS = Stage("build_shards", 4, build_shard)
