"""Which samples a text is made of: the order of a corpus, and where in it a request's text begins (RFC 3.3.13).

| selection | order of the samples | where a text begins |
|---|---|---|
| `random` | shuffled by the global seed | any sample that has enough text behind it |
| `index` | the source's | request i: sample `start_index` + i, going round |
| `content_hash` | by SHA-256 of their text | the first sample at or behind the request's own hash, going round |
| `fixed` | the listed ones, then the others shuffled | the listed ones, then any other sample |
| `fixed_cycle` | the listed ones, over and over | the first listed one |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.config.content import SourceConfig
from prefixcache.content.corpus import Corpus
from prefixcache.content.mixing import combine, pick
from prefixcache.content.sources import Source, sample_hash
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.workload.randomness import digest, permutation

Array = NDArray[np.int64]
RING_BITS = np.uint64(63)


def sample_order(config: SourceConfig, source: Source, seed: int, where: str) -> list[int]:
    """Positions of the source's samples in the corpus's order.

    Raises:
        InputError: a listed sample that the source does not have.
    """
    count = len(source.samples)
    if config.selection == "index":
        return list(range(count))
    if config.selection == "content_hash":
        return sorted(range(count), key=lambda i: (sample_hash(source.samples[i]), i))
    shuffled = permutation(digest(seed, "corpus"), count).tolist()
    if config.samples is None:
        return [int(i) for i in shuffled]
    place = {number: i for i, number in enumerate(source.ids)}
    unknown = [number for number in config.samples if number not in place]
    if unknown:
        raise InputError(
            f"sample {unknown[0]} is not in the source (or is empty there): its numbers go from 0 to "
            f"{max(source.ids, default=0)}",
            field=f"{where}.samples",
            remedy="list samples that are there.",
            stage="tokenize_sources",
        )
    listed = [place[number] for number in config.samples]
    if config.selection == "fixed_cycle":
        return listed
    chosen = set(listed)
    return listed + [int(i) for i in shuffled if i not in chosen]


@dataclass(frozen=True)
class Picker:
    """Chooses where in a corpus the texts of requests (or masters) begin.

    ``listed``: how many of the corpus's first samples stand at the beginning of every text. ``ring``: SHA-256 of the
    samples' texts, first 63 bits, ascending; empty unless the selection is by content hash.
    """

    corpus: Corpus
    selection: str
    start_index: int
    listed: int
    ring: Array
    where: str

    @property
    def round(self) -> int:
        """Samples until they repeat."""
        return int(np.searchsorted(self.corpus.starts, self.corpus.distinct, side="left"))

    @property
    def listed_tokens(self) -> int:
        starts = self.corpus.starts
        return int(starts[self.listed]) if self.listed < len(starts) else len(self.corpus)

    def begin(self, wanted: Array, numbers: Array, keys: NDArray[np.uint64]) -> Array:
        """First corpus token of each text.

        Args:
            wanted: tokens each text needs. numbers: of the requests. keys: one hash per request.

        Raises:
            EnvironmentFailure: the source is smaller than a text.
        """
        need = int(wanted.max(initial=0))
        starts = self.corpus.starts
        if self.selection in ("random", "fixed"):
            low = self.listed if self.selection == "fixed" else 0
            fits = np.searchsorted(starts, len(self.corpus) - wanted, side="right") - low
            if len(fits) and int(fits.min()) <= 0:
                raise too_small(self.corpus, need, self.where)
            return np.asarray(starts[low + pick(keys, fits)])
        if need > min(self.corpus.most, len(self.corpus) - int(starts[self.round - 1])):
            raise too_small(self.corpus, need, self.where)
        if self.selection == "index":
            return np.asarray(starts[(self.start_index + numbers) % self.round])
        if self.selection == "content_hash":
            return np.asarray(starts[np.searchsorted(self.ring, (keys >> np.uint64(1)).astype(np.int64)) % self.round])
        return np.zeros(len(wanted), dtype=np.int64)

    def master_begin(self, group: int, key: np.uint64) -> int:
        """First corpus token of a group's master prefix."""
        if self.selection == "random":
            return int(self.corpus.starts[pick(combine(key, 0), len(self.corpus.starts))])
        if self.selection == "fixed":
            return 0
        return int(self.begin(np.zeros(1, np.int64), np.array([group]), np.atleast_1d(combine(key, 0)))[0])


def ring_of(hashes: Sequence[str]) -> Array:
    """Places of the samples on a ring of 63-bit numbers, in ascending order of their hashes."""
    return np.array([int(value[:16], 16) >> 1 for value in hashes], dtype=np.int64)


def too_small(corpus: Corpus, need: int, where: str = "suffix") -> EnvironmentFailure:
    """The source does not hold the text that is asked of it."""
    what = "GSM8K数据不足" if corpus.name == "gsm8k" else "not enough source text"
    return EnvironmentFailure(
        f"{what}: the source {corpus.name} has {corpus.distinct} tokens, too few for a stretch of {need} without "
        "repeating samples",
        field=f"{where}.source",
        remedy="use a larger source or shorter inputs, or write allow_repeat: true.",
    )
