"""Stage build_masters: one master prefix per group, cuttable at every planned prefix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from prefixcache.artifact import Artifact
from prefixcache.content.corpus import Corpus
from prefixcache.content.divergence import Alphabet
from prefixcache.content.keys import ContentKeys
from prefixcache.content.masters import Masters, build_master
from prefixcache.content.mixing import combine
from prefixcache.files import read_json
from prefixcache.stages.job import Job
from prefixcache.stages.stage import Stage
from prefixcache.stages.tokenize_sources import read_seams

FOLDER = ".work/masters"


def build_masters(root: Path, job: Job, plan: Artifact, corpus: Artifact) -> Artifact:
    """masters/: ids, cuts and text of all groups' masters."""
    facts = read_json(corpus.path(root, "corpus.json"))
    seams = read_seams(corpus.path(root, "seams.parquet"), facts)
    source = Corpus.open(corpus.path(root, "ids.npy").parent)
    keys = ContentKeys.of(job.config)
    alphabet = Alphabet.of(seams, len(keys.groups), keys.dataset)
    table = pl.read_parquet(plan.path(root, "plan.parquet"), columns=["group", "planned_prefix_len"])
    masters = []
    for group, word in enumerate(alphabet.masters.tolist()):
        own = table.filter(pl.col("group") == group)["planned_prefix_len"].unique().sort().to_numpy()
        cuts = own[own > 0].astype(np.int64)
        masters.append(
            build_master(source, seams, facts["head"], word, cuts, np.uint64(combine(keys.groups[group], -3)))
        )
    Masters(masters).save(root / FOLDER)
    return Artifact.of("masters", root, [f"{FOLDER}/{name}" for name in Masters.FILES], len(masters))


BUILD_MASTERS = Stage("build_masters", 1, build_masters)
