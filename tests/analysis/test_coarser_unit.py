"""The unit that explains every answer, against trying all of them."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from prefixcache.analysis.coarser_unit import FEWEST, coarser_unit


def rows(planned: list[int], cached: list[int | None]) -> pl.DataFrame:
    return pl.DataFrame(
        {"expected": planned, "cached_tokens": cached}, schema={"expected": pl.Int64, "cached_tokens": pl.Int64}
    )


def by_trying(planned: list[int], cached: list[int], unit: int) -> int | None:
    if sum(a != b for a, b in zip(planned, cached, strict=True)) < FEWEST or not any(cached):
        return None
    for size in range(2 * unit, max(planned) + 1, unit):
        if all(a // size * size == b for a, b in zip(planned, cached, strict=True)):
            return size
    return None


def test_a_server_that_matches_in_two_blocks() -> None:
    planned = [0, 16, 48, 64, 80, 112]
    assert coarser_unit(rows(planned, [0, 0, 32, 64, 64, 96]), 16) == 32


def test_one_answer_that_does_not_fit() -> None:
    planned = [0, 16, 48, 64, 80, 112]
    assert coarser_unit(rows(planned, [0, 0, 32, 64, 64, 112]), 16) is None
    assert coarser_unit(rows(planned, [0, 0, 32, 64, 64, None]), 16) == 32


def test_what_is_as_planned_or_hits_nothing_says_nothing() -> None:
    planned = [0, 16, 48, 64, 80, 112]
    assert coarser_unit(rows(planned, list(planned)), 16) is None
    assert coarser_unit(rows(planned, [0] * 6), 16) is None
    assert coarser_unit(rows([], []), 16) is None


@given(
    st.lists(st.integers(0, 60), min_size=3, max_size=30),
    st.integers(1, 12),
    st.integers(1, 5),
    st.booleans(),
)
def test_it_is_the_smallest_that_fits(units: list[int], factor: int, unit: int, disturbed: bool) -> None:
    planned = [n * unit for n in units]
    cached = [n // factor * factor * unit for n in units]
    if disturbed:
        cached[0] = max(0, cached[0] - unit)
    assert coarser_unit(rows(planned, list(cached)), unit) == by_trying(planned, cached, unit)
