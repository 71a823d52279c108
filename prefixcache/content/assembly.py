"""Prompts: master[0:P] + divergence block + suffix, exactly L tokens, as ids and as text (domain.md 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.corpus import Corpus
from prefixcache.content.divergence import Alphabet, first_words, sentence
from prefixcache.content.keys import ContentKeys
from prefixcache.content.masters import Masters, too_small
from prefixcache.content.mixing import combine, pick
from prefixcache.content.seams import SEPARATOR
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


@dataclass(frozen=True)
class Prompt:
    ids: Ids
    text: bytes
    divergence_len: int
    suffix_len: int


@dataclass(frozen=True)
class Assembler:
    """Builds prompts from shared, read-only parts; a prompt depends on its row only.

    ``block``: tokens of a divergence block.
    """

    corpus: Corpus
    masters: Masters
    alphabet: Alphabet
    keys: ContentKeys
    head: list[int]
    block: int

    def prompts(self, rows: Rows) -> Iterator[Prompt]:
        """One prompt per row, in the rows' order.

        Raises:
            EnvironmentFailure: the source is smaller than a suffix.
        """
        keys = self.keys.requests(rows.group, rows.index)
        first, second = self._branch_words(rows)
        begin = np.where(rows.prefix > 0, rows.prefix, len(self.head))
        divergence = np.minimum(self.block, rows.length - begin)
        suffix = rows.length - begin - divergence
        start, run, fill = self._suffix_runs(suffix, keys)
        head = np.array(self.head, dtype=np.int32)
        for i in range(len(keys)):
            words = sentence(self.alphabet, keys[i], int(first[i]), int(second[i]), int(divergence[i]))
            if fill[i]:
                words = np.concatenate([words, self._fillers(keys[i], int(fill[i]))])
            prefix, group = int(rows.prefix[i]), int(rows.group[i])
            master = self.masters[group]
            seams = self.alphabet.seams
            ids = [master.ids[:prefix] if prefix else head, seams.safe_ids[words]]
            text = [master.text[: master.cuts[prefix]] if prefix else b"", *(seams.safe_words[w] for w in words)]
            if run[i]:
                if seams.separator_ids is not None:
                    ids.append(seams.separator_ids)
                    text.append(SEPARATOR.encode())
                stop = int(start[i] + run[i])
                ids.append(self.corpus.ids[int(start[i]) : stop])
                text.append(self.corpus.text_of(int(start[i]), stop))
            yield Prompt(np.concatenate(ids), b"".join(text), int(divergence[i]), int(suffix[i]))

    def _branch_words(self, rows: Rows) -> tuple[Array, Array]:
        position = np.full(int(self.alphabet.seams.safe_ids.max()) + 1, -1, dtype=np.int64)
        position[self.alphabet.seams.safe_ids] = np.arange(len(self.alphabet.seams.safe_ids))
        taken = np.full(len(rows.index), -1, dtype=np.int64)
        for i, (group, prefix) in enumerate(zip(rows.group.tolist(), rows.prefix.tolist(), strict=True)):
            ids = self.masters[group].ids
            if 0 < prefix < len(ids) and ids[prefix] < len(position):
                taken[i] = position[ids[prefix]]
        at_root = rows.prefix == 0
        node_keys = self.keys.nodes(rows.group, rows.prefix)
        return first_words(self.alphabet, rows.number, rows.siblings, at_root, taken, node_keys)

    def _suffix_runs(self, suffix: Array, keys: NDArray[np.uint64]) -> tuple[Array, Array, Array]:
        """Per request: first corpus token, tokens of the run, filler words before it.

        The run starts at a random sample with enough text behind it and ends where text may end; what is missing to the
        exact length are neutral words before the separator.
        """
        separator = self.alphabet.seams.separator_ids
        gap = 0 if separator is None else len(separator)
        wanted = np.maximum(suffix - gap, 0)
        fits = np.searchsorted(self.corpus.starts, len(self.corpus) - wanted, side="right")
        if len(fits) and int(fits.min()) == 0:
            raise too_small(len(self.corpus), int(wanted.max()))
        start = self.corpus.starts[pick(combine(keys, -1), fits)]
        last = self.corpus.keep[np.maximum(start + wanted - 1, 0)]
        run = np.where(wanted > 0, np.maximum(last - start + 1, 0), 0)
        fill = np.where(run > 0, wanted - run, suffix)
        return start, run, fill

    def _fillers(self, key: np.uint64, count: int) -> Array:
        options = self.alphabet.seams.fillers
        return options[pick(combine(combine(key, -2), np.arange(count)), len(options))]
