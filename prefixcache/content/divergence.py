"""The divergence block: SAFE words whose first one is unique among its siblings (RFC 3.3.11; domain.md 5).

The first word of child j of a node is a keyed affine permutation of j over the node's alphabet: unique by construction,
not by luck. The alphabet leaves out the word with which the node's master continues, and at the root the first words of
all masters. Where a node has more children than words, the second word carries the rest of the number. The other words
fill the slots of a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.mixing import combine, pick
from prefixcache.content.seams import Seams
from prefixcache.content.synthetic import SENTENCE_SLOTS
from prefixcache.errors import InputError

Array = NDArray[np.int64]
_MULTIPLIERS = 64


@dataclass(frozen=True)
class Alphabet:
    """Words at the branch points.

    ``masters``: first word of each group's master; ``rest``: first words of root children: both are positions among
    the opening words. ``slots``: words per slot, positions in ``Seams.safe_ids``.
    """

    seams: Seams
    masters: Array
    rest: Array
    slots: tuple[Array, ...]

    @classmethod
    def of(cls, seams: Seams, groups: int, key: np.uint64) -> Alphabet:
        """Everyday words open the masters, in an order that depends on the key.

        Raises:
            InputError: more groups than words.
        """
        opening = seams.opening
        total = len(opening)
        if groups >= total:
            raise InputError(
                f"{groups} prefix groups, but the tokenizer has only {total} safe words that can tell them apart",
                field="prefix.groups",
                remedy=f"use {total - 1} groups or fewer, or a tokenizer with a larger vocabulary.",
                stage="build_masters",
            )
        pool = np.arange(opening.common if opening.common > groups else total)
        masters = pool[np.argsort(combine(key, pool), kind="stable")[:groups]]
        slots = tuple(found for words in SENTENCE_SLOTS if len(found := seams.positions(words)))
        everyday = np.arange(seams.common or len(seams.safe_ids))
        rest = np.setdiff1d(np.arange(total), masters)
        return cls(seams, masters, rest, slots or (everyday,))


def first_words(
    alphabet: Alphabet,
    number: Array,
    siblings: Array,
    at_root: NDArray[np.bool_],
    taken: Array,
    key: NDArray[np.uint64],
) -> tuple[Array, Array]:
    """Positions of the first and the second word; the second is -1 where the sentence may choose it.

    At the root the first is a position among the opening words, elsewhere (and the second always) among the SAFE ones.

    Args:
        number, siblings: from :class:`prefixcache.content.branches.Branches`.
        at_root: the node is the root.
        taken: position of the word with which the node's master continues, -1 where there is none.
        key: one word per node (equal for its children).
    """
    size, letters = letters_of(alphabet, siblings, at_root, taken)
    total, blocked = len(alphabet.seams.safe_ids), letters < size
    lap, step = np.divmod(number, letters)
    index = _affine(step, letters, key)
    index += blocked & (index >= taken)
    first = np.where(at_root, alphabet.rest[np.where(at_root, index, 0)], index)
    crowded = siblings > letters
    second = np.where(crowded, (lap + pick(combine(key, 2), total)) % total, -1)
    return first, second


def letters_of(alphabet: Alphabet, siblings: Array, at_root: NDArray[np.bool_], taken: Array) -> tuple[Array, Array]:
    """Per request: words of its node's alphabet, and how many of them may be a first word there.

    A node with more children than letters is crowded: some of its children share their first word.
    """
    total, common = len(alphabet.seams.safe_ids), alphabet.seams.common
    # Everyday words where they suffice; the whole safe vocabulary for crowded nodes.
    everyday = ~at_root & (siblings < common)
    size = np.where(at_root, len(alphabet.rest), np.where(everyday, common, total))
    blocked = ~at_root & (taken >= 0) & (taken < size)
    return size, size - blocked


def _affine(step: Array, letters: Array, key: NDArray[np.uint64]) -> Array:
    """(a * step + b) mod letters with a coprime to letters: a bijection of [0, letters)."""
    result = np.empty_like(step)
    for size in np.unique(letters):
        here = letters == size
        start = max(int(size) * 5 // 13, 1)
        good = [a for a in range(start, start + 8 * _MULTIPLIERS) if gcd(a, int(size)) == 1][:_MULTIPLIERS]
        a = np.array(good, dtype=np.int64)[pick(combine(key[here], 0), len(good))]
        b = pick(combine(key[here], 1), int(size))
        result[here] = (a * step[here] + b) % size
    return result


def sentences(alphabet: Alphabet, keys: NDArray[np.uint64], first: Array, second: Array, lengths: Array) -> list[Array]:
    """Per prompt the positions of so many SAFE words, which begin with the branch's own and go on as sentences.

    Args:
        keys, first, second, lengths: one per prompt; a second word of -1 is left to the sentence.
    """
    ends = np.cumsum(lengths)
    begins = ends - lengths
    slot = np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(begins, lengths)
    choice = combine(np.repeat(keys, lengths), slot)
    words = np.empty(len(slot), dtype=np.int64)
    place = slot % len(alphabet.slots)
    for number, options in enumerate(alphabet.slots):
        here = place == number
        words[here] = options[pick(choice[here], len(options))]
    words[begins[lengths > 0]] = first[lengths > 0]
    forced = (lengths > 1) & (second >= 0)
    words[begins[forced] + 1] = second[forced]
    return np.split(words, ends[:-1]) if len(lengths) else []
