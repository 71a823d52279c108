"""The text of a load: what each form means, and one message for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixcache.errors import InputError
from prefixcache.load.options import RunOptions
from prefixcache.load.shapes.grammar import KINDS, parse_load
from prefixcache.load.shapes.model import Closed, Rated, Replayed, Segment, Stage, closed_loop


def test_closed_loops() -> None:
    assert parse_load("closed:16") == Closed("closed:16", (Stage(16),)) == closed_loop(16)
    assert parse_load("closed:4x30s,16x2m").stages == (Stage(4, 30.0), Stage(16, 120.0))  # type: ignore[union-attr]
    assert parse_load(" closed: 4x500ms , 16 ").stages == (Stage(4, 0.5), Stage(16))  # type: ignore[union-attr]


def test_steady_rates() -> None:
    assert parse_load("constant:200") == Rated("constant", "constant:200", (Segment(200, 200),))
    poisson = parse_load("poisson:0.5,seed=7")
    assert poisson == Rated("poisson", "poisson:0.5,seed=7", (Segment(0.5, 0.5),), burstiness=1.0, seed=7)
    gamma = parse_load("gamma:1e2,seed=1,burstiness=.25")
    assert gamma == Rated("gamma", "gamma:1e2,seed=1,burstiness=.25", (Segment(100, 100),), burstiness=0.25, seed=1)


def test_rates_that_change() -> None:
    rates = parse_load("rates:10x30s,0x1m,50,burstiness=1,seed=2")
    assert isinstance(rates, Rated)
    assert rates.segments == (Segment(10, 10, 30.0), Segment(0, 0, 60.0), Segment(50, 50))
    assert (rates.burstiness, rates.seed) == (1.0, 2)
    ramp = parse_load("ramp:10..200,seconds=60,curve=exponential")
    assert isinstance(ramp, Rated)
    assert ramp.segments == (Segment(10, 200, 60.0, "exponential"), Segment(200, 200))
    down = parse_load("ramp:10..0,seconds=2m")
    assert isinstance(down, Rated)
    assert down.segments == (Segment(10, 0, 120.0, "linear"),)


def test_traces() -> None:
    assert parse_load("trace:a.jsonl") == Replayed("trace:a.jsonl", Path("a.jsonl"))
    found = parse_load("trace:/d/a,b.csv,scale=0.5,column=TIMESTAMP,unit=s")
    assert found == Replayed(found.text, Path("/d/a,b.csv"), "TIMESTAMP", 1.0, 0.5)


WRONG = {
    "": "no load shape is named",
    "16": "'16' is no load shape",
    "closed": "after closed nothing is said",
    "closed:": "after closed nothing is said",
    "closed:0": "the concurrency 0 is not from 1",
    "closed:1.5": "the concurrency '1.5' is no whole number",
    "closed:-1": "no whole number",
    "closed:4,16": "stage 1 of 2 has no duration",
    "closed:4x30,16": "the duration '30' has no unit",
    "closed:4x0s,16": "the duration '0' is not above 0",
    "closed:4x30s,": "stage 2 is empty",
    "constant:fast": "the rate 'fast' is no number",
    "constant:nan": "no number",
    "constant:inf": "no number",
    "constant:1e99": "no number",
    "constant:-5": "no number",
    "constant:0": "the rate '0' is not above 0",
    "constant:5,seed=1": "constant has no option 'seed'",
    "poisson:5,seed=x": "the seed 'x' is no whole number",
    "poisson:5,seed=1,seed=2": "stands there twice",
    "poisson:5,seed=": "the option seed has no value",
    "gamma:5": "gamma has no burstiness",
    "gamma:5,burstiness=0": "the burstiness '0' is not above 0",
    "rates:0": "a rate of 0 without an end",
    "rates:0x5s": "all rates are 0",
    "rates:5,10x3s": "stage 1 of 2 has no duration",
    "ramp:5,seconds=3": "names no two rates",
    "ramp:5..10": "ramp has no seconds",
    "ramp:0..0,seconds=3": "both rates are 0",
    "ramp:0..5,seconds=3,curve=exponential": "cannot touch the rate 0",
    "ramp:1..5,seconds=3,curve=steep": "the curve 'steep' is unknown",
    "trace:,scale=2": "trace names no file",
    "trace:a,scale=0": "the scale '0' is not above 0",
    "trace:a,unit=min": "the unit 'min' is unknown",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_mistake_is_one_message(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_load(text)
    assert WRONG[text] in caught.value.message
    assert (caught.value.field, bool(caught.value.remedy)) == ("load", True)


@given(st.sampled_from(KINDS), st.text(max_size=30))
def test_any_text_is_a_shape_or_one_message(kind: str, rest: str) -> None:
    try:
        parse_load(f"{kind}:{rest}")
    except InputError as error:
        assert error.field == "load"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"load": "closed:4", "concurrency": 4}, "load"),
        ({"load": "poisson:4", "concurrency": 4}, "load"),
        ({"max_in_flight": 4}, "max_in_flight"),
        ({"load": "closed:4", "max_in_flight": 4}, "max_in_flight"),
        ({"load": "poisson:4", "max_in_flight": 0}, "max_in_flight"),
        ({"duration": 0.0}, "duration"),
        ({"duration": float("nan")}, "duration"),
        ({"limit": 0}, "limit"),
        ({"load": "poison:4"}, "load"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        RunOptions(urls=("http://h:1",), **options)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_slots_of_stages_open_and_close() -> None:
    shape = parse_load("closed:2x10s,4x10s,1x5s")
    assert isinstance(shape, Closed)
    assert (shape.most, shape.ends_s) == (4, 25.0)
    assert [shape.opens_s(slot, 0.0) for slot in range(5)] == [0.0, 0.0, 10.0, 10.0, None]
    assert [shape.opens_s(slot, 12.0) for slot in (0, 3)] == [12.0, 12.0]
    assert [shape.opens_s(slot, 20.0) for slot in (0, 1)] == [20.0, None]
    assert shape.opens_s(0, 25.0) is None
    assert closed_loop(2).opens_s(1, 1e9) == 1e9
