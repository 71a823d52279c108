"""The certificate's simulator against a dictionary of prefixes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.cache.blocks import block_forms, block_forms_of_many, chained_keys, chained_keys_of_many
from prefixcache.cache.certificate import KeyedPrompts, simulate_pass
from prefixcache.cache.trie import leading_hits


def slow_hits(prompts: list[tuple[list[int], int]], unit: int) -> list[int]:
    """One prompt after the other: every full leading block is a prefix in a set."""
    cached: set[tuple[int, tuple[int, ...]]] = set()
    hits = []
    for ids, domain in prompts:
        run = 0
        while (run + 1) * unit <= len(ids) - 1 and (domain, tuple(ids[: (run + 1) * unit])) in cached:
            run += 1
        hits.append(run * unit)
        cached |= {(domain, tuple(ids[: (k + 1) * unit])) for k in range(len(ids) // unit)}
    return hits


# A tiny alphabet, so that prompts share prefixes of every length.
PROMPTS = st.lists(st.tuples(st.lists(st.integers(0, 1), max_size=90), st.integers(0, 2)), max_size=30)


@settings(max_examples=200, deadline=None)
@given(PROMPTS, st.sampled_from([1, 2, 3, 5]))
def test_equal_to_the_slow_model(prompts: list[tuple[list[int], int]], unit: int) -> None:
    keyed = KeyedPrompts.of(((np.array(ids, dtype=np.int32), domain) for ids, domain in prompts), unit)
    assert leading_hits(keyed.rows, keyed.lengths, unit).tolist() == slow_hits(prompts, unit)


@settings(max_examples=100, deadline=None)
@given(PROMPTS, PROMPTS, st.sampled_from([1, 2, 4]))
def test_hot_pass_starts_after_the_warmup(
    warm: list[tuple[list[int], int]], prompts: list[tuple[list[int], int]], unit: int
) -> None:
    def keyed(rows: list[tuple[list[int], int]]) -> KeyedPrompts:
        return KeyedPrompts.of(((np.array(ids, dtype=np.int32), domain) for ids, domain in rows), unit)

    assert (
        simulate_pass("hot", keyed(prompts), keyed(warm), unit).tolist() == slow_hits(warm + prompts, unit)[len(warm) :]
    )
    assert simulate_pass("cold", keyed(prompts), keyed(warm), unit).tolist() == slow_hits(prompts, unit)


def test_keys_depend_on_every_token_and_on_the_domain() -> None:
    random = np.random.default_rng(0)
    ids = random.integers(0, 150_000, 320).astype(np.int32)
    keys = chained_keys(ids, 16)
    for place in range(0, 320, 7):
        other = ids.copy()
        other[place] += 1
        changed = chained_keys(other, 16)
        assert (changed[: place // 16] == keys[: place // 16]).all()
        assert (changed[place // 16 :] != keys[place // 16 :]).all()
    assert not set(keys.tolist()) & set(chained_keys(ids, 16, salt=1).tolist())
    swapped = np.concatenate([ids[16:32], ids[:16], ids[32:]])
    assert (chained_keys(swapped, 16) != keys).all()


@settings(max_examples=200, deadline=None)
@given(PROMPTS, st.sampled_from([1, 2, 3, 16]))
def test_keys_of_many_are_the_keys_of_each(prompts: list[tuple[list[int], int]], unit: int) -> None:
    ids = [np.array(row, dtype=np.int32) for row, _ in prompts]
    salts = np.array([salt for _, salt in prompts], dtype=np.int64)
    ends = np.cumsum([len(row) for row in ids], dtype=np.int64)
    flat = np.concatenate([np.zeros(0, dtype=np.int32), *ids])
    keys, blocks = chained_keys_of_many(flat, ends, unit, salts)
    each = [chained_keys(row, unit, salt) for row, salt in zip(ids, salts.tolist(), strict=True)]
    assert blocks.tolist() == [len(row) for row in each]
    assert keys.tolist() == [key for row in each for key in row.tolist()]
    forms, _ = block_forms_of_many(flat, ends, unit)
    assert forms.tolist() == [form for row in ids for form in block_forms(row, unit).tolist()]


def test_one_changed_token_and_one_duplicate_are_each_seen() -> None:
    random = np.random.default_rng(1)
    shared = random.integers(0, 1000, 64)
    prompts = [np.concatenate([shared, random.integers(0, 1000, 64)]).astype(np.int32) for _ in range(20)]

    def hits(rows: list[np.ndarray]) -> list[int]:
        keyed = KeyedPrompts.of(((row, 0) for row in rows), 16)
        return leading_hits(keyed.rows, keyed.lengths, 16).tolist()

    good = hits(prompts)
    assert good == [0] + [64] * 19
    broken = [row.copy() for row in prompts]
    broken[7][60] += 1
    assert [i for i, (a, b) in enumerate(zip(good, hits(broken), strict=True)) if a != b] == [7]
    assert hits(broken)[7] == 48
    twice = [row.copy() for row in prompts]
    twice[12][64:80] = twice[4][64:80]
    assert hits(twice)[12] == 80


@settings(max_examples=100, deadline=None)
@given(PROMPTS, st.sampled_from([1, 2, 4]), st.integers(0, 3))
def test_replay_and_drop(prompts: list[tuple[list[int], int]], unit: int, drop: int) -> None:
    """A replay comes after the same prompts; an engine that drops matched units never hits below 0."""
    keyed = KeyedPrompts.of(((np.array(ids, dtype=np.int32), domain) for ids, domain in prompts), unit)
    none = KeyedPrompts.of([], unit)
    twice = slow_hits(prompts + prompts, unit)
    for name, expected in (("cold", twice[: len(prompts)]), ("replay", twice[len(prompts) :])):
        dropped = [max(0, hit - drop * unit) for hit in expected]
        assert simulate_pass(name, keyed, none, unit, drop).tolist() == dropped
    own = [max(len(ids) - 1, 0) // unit * unit for ids, _ in prompts]
    assert simulate_pass("replay", keyed, none, unit).tolist() == own
