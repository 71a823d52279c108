"""Stage build_shards: prompts of one shard as Parquet, the dataset's canonical form.

A shard is a pure function of its plan slice, the corpus, the masters and the seeds: any worker, any order, same bytes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prefixcache.artifact import Artifact
from prefixcache.content.assembly import Assembler, Prompt, Rows
from prefixcache.content.corpus import Corpus
from prefixcache.content.divergence import Alphabet
from prefixcache.content.keys import ContentKeys
from prefixcache.content.masters import Masters
from prefixcache.dataset.shards import request_table, warmup_table, write_table
from prefixcache.files import read_json
from prefixcache.stages.job import Job
from prefixcache.stages.stage import Stage
from prefixcache.stages.tokenize_sources import read_seams

SHARD_TOKENS = 2_000_000  # bounds a worker's memory: about 100 MB of ids, text and Parquet buffers
WARMUP = "warmup"


def shard_parts(root: Path, plan: Artifact) -> list[str]:
    """Names of a plan's shards, in send order; the warmup prompts are a shard of their own."""
    lengths = pl.read_parquet(plan.path(root, "plan.parquet"), columns=["input_len"])["input_len"]
    parts = [f"{number:05d}" for number in np.unique(_shard_numbers(lengths)).tolist()]
    warmup = pl.read_parquet(plan.path(root, "plan_warmup.parquet"), columns=["lane"])
    return [*parts, WARMUP] if len(warmup) else parts


def build_shard(root: Path, job: Job, part: str, plan: Artifact, corpus: Artifact, masters: Artifact) -> Artifact:
    """shards/requests-<part>.parquet or shards/warmup.parquet."""
    config = job.config
    assembler = _assembler(root, job, corpus, masters)
    if part == WARMUP:
        frame = pl.read_parquet(plan.path(root, "plan_warmup.parquet"))
        path, table = f"shards/{WARMUP}.parquet", warmup_table(config, frame, _prompts(assembler, frame))
    else:
        whole = pl.read_parquet(plan.path(root, "plan.parquet"))
        frame = whole.filter(pl.Series(_shard_numbers(whole["input_len"]) == int(part)))
        path, table = (
            f"shards/requests-{part}.parquet",
            request_table(config, frame, _prompts(assembler, frame), len(whole)),
        )
    write_table(root / path, table)
    return Artifact.of("shard", root, [path], len(frame))


def _shard_numbers(lengths: pl.Series) -> NDArray[np.int64]:
    before: NDArray[np.int64] = np.cumsum(lengths.to_numpy()) - lengths.to_numpy()
    return before // SHARD_TOKENS


def _prompts(assembler: Assembler, frame: pl.DataFrame) -> list[Prompt]:
    names = ("index", "group", "input_len", "planned_prefix_len", "branch", "siblings")
    return list(assembler.prompts(Rows(*(frame[name].to_numpy().astype(np.int64) for name in names))))


_OPENED: dict[tuple[str, ...], Assembler] = {}


def _assembler(root: Path, job: Job, corpus: Artifact, masters: Artifact) -> Assembler:
    """The parts all shards share, opened once per process."""
    key = (str(root), job.fingerprint(content_only=True), corpus.content_hash, masters.content_hash)
    if key not in _OPENED:
        _OPENED.clear()  # one dataset at a time
        folder = corpus.path(root, "ids.npy").parent
        facts = read_json(folder / "corpus.json")
        keys = ContentKeys.of(job.config)
        alphabet = Alphabet.of(read_seams(folder / "seams.parquet", facts), len(keys.groups), keys.dataset)
        opened = Masters.open(masters.path(root, "master_ids.npy").parent)
        _OPENED[key] = Assembler(Corpus.open(folder), opened, alphabet, keys, facts["head"], job.config.block_size)
    return _OPENED[key]


BUILD_SHARDS = Stage("build_shards", 1, build_shard)
