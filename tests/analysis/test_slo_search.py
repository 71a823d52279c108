"""The search against curves that are known, and against trying every load."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixcache.analysis.slo_search import Bounds, Loads, parse_loads, search
from prefixcache.errors import InputError


def bounds(low: float, high: float, step: str = "1", confirm: int = 1, attainment: float = 0.99) -> Bounds:
    return Bounds(Decimal(str(low)), Decimal(str(high)), Decimal(step), attainment, confirm)


def cliff(limit: float) -> Callable[[Decimal], float]:
    return lambda load: 1.0 if load <= limit else 0.5


def slow(low: int, high: int, oracle: Callable[[Decimal], float | None], attainment: float = 0.99) -> int | None:
    """Every load from the lowest up to the first miss."""
    best = None
    for load in range(low, high + 1):
        share = oracle(Decimal(load))
        if share is None or share < attainment:
            return best
        best = load
    return best


@given(low=st.integers(1, 40), width=st.integers(0, 400), limit=st.integers(0, 500), confirm=st.integers(0, 2))
def test_a_monotone_curve_gives_what_trying_every_load_gives(low: int, width: int, limit: int, confirm: int) -> None:
    high, calls = low + width, []

    def oracle(load: Decimal) -> float:
        calls.append(load)
        return cliff(limit)(load)

    found = search(bounds(low, high, confirm=confirm), oracle)
    assert found["best"] == slow(low, high, cliff(limit))
    assert found["monotone"]
    assert len(calls) == len(set(calls)) == len(found["points"])
    assert all(low <= load <= high for load in calls)
    assert len(calls) <= 2 * (high + 1).bit_length() + confirm + 1
    wanted = "below_low" if limit < low else "above_high" if limit >= high else "found"
    assert found["limit"] == wanted


@given(shares=st.lists(st.sampled_from([None, 0.2, 0.99, 1.0]), min_size=1, max_size=60), confirm=st.integers(0, 3))
def test_whatever_the_curve_the_answer_has_no_measured_miss_below_it(shares: list[float | None], confirm: int) -> None:
    found = search(bounds(1, len(shares), confirm=confirm), lambda load: shares[int(load) - 1])
    met = {p["value"] for p in found["points"] if p["meets"]}
    missed = {p["value"] for p in found["points"] if not p["meets"]}
    assert all(p["attainment"] == shares[p["value"] - 1] for p in found["points"])
    if found["best"] is None:
        assert 1 in missed
    else:
        assert found["best"] in met
        assert not any(load < found["best"] for load in missed)
        assert found["best"] == len(shares) or found["best"] + 1 in missed
    lowest = min(missed, default=len(shares) + 1)
    assert [e["value"] for e in found["exceptions"]] == sorted(load for load in met if load > lowest)
    assert found["monotone"] == (not found["exceptions"])
    assert found["highest_met"] == max(met, default=None)


def test_a_dip_is_reported_and_the_answer_stays_below_it() -> None:
    found = search(bounds(1, 32), lambda load: 0.9 if load == 4 else cliff(20)(load))
    assert (found["best"], found["limit"]) == (3, "found")
    assert not found["monotone"]
    assert {"value": 8, "below": 4} in found["exceptions"]
    assert found["highest_met"] == 16


def test_growth_ends_at_the_first_miss_where_nothing_is_confirmed() -> None:
    found = search(bounds(1, 1024, confirm=0), cliff(5))
    assert [p["value"] for p in found["points"]] == [1, 2, 4, 8, 6, 5]


def test_rates_are_exact_multiples_of_the_resolution() -> None:
    found = search(bounds(0.5, 10, step="0.1"), cliff(3.35))
    assert found["best"] == 3.3
    assert all(abs(p["value"] * 10 - round(p["value"] * 10)) < 1e-9 for p in found["points"])
    assert search(bounds(0.55, 0.65, step="0.1"), cliff(1))["points"] == [
        {"value": 0.6, "attainment": 1.0, "meets": True}
    ]


def test_the_attainment_itself_is_met() -> None:
    assert search(bounds(1, 1), lambda _: 0.99)["best"] == 1
    assert search(bounds(1, 1), lambda _: 0.9899)["best"] is None


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"low": 0, "high": 4}, "--low"),
        ({"low": 1, "high": float("inf")}, "--high"),
        ({"low": 5, "high": 4}, "--low, --high"),
        ({"low": 1.2, "high": 1.8}, "--low, --high"),
        ({"low": 1, "high": 4, "step": "0"}, "--resolution"),
        ({"low": 1, "high": 4, "attainment": 0}, "--attainment"),
        ({"low": 1, "high": 4, "attainment": 1.5}, "--attainment"),
        ({"low": 1, "high": 4, "confirm": -1}, "--confirm"),
    ],
)
def test_impossible_ranges_are_one_clear_error(values: dict[str, float], field: str) -> None:
    with pytest.raises(InputError) as caught:
        bounds(**values)  # type: ignore[arg-type]
    assert caught.value.field == field


@given(shares=st.lists(st.sampled_from([None, 0.2, 0.99, 1.0]), min_size=1, max_size=12))
def test_given_loads_are_all_measured_and_the_answer_is_read_off_them(shares: list[float | None]) -> None:
    values = tuple(Decimal(2) ** n for n in range(len(shares)))
    of = dict(zip(values, shares, strict=True))
    found = search(Loads(values), lambda load: of[load])
    assert [(p["value"], p["attainment"]) for p in found["points"]] == list(of.items())
    met = [value for value in values if (of[value] or 0) >= 0.99]
    first_miss = next((value for value in values if value not in met), None)
    below = [value for value in met if first_miss is None or value < first_miss]
    assert found["best"] == (max(below) if below else None)
    assert found["highest_met"] == (max(met) if met else None)
    assert found["monotone"] == (len(below) == len(met))
    assert found["limit"] == ("below_low" if not below else "above_high" if first_miss is None else "found")


def test_loads_as_they_are_written() -> None:
    assert parse_loads("8,1, 2.5,.5") == tuple(map(Decimal, ("0.5", "1", "2.5", "8")))
    for wrong in ("", "1,", "1;2", "-1", "1e3", "inf", "１"):
        with pytest.raises(InputError) as caught:
            parse_loads(wrong)
        assert caught.value.field == "--points"
    for values in ((), ("2", "1"), ("1", "1.0"), ("0",), ("NaN",)):
        with pytest.raises(InputError):
            Loads(tuple(map(Decimal, values)))


def test_a_range_upside_down_is_told_as_such() -> None:
    with pytest.raises(InputError, match="--low 4 is above --high 1"):
        Bounds(Decimal("4.0"), Decimal("1.0"), Decimal(1))
