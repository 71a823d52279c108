"""Stage build_masters: one master prefix per group, cuttable at every planned prefix."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from prefixcache.artifact import Artifact
from prefixcache.content.assembly import Assembler, Rows
from prefixcache.content.divergence import Alphabet
from prefixcache.content.framing import Framing
from prefixcache.content.keys import ContentKeys
from prefixcache.content.library import Library
from prefixcache.content.masters import Masters, build_master
from prefixcache.content.mixing import combine
from prefixcache.content.repair import verified_master
from prefixcache.content.units import valid_hit_units
from prefixcache.files import read_json, write_json
from prefixcache.stages.construction import BY_REPAIR
from prefixcache.stages.job import Job
from prefixcache.stages.marking import layout_of, marked_master, owners_of
from prefixcache.stages.probe_tokenizer import cached_tokenizer
from prefixcache.stages.stage import Stage
from prefixcache.stages.tokenize_sources import read_seams
from prefixcache.tables import read_parquet

RETRIES = 1_000_003  # keeps the keys of another attempt apart from those of single words
FOLDER = ".work/masters"
FACTS = f"{FOLDER}/masters.json"
COLUMNS = ("index", "group", "input_len", "planned_prefix_len", "branch", "siblings")


Attempts = Sequence[tuple[int, int]]
"""(group, attempt) of groups whose master was built before and shared a block with another's."""


def build_masters(root: Path, job: Job, plan: Artifact, corpus: Artifact, attempts: Attempts = ()) -> Artifact:
    """masters/: ids, cuts and text of all groups' masters; masters.json: ``valid_hit_units``.

    Raises:
        EnvironmentFailure: a source too small for a master or for a suffix.
        InputError: more requests at one node, or more groups, than can be told apart.
    """
    folder = corpus.path(root, "corpus.json").parent
    facts = read_json(folder / "corpus.json")
    seams, library = read_seams(folder, facts), Library.open(folder, facts)
    framing = Framing.from_json(facts["framing"])
    keys = ContentKeys.of(job.config)
    alphabet = Alphabet.of(seams, len(keys.groups), keys.dataset)
    backend = cached_tokenizer(job.config.tokenizer).backend if facts["construction"] == BY_REPAIR else None
    rows = _rows(root, plan)
    layout = layout_of(job.config, seams, framing, keys, library, owners_of(root, job.config, plan))
    masters, tried = [], dict(attempts)
    by_group = np.argsort(rows.group, kind="stable")
    edges = np.searchsorted(rows.group[by_group], np.arange(len(alphabet.masters) + 1))
    for group, word in enumerate(alphabet.masters.tolist()):
        own = np.unique(rows.prefix[by_group[edges[group] : edges[group + 1]]])
        cuts = own[own > len(framing.head)]
        attempt = tried.get(group, 0)
        key = np.uint64(combine(keys.groups[group], -3))
        if attempt:
            key = np.uint64(combine(key, RETRIES + attempt))
        picker = library.picker(group, "prefix")
        begin = picker.master_begin(group, key)
        if layout is not None:
            made = marked_master(library, seams, framing, layout, group, cuts, key, backend, attempt)
        elif backend is None:
            made = build_master(picker.corpus, seams, framing.head, word, cuts, key, begin, picker.where)
        else:
            made = verified_master(
                picker.corpus, seams, framing, word, cuts, key, begin, backend=backend, where=picker.where
            )
        masters.append(made)
    built = Masters(masters)
    built.save(root / FOLDER)
    unit = job.config.unit
    units = [unit]  # markers are unique in whole units only, and dropped units are counted whole
    if layout is None:
        found = valid_hit_units(unit, len(framing.head), rows, built, alphabet)
        units = units if job.config.hit_drop else found
        Assembler(library, built, alphabet, keys, framing, job.config.block_size).refuse_small_source(rows)
    write_json(root / FACTS, {"valid_hit_units": units})
    return Artifact.of("masters", root, [*(f"{FOLDER}/{name}" for name in Masters.FILES), FACTS], len(masters))


def _rows(root: Path, plan: Artifact) -> Rows:
    """Requests and warmup prompts."""
    requests = read_parquet(plan.path(root, "plan.parquet"), columns=list(COLUMNS))
    warmup = read_parquet(plan.path(root, "plan_warmup.parquet"), columns=list(COLUMNS))
    return rows_of(pl.concat([requests.select(COLUMNS), warmup.select(COLUMNS)]))


def rows_of(table: pl.DataFrame) -> Rows:
    """What the content of a prompt depends on, out of a plan's table."""
    columns: list[Any] = [table[name].to_numpy().astype(np.int64) for name in COLUMNS]
    return Rows(*columns)


BUILD_MASTERS = Stage("build_masters", 3, build_masters)
