"""Stage tokenize_sources: the sources encoded once, and what the tokenizer keeps apart."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from prefixcache.artifact import Artifact
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.content import SourceConfig
from prefixcache.content.encoding import Built, build_corpus
from prefixcache.content.framing import Framing, probe_framing
from prefixcache.content.library import FILES, save_corpus, sources_of
from prefixcache.content.openings import probe_openings
from prefixcache.content.probe import pieces_that_drift, seams_that_drift
from prefixcache.content.seams import Seams, Words, ids_only_seams, probe_seams
from prefixcache.content.sources import load_source
from prefixcache.content.tokenizer import Tokenizer
from prefixcache.errors import InputError
from prefixcache.files import replacing, write_bytes, write_json
from prefixcache.stages.construction import BY_IDS, BY_REPAIR, BY_SEAMS, check_kept
from prefixcache.stages.job import Job
from prefixcache.stages.probe_tokenizer import cached_tokenizer
from prefixcache.stages.stage import Stage
from prefixcache.tables import read_parquet

FOLDER = ".work/corpus"
SEAMS, OPENINGS = f"{FOLDER}/seams.parquet", f"{FOLDER}/openings.parquet"
FACTS, TOKENIZER = f"{FOLDER}/corpus.json", f"{FOLDER}/tokenizer.json"
FEWEST_SYNTHETIC = 4_000  # samples, about half a million tokens
SAMPLE_TOKENS = 64  # a synthetic sample has at least about this many


def tokenize_sources(root: Path, job: Job, lengths: Artifact) -> Artifact:
    """corpus/: per source ids, byte ends, starts, legal ends, text; seams, openings, corpus.json, tokenizer.json.

    Raises:
        InputError: a tokenizer the construction does not hold for, a source that is not what it should be.
        EnvironmentFailure: a source or a hub that cannot be reached.
    """
    config = job.config
    longest = int(read_parquet(lengths.path(root))["input_len"].max())  # type: ignore[arg-type]
    tokenizer = cached_tokenizer(config.tokenizer)
    framing = probe_framing(tokenizer, config.prompt)
    seams = _seams(tokenizer, framing, config)
    check_kept(config, BY_IDS if seams.ids_only else BY_SEAMS)  # before anything is encoded
    sources, prefix_of, suffix_of = sources_of(config)
    corpora, described, drifting = [], [], 0
    for number, (where, source) in enumerate(sources):
        built = _built(tokenizer, seams, source, config.seed, longest, where)
        corpora.append(save_corpus(root / FOLDER / str(number), built, source, where))
        described.append(_described(built, source, where))
        drifting += _drifting(tokenizer, seams, built, source)
    _save_words(root / SEAMS, Words(seams.safe_ids, seams.safe_words, seams.common))
    _save_words(root / OPENINGS, seams.opening)
    write_bytes(root / TOKENIZER, tokenizer.backend.to_str().encode())
    own = described[suffix_of[0]]
    facts = {
        "source": own["source"],
        "samples": own["samples"],
        "tokens": own["tokens"],
        "tokenizer": tokenizer.name,
        "tokenizer_sha256": tokenizer.sha256,
        "embedded": tokenizer.embedded,
        "framing": framing.to_json(),
        "construction": BY_IDS if seams.ids_only else BY_REPAIR if drifting else BY_SEAMS,
        "safe_words": len(seams.safe_ids),
        "common": seams.common,
        "openings": None if seams.openings is None else {"common": seams.openings.common},
        "fillers": seams.fillers,
        "sources": described,
        "corpora": corpora,
        "prefix_of": prefix_of,
        "suffix_of": suffix_of,
    }
    write_json(root / FACTS, facts)
    files = [f"{FOLDER}/{number}/{name}" for number in range(len(sources)) for name in FILES]
    return Artifact.of("corpus", root, [*files, SEAMS, OPENINGS, FACTS, TOKENIZER], sum(d["tokens"] for d in described))


def _seams(tokenizer: Tokenizer, framing: Framing, config: PrefixCacheDatasetConfig) -> Seams:
    """SAFE and opening words; all ordinary ids where only ids can or shall be sent."""
    form = config.prompt.form
    if form == "ids":
        return ids_only_seams(tokenizer)
    try:
        seams = probe_seams(tokenizer)
        openings = probe_openings(tokenizer, seams, framing)
    except InputError:
        if form == "text" or framing.format == "chat" or config.prompt.system is not None:
            raise
        return ids_only_seams(tokenizer)
    return Seams(seams.safe_ids, seams.safe_words, seams.common, seams.fillers, openings)


def _built(tokenizer: Tokenizer, seams: Seams, source: SourceConfig, seed: int, longest: int, where: str) -> Built:
    count = max(FEWEST_SYNTHETIC, 4 * longest // SAMPLE_TOKENS)
    if source.start_index is not None or source.samples is not None:
        count = max(count, 1 + max(source.start_index or 0, *(source.samples or [0])))
    loaded = load_source(source, count=count, seed=seed, where=where)
    return build_corpus(loaded, tokenizer, seams, seed, source, needed=longest, where=where)


def _described(built: Built, source: SourceConfig, where: str) -> dict[str, Any]:
    """What the manifest says of a source: numbers and hashes of samples, never their text."""
    listing = dict(zip(built.corpus.samples.tolist(), built.hashes, strict=False))
    return {
        "field": where,
        "source": built.corpus.name,
        "selection": source.selection,
        "separator": built.separator,
        "allow_repeat": source.allow_repeat,
        "samples": len(built.hashes),
        "tokens": built.corpus.distinct,
        "dropped_samples": built.dropped,
        "samples_sha256": hashlib.sha256("\n".join(built.hashes).encode()).hexdigest() if built.hashes else None,
        "listed_samples": [{"sample_id": number, "sha256": listing[number]} for number in source.samples or ()],
    }


def _drifting(tokenizer: Tokenizer, seams: Seams, built: Built, source: SourceConfig) -> int:
    if seams.ids_only or built.corpus.name == "random_tokens":
        return 0
    found = pieces_that_drift(tokenizer, seams, built.corpus)
    if source.source == "text":  # nobody knows what is in it
        found += seams_that_drift(tokenizer, seams, built.corpus)
    return found


def _save_words(path: Path, words: Words) -> None:
    frame = pl.DataFrame({"id": words.ids, "word": [word.decode() for word in words.texts]})
    with replacing(path) as file:
        frame.write_parquet(file)


def _read_words(path: Path, common: int) -> Words:
    frame = read_parquet(path)
    return Words(
        frame["id"].to_numpy().astype(np.int32), tuple(word.encode() for word in frame["word"].to_list()), common
    )


def read_seams(folder: Path, facts: dict[str, Any]) -> Seams:
    """The seams a corpus was made with, without loading the tokenizer."""
    safe = _read_words(folder / "seams.parquet", facts["common"])
    own = facts["openings"]
    openings = None if own is None else _read_words(folder / "openings.parquet", own["common"])
    fillers = np.array(facts["fillers"], dtype=np.int64)
    ids_only = facts["construction"] == BY_IDS
    return Seams(safe.ids, safe.texts, safe.common, fillers, openings, ids_only)


TOKENIZE_SOURCES = Stage("tokenize_sources", 2, tokenize_sources)
