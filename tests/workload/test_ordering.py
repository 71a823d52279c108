"""Every order of RFC 3.3.9 against the definition, and where requests are sent."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.workload.ordering import send_order
from prefixcache.workload.routing import route
from tests.workload import oracle

COMBINATIONS = [
    (within, across, preserve)
    for within in oracle.WITHIN
    for across in (*oracle.MERGES, *oracle.GLOBAL)
    for preserve in (True, False)
]
Requests = tuple[list[int], list[int], list[int]]


@st.composite
def requests(draw: st.DrawFn) -> Requests:
    """(groups, lengths, prefixes); groups of unequal size, some of them empty, many equal lengths."""
    count = draw(st.integers(1, 30))
    groups = draw(st.lists(st.sampled_from([0, 0, 0, 0, 1, 1, 3, 4]), min_size=count, max_size=count))
    lengths = draw(st.lists(st.integers(1, 12), min_size=count, max_size=count))
    prefixes = draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    return groups, lengths, prefixes


def arrays(found: Requests) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    groups, lengths, prefixes = found
    return np.array(groups, dtype=np.int32), np.array(lengths), np.array(prefixes)


def shuffles(count: int, seed: int) -> tuple[list[int], list[int]]:
    """The two random orders of a seed, as a single group shows them."""
    one = np.zeros(count, dtype=np.int32), np.ones(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    inside = send_order(*one, within="shuffle", across="grouped", preserve=True, seed=seed)
    outside = send_order(*one, within="generated", across="shuffle", preserve=False, seed=seed)
    return inside.tolist(), outside.tolist()


@pytest.mark.parametrize(("within", "across", "preserve"), COMBINATIONS)
def test_every_combination_equals_the_definition(within: str, across: str, preserve: bool) -> None:
    @given(requests(), st.integers(0, 5))
    @settings(max_examples=12, deadline=None)
    def check(found: Requests, seed: int) -> None:
        inside, outside = shuffles(len(found[0]), seed)
        expected = oracle.send_order(
            *found,
            within=within,
            across=across,
            preserve=preserve,
            shuffled_within=inside,
            shuffled_across=outside,
        )
        order = send_order(*arrays(found), within=within, across=across, preserve=preserve, seed=seed)
        assert order.tolist() == expected

    check()


def test_shuffles_differ_by_seed_and_between_the_two_levels() -> None:
    orders = [order for seed in range(20) for order in shuffles(200, seed)]
    assert len({tuple(order) for order in orders}) == 40
    assert all(sorted(order) == list(range(200)) for order in orders)


def test_weighted_interleave_is_exact_where_floats_tie() -> None:
    """Two groups whose fractions differ by less than a float can tell."""
    big = 3_000_001
    groups = np.repeat(np.array([0, 1], dtype=np.int32), [big, big - 1])
    ones = np.ones(len(groups), dtype=np.int64)
    order = send_order(groups, ones, ones, within="generated", across="weighted_interleave", preserve=True, seed=0)
    sent = groups[order]
    k = np.arange(len(order)) - np.where(sent == 0, np.cumsum(sent == 1), np.cumsum(sent == 0))
    size = np.where(sent == 0, big, big - 1)
    # Neighbours in order by cross-multiplication, which int64 holds exactly.
    left, right = (2 * k[:-1] + 1) * size[1:], (2 * k[1:] + 1) * size[:-1]
    assert ((left < right) | ((left == right) & (sent[:-1] < sent[1:]))).all()


def test_interleave_of_the_rfc() -> None:
    groups = np.array([0, 0, 0, 1, 1, 2], dtype=np.int32)
    ones = np.ones(6, dtype=np.int64)
    order = send_order(groups, ones, ones, within="generated", across="interleave", preserve=True, seed=0)
    assert order.tolist() == [0, 3, 5, 1, 4, 2]


@pytest.mark.parametrize("policy", ["bound", "sticky", "round_robin", "group_round_robin"])
def test_routes_equal_the_definition(policy: str) -> None:
    @given(requests(), st.integers(1, 5), st.randoms(use_true_random=False))
    @settings(max_examples=80, deadline=None)
    def check(found: Requests, domains: int, random: Random) -> None:
        groups, lengths, _ = arrays(found)
        order = list(range(len(groups)))
        random.shuffle(order)
        result = route(groups, lengths, np.array(order), policy=policy, domains=domains)
        assert result.tolist() == oracle.route(*found[:2], order, policy=policy, domains=domains)
        assert result.dtype == np.int32

    check()


def test_bound_balances_tokens_and_not_groups() -> None:
    groups = np.array([0, 1, 2, 3], dtype=np.int32)
    lengths = np.array([100, 40, 35, 30])
    assert route(groups, lengths, np.arange(4), policy="bound", domains=2).tolist() == [0, 1, 1, 1]
