"""Markers of a dataset under ``independent_block`` and ``content_defined_chunk``: how many, in which words, where."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prefixcache.artifact import Artifact
from prefixcache.cache.matching.semantics import Matching
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.content.assembly import Assembler
from prefixcache.content.collisions.marked import Layout, MarkedAssembler
from prefixcache.content.collisions.marked_masters import build_marked_master
from prefixcache.content.collisions.markers import Owners, design_markers
from prefixcache.content.collisions.passage import starts_of
from prefixcache.content.framing import Framing
from prefixcache.content.keys import ContentKeys
from prefixcache.content.library import Library
from prefixcache.content.masters import Master
from prefixcache.content.mixing import combine, pick
from prefixcache.content.repair import SAFE_ONLY, master_holds
from prefixcache.content.seams import Seams
from prefixcache.errors import VerdictError
from prefixcache.tables import read_parquet


def matching_of(config: PrefixCacheDatasetConfig) -> Matching:
    """How the server that the dataset is for recognises cached tokens."""
    return Matching.of(config.suffix.collision_detection.model_dump(), config.unit)


def owners_of(root: Path, config: PrefixCacheDatasetConfig, plan: Artifact) -> Owners:
    """Counted from the plan, so that any worker numbers markers alike."""
    requests = read_parquet(plan.path(root, "plan.parquet"), columns=["input_len"])["input_len"]
    warmup = read_parquet(plan.path(root, "plan_warmup.parquet"), columns=["index", "input_len"])
    return Owners(
        groups=len(config.prefix.group_ids()),
        requests=len(requests),
        lanes=-int(warmup["index"].min()) if len(warmup) else 0,  # type: ignore[arg-type]
        longest=max([int(requests.max()), *warmup["input_len"].to_list()]),  # type: ignore[arg-type]
        attempts=config.suffix.collision_detection.max_retries + 1,
    )


def layout_of(
    config: PrefixCacheDatasetConfig,
    seams: Seams,
    framing: Framing,
    keys: ContentKeys,
    library: Library,
    owners: Owners,
) -> Layout | None:
    """Where markers stand; None under ``chained_prefix``, which needs none.

    Raises:
        InputError: blocks or chunks too short for markers.
    """
    matching = matching_of(config)
    if matching.chained:
        return None
    words = seams.opening
    opening = int(pick(combine(keys.dataset, 9), words.common or len(words)))
    head = [*framing.head, int(words.ids[opening])]
    corpora = [picker.corpus.ids for picker in library.pickers]
    markers = design_markers(matching, seams, owners, head, len(framing.tail), corpora, keys.dataset)
    return Layout(matching, markers, len(framing.head), opening)


def with_markers(parts: Assembler, config: PrefixCacheDatasetConfig, owners: Owners) -> Assembler:
    """The assembler, or one that puts markers where the matching semantics need them."""
    layout = layout_of(config, parts.alphabet.seams, parts.framing, parts.keys, parts.library, owners)
    if layout is None:
        return parts
    known = {entry.name: getattr(parts, entry.name) for entry in fields(Assembler)}
    return MarkedAssembler(**known, layout=layout)


def marked_master(
    library: Library,
    seams: Seams,
    framing: Framing,
    layout: Layout,
    group: int,
    cuts: NDArray[np.int64],
    key: np.uint64,
    backend: object | None,
    retry: int = 0,
) -> Master:
    """A group's master with markers; ``backend``: encode it too, where the seam rules are no proof, and mend it.

    ``retry``: which attempt it is, after collisions with other masters; each has markers of its own.

    Raises:
        VerdictError: it does not encode to its ids whatever its text.
    """
    picker = library.picker(group, "prefix")
    for turn in range(SAFE_ONLY + 1):
        own = np.uint64(combine(key, turn)) if turn else key
        begin = picker.master_begin(group, own)
        safe = turn == SAFE_ONLY
        made = build_marked_master(
            starts_of(picker), seams, framing.head, layout, group, cuts, own, begin, safe_only=safe, retry=retry
        )
        if backend is None or master_holds(made, cuts, seams, framing, backend):
            return made
    raise VerdictError(
        "a master prefix does not encode to its tokens whatever its text",
        field="prompt.form",
        remedy="write form: ids to send token ids, or use another tokenizer.",
        stage="build_masters",
    )
