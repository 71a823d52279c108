"""Branches differ in their first word, by construction, for every shape of the trie."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.content.branches import number_branches
from prefixcache.content.divergence import Alphabet, first_words, sentences
from prefixcache.content.mixing import combine, mix, pick
from prefixcache.content.seams import Seams
from prefixcache.errors import InputError


def toy_seams(words: int, common: int) -> Seams:
    return Seams(
        np.arange(100, 100 + words, dtype=np.int32),
        tuple(f" word{i}".encode() for i in range(words)),
        common,
        np.array([0]),
    )


@settings(max_examples=150, deadline=None)
@given(
    st.integers(8, 60),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=250),
    st.integers(0, 2**32),
)
def test_siblings_never_share_their_words(words: int, requests: list[tuple[int, int]], seed: int) -> None:
    groups = np.array([g for g, _ in requests])
    prefixes = np.array([p * 16 for _, p in requests])
    branches = number_branches(groups, prefixes)
    alphabet = Alphabet.of(toy_seams(words, words // 2), 3, np.uint64(seed))
    taken_of = {(g, p): (g * 7 + p) % words if p != 48 else -1 for g in range(3) for p in (16, 32, 48)}
    taken = np.array([-1 if p == 0 else taken_of[g, p] for g, p in zip(groups, prefixes, strict=True)])
    node = np.where(prefixes == 0, np.uint64(1), combine(combine(np.uint64(seed), groups), prefixes))
    first, second = first_words(alphabet, branches.number, branches.siblings, prefixes == 0, taken, node)
    seen: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for i, (g, p) in enumerate(zip(groups.tolist(), prefixes.tolist(), strict=True)):
        key = (-1, 0) if p == 0 else (g, p)
        seen[key].append((int(first[i]), int(second[i])))
        assert 0 <= first[i] < words
        if p == 0:
            assert first[i] not in alphabet.masters
        else:
            assert first[i] != taken[i]
    for pairs in seen.values():
        assert len(set(pairs)) == len(pairs)
        if len(pairs) <= words - 3 - 1:
            assert len({one for one, _ in pairs}) == len(pairs), "one word suffices, so one word must tell them apart"


def test_branch_numbers_against_a_dictionary() -> None:
    random = np.random.default_rng(4)
    groups, prefixes = random.integers(0, 5, 500), random.integers(0, 4, 500) * 32
    branches = number_branches(groups, prefixes)
    counter: dict[tuple[int, int], int] = defaultdict(int)
    for i, (g, p) in enumerate(zip(groups.tolist(), prefixes.tolist(), strict=True)):
        key = (-1 if p == 0 else g, p)
        assert branches.number[i] == counter[key]
        counter[key] += 1
    for i, (g, p) in enumerate(zip(groups.tolist(), prefixes.tolist(), strict=True)):
        assert branches.siblings[i] == counter[-1 if p == 0 else g, p]


def one_sentence(alphabet: Alphabet, key: np.uint64, first: int, second: int, length: int) -> list[int]:
    """Word by word."""
    words = []
    for slot in range(length):
        options = alphabet.slots[slot % len(alphabet.slots)]
        words.append(int(options[pick(combine(key, np.array([slot])), len(options))[0]]))
    return [*([first] if second < 0 else [first, second])[:length], *words[1 if second < 0 else 2 :]]


def test_sentences_have_their_lengths_and_their_own_words() -> None:
    alphabet = Alphabet.of(toy_seams(50, 20), 1, np.uint64(5))
    lengths = np.array([0, 1, 2, 16, 33, 0, 5])
    keys = np.arange(100, 107, dtype=np.uint64)
    first, second = np.arange(7) + 30, np.array([8, 8, 8, 8, -1, 8, -1])
    found = sentences(alphabet, keys, first, second, lengths)
    for i, words in enumerate(found):
        expected = one_sentence(alphabet, keys[i], int(first[i]), int(second[i]), int(lengths[i]))
        assert words.tolist() == expected
        assert len(words) == lengths[i]
    assert sentences(alphabet, keys[:0], first[:0], second[:0], lengths[:0]) == []


def test_more_groups_than_words_is_an_input_error() -> None:
    with pytest.raises(InputError, match="prefix groups"):
        Alphabet.of(toy_seams(10, 5), 10, np.uint64(1))


def test_mix_is_a_bijection_on_samples() -> None:
    values = np.arange(100_000, dtype=np.uint64)
    assert len(np.unique(mix(values))) == len(values)
