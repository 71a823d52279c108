"""All corpora of a dataset, and which of them a group's master prefix and suffixes are taken from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.content import SourceConfig
from prefixcache.content.corpus import Corpus
from prefixcache.content.encoding import Built
from prefixcache.content.selection import Picker, ring_of
from prefixcache.files import replacing

Role = Literal["prefix", "suffix"]


@dataclass(frozen=True)
class Library:
    """``pickers``: one per distinct source. ``prefix_of``, ``suffix_of``: index into them per group, in configuration
    order; a single entry stands for all groups."""

    pickers: list[Picker]
    prefix_of: list[int]
    suffix_of: list[int]

    def picker(self, group: int, role: Role) -> Picker:
        table = self.prefix_of if role == "prefix" else self.suffix_of
        return self.pickers[table[group] if len(table) > 1 else table[0]]

    @classmethod
    def open(cls, folder: Path, facts: dict[str, Any]) -> Library:
        """Map all corpora into memory."""
        pickers = [_open(folder / str(number), entry) for number, entry in enumerate(facts["corpora"])]
        return cls(pickers, facts["prefix_of"], facts["suffix_of"])


def sources_of(config: PrefixCacheDatasetConfig) -> tuple[list[tuple[str, SourceConfig]], list[int], list[int]]:
    """The distinct sources with their configuration paths, and per role which one each group uses."""
    found: dict[str, tuple[int, str, SourceConfig]] = {}
    groups = range(len(config.prefix.groups or ())) if _differ(config) else range(1)

    def number(group: int, role: Role) -> int:
        source = config.source_of(group, role)
        shape = SourceConfig.model_validate({name: getattr(source, name) for name in SourceConfig.model_fields})
        own = config.prefix.groups and config.prefix.groups[group].source is not None
        where = f"prefix.groups[{group}].source" if own else "suffix"
        if not own and role == "prefix" and config.prefix.source is not None:
            where = "prefix.source"
        return found.setdefault(shape.model_dump_json(), (len(found), where, shape))[0]

    suffix_of = [number(group, "suffix") for group in groups]
    prefix_of = [number(group, "prefix") for group in groups]
    return [(where, shape) for _, where, shape in found.values()], prefix_of, suffix_of


def _differ(config: PrefixCacheDatasetConfig) -> bool:
    return any(group.source is not None for group in config.prefix.groups or ())


FILES = (*Corpus.FILES, "ring.npy")


def save_corpus(folder: Path, built: Built, config: SourceConfig, where: str) -> dict[str, Any]:
    """Write one corpus; returns what the library needs to open it."""
    built.corpus.save(folder)
    ring = ring_of(built.hashes if config.selection == "content_hash" else [])
    with replacing(folder / "ring.npy") as file:
        np.save(file, ring)
    return {
        **built.corpus.facts(),
        "selection": config.selection,
        "start_index": config.start_index or 0,
        "listed": len(config.samples or ()),
        "where": where,
    }


def _open(folder: Path, entry: dict[str, Any]) -> Picker:
    corpus = Corpus.open(folder, entry)
    ring = np.load(folder / "ring.npy")
    return Picker(corpus, entry["selection"], entry["start_index"], entry["listed"], ring, entry["where"])
