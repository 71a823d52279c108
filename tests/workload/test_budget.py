"""The target as units, its split over groups, and the counts of groups."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.errors import InputError
from prefixcache.workload.budget import goal_units, split_budget
from prefixcache.workload.groups import assign_groups, group_counts, largest_remainder
from tests.workload import oracle
from tests.workload.configs import configure

WEIGHTS = st.lists(st.one_of(st.integers(0, 9), st.fractions(0, 9, max_denominator=7)), min_size=1, max_size=8).filter(
    any
)


@given(st.integers(0, 500), WEIGHTS)
@settings(max_examples=300, deadline=None)
def test_largest_remainder_equals_the_definition(total: int, weights: list[Fraction | int]) -> None:
    parts = largest_remainder(total, weights)
    assert parts == oracle.largest_remainder(total, weights)
    assert sum(parts) == total
    assert all(part == 0 for part, weight in zip(parts, weights, strict=True) if not weight)


def test_largest_remainder_of_nothing() -> None:
    assert largest_remainder(0, [0, 0]) == [0, 0]
    assert largest_remainder(7, [1, 1, 1]) == [3, 2, 2]


@given(st.decimals(0, 1, places=5, allow_nan=False), st.integers(1, 30_000), st.integers(1, 64))
@settings(max_examples=300, deadline=None)
def test_goal_is_the_nearest_multiple_ties_up(target: Decimal, tokens: int, unit: int) -> None:
    assert goal_units(target, tokens, unit) == oracle.nearest(Fraction(target), tokens, unit)


@pytest.mark.parametrize("target", ["0.29", "0.57", "0.58", "0.07", "0.1", "0.7"])
@pytest.mark.parametrize("unit", [1, 16])
def test_decimals_keep_what_was_written(target: str, unit: int) -> None:
    """In floats 0.29 x 1600 is below 464: a block would be lost."""
    config = configure(request_count=1, input_length=1600, hit_ratio=float(target))
    assert config.target.hit_ratio == Decimal(target)
    assert goal_units(config.target.hit_ratio, 1600, unit) == oracle.nearest(Fraction(target), 1600, unit)


def test_floats_would_lose_a_block() -> None:
    assert int(0.29 * 100) == 28
    assert goal_units(Decimal("0.29"), 1600, 16) * 16 == 464


@st.composite
def budgets(draw: st.DrawFn) -> tuple[int, list[int], list[int], list[int]]:
    size = draw(st.integers(1, 7))
    maximum = draw(st.lists(st.integers(0, 60), min_size=size, max_size=size))
    minimum = [draw(st.integers(0, top)) for top in maximum]
    tokens = [draw(st.integers(0 if top == 0 else 1, 900)) for top in maximum]
    if not sum(tokens):
        tokens[0] = 1
    return draw(st.integers(sum(minimum), sum(maximum))), tokens, minimum, maximum


@given(budgets())
@settings(max_examples=300, deadline=None)
def test_split_sums_to_the_goal_within_every_groups_range(
    case: tuple[int, list[int], list[int], list[int]],
) -> None:
    goal, tokens, minimum, maximum = case
    initial, final = split_budget(goal, tokens, minimum, maximum)
    assert initial == oracle.largest_remainder(goal, tokens)
    assert sum(final) == goal
    assert all(low <= share <= high for low, share, high in zip(minimum, final, maximum, strict=True))
    if all(low <= share <= high for low, share, high in zip(minimum, initial, maximum, strict=True)):
        assert final == initial


def test_what_a_full_group_cannot_take_goes_to_the_others_by_input_tokens() -> None:
    initial, final = split_budget(60, [100, 100, 200], [0, 0, 0], [3, 100, 100])
    assert initial == [15, 15, 30]
    assert final == [3, 19, 38]


@pytest.mark.parametrize(("goal", "expected"), [(500, [5, 6]), (1, [2, 1])])
def test_a_goal_beyond_the_groups_ends_at_what_they_can_take(goal: int, expected: list[int]) -> None:
    initial, final = split_budget(goal, [10, 10], [2, 1], [5, 6])
    assert sum(initial) == goal
    assert final == expected


@given(st.integers(1, 400), st.lists(st.decimals(0, 5, places=2), min_size=1, max_size=6).filter(any))
@settings(max_examples=100, deadline=None)
def test_weighted_groups_sum_to_the_request_count(count: int, weights: list[Decimal]) -> None:
    groups = [{"id": f"g{k}", "request_weight": weight} for k, weight in enumerate(weights)]
    config = configure(request_count=count, input_length=9, hit_ratio=0, prefix={"groups": groups})
    counts = group_counts(config.prefix, count)
    assert counts == oracle.largest_remainder(count, [Fraction(weight) for weight in weights])
    labels = assign_groups(counts, 42)
    assert [int((labels == k).sum()) for k in range(len(weights))] == counts


def test_groups_are_mixed_by_the_seed_alone() -> None:
    one, same, other = (assign_groups([50, 50], seed).tolist() for seed in (1, 1, 2))
    assert one == same != other
    assert one != sorted(one)


def test_counts_that_do_not_sum_to_the_requests() -> None:
    config = configure(
        input_length=9,
        hit_ratio=0,
        prefix={"groups": [{"id": "a", "request_count": 2}, {"id": "b", "request_count": 3}]},
    )
    assert group_counts(config.prefix, 5) == [2, 3]
    with pytest.raises(InputError, match=r"prefix\.groups: .*sum to 5, the dataset has 6"):
        group_counts(config.prefix, 6)
