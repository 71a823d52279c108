"""Markers: short sequences of SAFE words, each used once in a dataset, that make blocks and chunks unique.

Marker number n is n written with the marker alphabet's words as digits, each digit shifted by a keyed hash of those
before it: a bijection of numbers and word sequences, so markers differ by construction and do not read like a counter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.matching.semantics import Matching
from prefixcache.content.mixing import combine, pick
from prefixcache.content.seams import Seams
from prefixcache.errors import InputError

Array = NDArray[np.int64]
FEWEST_WORDS = 2


@dataclass(frozen=True)
class Owners:
    """Who needs markers, so that any worker numbers them alike.

    ``groups``: masters; ``requests``; ``lanes``: warmup prompts; ``longest``: tokens of the longest prompt;
    ``attempts``: the first try and all retries.
    """

    groups: int
    requests: int
    lanes: int
    longest: int
    attempts: int

    @property
    def count(self) -> int:
        return self.groups + self.requests + self.lanes

    def of_group(self, group: int, retry: int = 0) -> int:
        return group + retry * self.count

    def of_prompt(self, index: int, retry: int) -> int:
        """``index``: generated index, or -1 - lane of a warmup prompt."""
        own = self.groups + index if index >= 0 else self.groups + self.requests - 1 - index
        return own + retry * self.count


@dataclass(frozen=True)
class Markers:
    """How marker numbers become words.

    ``words``: the alphabet, positions in ``Seams.safe_ids``. ``size``: words per number. ``opening``: a word that
    stands nowhere else and opens each marker where its place does not tell it (chunks). ``per_owner``: numbers that
    each owner has. ``spacing``: tokens from one marker's start to the next.
    """

    words: Array
    size: int
    opening: int | None
    per_owner: int
    spacing: int
    owners: Owners
    key: np.uint64

    @property
    def length(self) -> int:
        """Tokens of one marker."""
        return self.size + (self.opening is not None)

    def of(self, owner: int, count: int) -> Array:
        """The first ``count`` markers of an owner as word positions, int64 (count, length)."""
        rest = owner * self.per_owner + np.arange(count, dtype=np.int64)
        base = len(self.words)
        code = np.empty((count, self.size), dtype=np.int64)
        key = np.broadcast_to(self.key, count)
        for place in range(self.size):
            rest, digit = np.divmod(rest, base)
            code[:, place] = (digit + pick(combine(key, 7), base)) % base
            key = combine(key, code[:, place])
        words = self.words[code]
        if self.opening is None:
            return words
        return np.concatenate([np.full((count, 1), self.opening), words], axis=1)


def design_markers(
    matching: Matching,
    seams: Seams,
    owners: Owners,
    head: list[int],
    tail: int,
    sources: list[NDArray[np.int32]],
    key: np.uint64,
) -> Markers:
    """The shortest markers that are enough for a dataset, of everyday words where there are some.

    Args:
        head: ids before every text and the word that opens it; they are kept out of the alphabet, so that a block that
            begins with them is told from one that begins with a marker.
        tail: tokens after every text.
        sources: ids of all corpora; the opening word is one that none of them has, or the rarest.

    Raises:
        InputError: blocks or chunks too short for a marker.
    """
    total = len(seams.safe_ids)
    allowed = np.flatnonzero(~np.isin(seams.safe_ids, np.array(head, dtype=np.int64)))
    opening = None
    if matching.chunker is not None:
        opening = _opening(seams, allowed, sources, key)
        allowed = allowed[allowed != opening]
    everyday = allowed[allowed < seams.common]
    words = everyday if len(everyday) > total // 8 else allowed
    size = FEWEST_WORDS
    while True:
        length = size + (opening is not None)
        spacing = matching.unit if matching.chunker is None else matching.chunker.min - length + 1 - tail
        per_owner = -(-owners.longest // max(spacing, 1)) + 2
        if len(words) ** size >= owners.count * owners.attempts * per_owner:
            break
        size += 1
    _check_room(matching, length, spacing, len(head), tail)
    mixed = words[np.argsort(combine(key, words), kind="stable")]
    return Markers(mixed, size, opening, per_owner, spacing, owners, key)


def refuse_short_blocks(matching: Matching, head: int, tail: int) -> None:
    """Is there room for the shortest marker there can be? Asked before the words of the tokenizer are known.

    Args:
        head, tail: tokens before and after every text.

    Raises:
        InputError: blocks or chunks too short for any marker.
    """
    if matching.chained:
        return
    length = FEWEST_WORDS + (matching.chunker is not None)
    spacing = matching.unit if matching.chunker is None else matching.chunker.min - length + 1 - tail
    _check_room(matching, length, spacing, head + 1, tail)  # the word that opens the text counts as head


def _opening(seams: Seams, allowed: Array, sources: list[NDArray[np.int32]], key: np.uint64) -> int:
    """A word that no source has, an everyday one if possible; else the rarest, which runs then leave out."""
    size = max(int(ids.max()) for ids in (seams.safe_ids, *sources)) + 1
    uses = np.sum([np.bincount(ids, minlength=size) for ids in sources], axis=0)[seams.safe_ids[allowed]]
    free = allowed[(uses == uses[~np.isin(allowed, seams.fillers)].min()) & ~np.isin(allowed, seams.fillers)]
    everyday = free[free < seams.common]
    options = everyday if len(everyday) else free
    return int(options[int(pick(combine(key, 8), len(options)))])


def _check_room(matching: Matching, length: int, spacing: int, head: int, tail: int) -> None:
    field = "hit_unit" if matching.chunker is None else "suffix.collision_detection.chunk.min"
    what = f"blocks of {matching.unit} tokens"
    if matching.chunker is None:
        fits = head % matching.unit + length <= matching.unit and tail + length <= matching.unit
        need = max(head % matching.unit, tail) + length
    else:
        what = f"chunks of {matching.chunker.min} tokens at least"
        fits = spacing >= length and head + length <= matching.chunker.min
        need = max(2 * length - 1 + tail, head + length)
    if not fits:
        raise InputError(
            f"{matching.semantics} needs a marker of {length} words in each of its {what}, beside {head} tokens before "
            f"and {tail} after a text",
            field=field,
            remedy=f"make it {need} or more, or use cache_match_semantics: chained_prefix.",
        )
