"""Prompts: master[0:P] + divergence block + suffix + tail, exactly L tokens, as ids and as text (domain.md 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.collisions.repair import REQUEST_MARK, Repairs, with_mark
from prefixcache.content.corpus import Corpus
from prefixcache.content.divergence import Alphabet, first_words, letters_of, sentences
from prefixcache.content.framing import Framing
from prefixcache.content.joints import (
    Joint,
    Side,
    joint,
    master_before,
    source_before,
    source_behind,
    words_before,
    words_behind,
)
from prefixcache.content.keys import ContentKeys
from prefixcache.content.library import Library
from prefixcache.content.masters import Masters
from prefixcache.content.mixing import combine, pick
from prefixcache.content.seams import Seams
from prefixcache.content.suffixes import SuffixRuns, suffix_runs
from prefixcache.content.tokenizer import Ids

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """What is planned per prompt, all int64 (n,): generated index, group, L, P, branch number and siblings."""

    index: Array
    group: Array
    length: Array
    prefix: Array
    number: Array
    siblings: Array

    def take(self, chosen: Array | list[int] | slice) -> Rows:
        return Rows(*(getattr(self, entry.name)[chosen] for entry in fields(self)))

    def __len__(self) -> int:
        return len(self.index)


@dataclass(frozen=True)
class Prompt:
    """``text``: what a request carries, None where only ids are sent. ``samples``: source samples in the suffix."""

    ids: Ids
    text: bytes | None
    divergence_len: int
    suffix_len: int
    samples: list[int] = field(default_factory=list)
    retries: int = 0
    joints: list[Joint] = field(default_factory=list)


class _Pen:
    """Token ids and text of one prompt as they are written."""

    def __init__(self, seams: Seams, lead: bytes) -> None:
        self.seams = seams
        self.ids: list[NDArray[np.int32]] = []
        self.text = [lead]
        self.joints: list[Joint] = []

    def put(self, ids: NDArray[np.int32], text: bytes) -> None:
        self.ids.append(ids)
        self.text.append(text)

    def words(self, positions: Array) -> None:
        self.ids.append(self.seams.safe_ids[positions])
        self.text.extend(map(self.seams.safe_words.__getitem__, positions.tolist()))

    def joined(self) -> bytes | None:
        return None if self.seams.ids_only else b"".join(self.text)


@dataclass(frozen=True)
class Assembler:
    """Builds prompts from shared, read-only parts; a prompt depends on its row only.

    ``block``: tokens of a divergence block. ``repairs``: of prompts that collided.
    """

    library: Library
    masters: Masters
    alphabet: Alphabet
    keys: ContentKeys
    framing: Framing
    block: int
    repairs: Repairs = field(default_factory=Repairs)

    def prompts(self, rows: Rows, retry: int = 0, *, safe_only: bool = False) -> Iterator[Prompt]:
        """One prompt per row, in the rows' order.

        Args:
            retry: another number gives other samples and words; the branch words stay.
            safe_only: suffixes of SAFE words instead of source text.

        Raises:
            EnvironmentFailure: the source is smaller than a suffix.
        """
        words_retry, samples_retry, steps = self.repairs.numbers(rows.index)
        keys = self.keys.requests(rows.group, rows.index, retry + words_retry)
        samples_keys = self.keys.requests(rows.group, rows.index, retry + samples_retry)
        first, second, crowded = self._branch_words(rows, rows.prefix <= len(self.framing.head))
        divergence, suffix = self._parts(rows, crowded)
        runs = [] if safe_only else self._suffixes(rows, suffix, samples_keys)
        lead, tail = self.framing.prompt_of("").encode(), np.array(self.framing.tail, dtype=np.int32)
        seams = self.alphabet.seams
        counts = divergence + suffix if safe_only else divergence
        for i, words in enumerate(sentences(self.alphabet, keys, first, second, counts)):
            planned, rest = int(divergence[i]), int(suffix[i])
            if steps[i] == REQUEST_MARK:
                words = with_mark(words, seams, int(rows.index[i]), planned, 1 + (int(second[i]) >= 0))
            pen = _Pen(seams, lead)
            words = self._leave_master(pen, int(rows.group[i]), int(rows.prefix[i]), words)
            samples: list[int] = []
            if safe_only:
                pen.words(words)
            else:
                samples = self._write_suffix(pen, words, *runs[i], int(rows.group[i]), keys[i])
            pen.put(tail, b"")
            yield Prompt(np.concatenate(pen.ids), pen.joined(), planned, rest, samples, retry, pen.joints)

    def refuse_small_source(self, rows: Rows) -> None:
        """Would every suffix find its text? Asked for all prompts before any is built.

        Raises:
            EnvironmentFailure: the source is smaller than a suffix.
        """
        _, _, crowded = self._branch_words(rows, rows.prefix <= len(self.framing.head))
        self._suffixes(rows, self._parts(rows, crowded)[1], self.keys.requests(rows.group, rows.index, 0))

    def _parts(self, rows: Rows, crowded: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Tokens of each divergence block and suffix."""
        own = rows.length - np.maximum(rows.prefix, len(self.framing.head)) - len(self.framing.tail)
        divergence = np.minimum(np.where(crowded, max(self.block, 2), self.block), own)
        return divergence, own - divergence

    def _leave_master(self, pen: _Pen, group: int, prefix: int, words: Array) -> Array:
        """Write the shared prefix; returns the words that are still to be written."""
        if prefix > len(self.framing.head):
            master = self.masters[group]
            pen.put(master.ids[:prefix], master.text[: master.cuts[prefix]])
            if not self.alphabet.seams.ids_only and len(words):
                before = master_before(master, prefix, len(self.framing.head))
                pen.joints.append(joint(before, words_behind(self.alphabet.seams, words)))
            return words
        opening, word = self.alphabet.seams.opening, int(words[0])
        pen.put(np.array(self.framing.head, dtype=np.int32), b"")
        pen.put(opening.ids[word : word + 1], opening.texts[word])
        return words[1:]

    def _write_suffix(
        self, pen: _Pen, words: Array, runs: SuffixRuns, place: int, group: int, key: np.uint64
    ) -> list[int]:
        """Write words, fillers, separator, source text and closing word; returns the samples that are in it."""
        fill, pieces = int(runs.fill[place]), runs.pieces(place)
        words = np.concatenate([words, self._fillers(key, fill)]) if fill else words
        pen.words(words)
        if not pieces:
            return []
        samples: list[int] = []
        corpus = self.library.picker(group, "suffix").corpus
        pen.put(corpus.separator_ids, corpus.separator)
        for start, stop in pieces:
            pen.put(corpus.ids[start:stop], corpus.text_of(start, stop))
            samples += corpus.samples_in(start, stop)
        closing = self._fillers(np.uint64(combine(key, -4)), 1) if runs.close[place] else words[:0]
        if len(closing):
            pen.words(closing)
        if not (self.alphabet.seams.ids_only or corpus.free):
            pen.joints += self._joints(corpus, words, pieces, closing)
        return samples

    def _joints(self, corpus: Corpus, words: Array, pieces: list[tuple[int, int]], closing: Array) -> list[Joint]:
        """Where a suffix is put together, and its end."""
        seams = self.alphabet.seams
        found = []
        if len(words):  # else the opening stands before it, and all openings were probed
            separator = Side(corpus.separator, corpus.separator_ids)
            found.append(joint(words_before(seams, words), source_behind(corpus, *pieces[0]), separator))
        for (start, stop), following in pairwise(pieces):
            found.append(joint(source_before(corpus, start, stop), source_behind(corpus, *following)))
        found.append(joint(source_before(corpus, *pieces[-1]), words_behind(seams, closing)))
        return found

    def _branch_words(self, rows: Rows, at_root: NDArray[np.bool_]) -> tuple[Array, Array, NDArray[np.bool_]]:
        """First words, second words, and whose node is crowded."""
        taken = taken_words(self.alphabet, self.masters, rows, at_root)
        keys = self.keys.nodes(rows.group, rows.prefix, len(self.framing.head))
        first, second = first_words(self.alphabet, rows.number, rows.siblings, at_root, taken, keys)
        _, letters = letters_of(self.alphabet, rows.siblings, at_root, taken)
        return first, second, rows.siblings > letters

    def _suffixes(self, rows: Rows, suffix: Array, keys: NDArray[np.uint64]) -> list[tuple[SuffixRuns, int]]:
        """Per row its source's runs and its place in them."""
        table = np.array(self.library.suffix_of, dtype=np.int64)
        source = table[rows.group] if len(table) > 1 else np.full(len(rows), table[0])
        found: list[tuple[SuffixRuns, int] | None] = [None] * len(rows)
        for number in np.unique(source).tolist():
            mine = np.flatnonzero(source == number)
            picker, closing = self.library.pickers[number], self.framing.closing
            runs = suffix_runs(picker, suffix[mine], rows.index[mine], keys[mine], closing=closing)
            for at, i in enumerate(mine.tolist()):
                found[i] = (runs, at)
        return [entry for entry in found if entry is not None]

    def _fillers(self, key: np.uint64, count: int) -> Array:
        options = self.alphabet.seams.fillers
        return options[pick(combine(combine(key, -2), np.arange(count)), len(options))]


def taken_words(alphabet: Alphabet, masters: Masters, rows: Rows, at_root: NDArray[np.bool_]) -> Array:
    """Position of the SAFE word with which each row's master goes on at its node; -1: none, or no SAFE word."""
    safe = alphabet.seams.safe_ids
    position = np.full(int(safe.max()) + 1, -1, dtype=np.int64)
    position[safe] = np.arange(len(safe))
    taken = np.full(len(rows), -1, dtype=np.int64)
    for i in np.flatnonzero(~at_root).tolist():
        ids, prefix = masters[int(rows.group[i])].ids, int(rows.prefix[i])
        if prefix < len(ids) and ids[prefix] < len(position):
            taken[i] = position[ids[prefix]]
    return taken
