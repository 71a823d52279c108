"""Stage tokenize_sources: the source encoded once, and what the tokenizer keeps apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from prefixcache.artifact import Artifact
from prefixcache.content.corpus import Corpus, build_corpus
from prefixcache.content.seams import Seams, probe_seams
from prefixcache.content.sources import load_source
from prefixcache.files import replacing, write_bytes, write_json
from prefixcache.stages.job import Job
from prefixcache.stages.probe_tokenizer import cached_tokenizer
from prefixcache.stages.stage import Stage

FOLDER = ".work/corpus"
SEAMS, FACTS, TOKENIZER = f"{FOLDER}/seams.parquet", f"{FOLDER}/corpus.json", f"{FOLDER}/tokenizer.json"
FEWEST_SYNTHETIC = 4_000  # samples, about half a million tokens
SAMPLE_TOKENS = 64  # a synthetic sample has at least about this many


def tokenize_sources(root: Path, job: Job, lengths: Artifact) -> Artifact:
    """corpus/: ids, byte ends, starts, legal ends, text; seams.parquet; corpus.json; tokenizer.json.

    Raises:
        InputError: a tokenizer the construction does not hold for.
        EnvironmentFailure: a source or a hub that cannot be reached.
    """
    config = job.config
    longest = int(pl.read_parquet(lengths.path(root))["input_len"].max())  # type: ignore[arg-type]
    source = load_source(config.suffix, count=max(FEWEST_SYNTHETIC, 4 * longest // SAMPLE_TOKENS), seed=config.seed)
    tokenizer = cached_tokenizer(config.tokenizer)
    seams = probe_seams(tokenizer)
    corpus = build_corpus(source.samples, tokenizer, seams, config.seed)
    corpus.save(root / FOLDER)
    _save_seams(root / SEAMS, seams)
    write_bytes(root / TOKENIZER, tokenizer.backend.to_str().encode())
    facts = {
        "source": source.name,
        "samples": len(corpus.starts),
        "tokens": len(corpus),
        "tokenizer": tokenizer.name,
        "tokenizer_sha256": tokenizer.sha256,
        "embedded": tokenizer.embedded,
        "head": tokenizer.head,
        "safe_words": len(seams.safe_ids),
        "common": seams.common,
        "fillers": seams.fillers,
        "separator_ids": seams.separator_ids,
    }
    write_json(root / FACTS, facts)
    files = [*(f"{FOLDER}/{name}" for name in Corpus.FILES), SEAMS, FACTS, TOKENIZER]
    return Artifact.of("corpus", root, files, len(corpus))


def _save_seams(path: Path, seams: Seams) -> None:
    frame = pl.DataFrame({"id": seams.safe_ids, "word": [word.decode() for word in seams.safe_words]})
    with replacing(path) as file:
        frame.write_parquet(file)


def read_seams(path: Path, facts: dict[str, object]) -> Seams:
    """The seams a corpus was made with, without loading the tokenizer."""
    frame = pl.read_parquet(path)
    separator = facts["separator_ids"]
    return Seams(
        safe_ids=frame["id"].to_numpy().astype(np.int32),
        safe_words=tuple(word.encode() for word in frame["word"].to_list()),
        common=int(facts["common"]),  # type: ignore[call-overload]
        fillers=np.array(facts["fillers"], dtype=np.int64),
        separator_ids=None if separator is None else np.array(separator, dtype=np.int32),
    )


TOKENIZE_SOURCES = Stage("tokenize_sources", 1, tokenize_sources)
