"""Rates, delays and what was in flight, from records made by hand; when lag and waits matter."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixcache.load.findings.load_figures import load_figures, sending_figures
from prefixcache.load.findings.load_troubles import late_by_the_clock, slots_stood_empty
from prefixcache.load.records.rows import RequestRecord
from prefixcache.load.sending.pace import Slots, make_pace, steady
from prefixcache.load.shapes.grammar import parse_load


def record(
    *,
    sent: float | None,
    scheduled: float | None = None,
    ready: float = 0.0,
    gate: float = 0.0,
    lag: float | None = 0.0,
    last: float | None = None,
    **more: Any,
) -> RequestRecord:
    return RequestRecord(
        pass_name="cold",
        request_id="r0",
        prefix_group_id="a",
        order_index=0,
        phase="measured",
        endpoint="http://h:1",
        planned_dp_id=0,
        planned_route=None,
        actual_route=None,
        scheduled_s=scheduled,
        ready_s=ready,
        sent_s=sent,
        first_byte_s=None,
        first_token_s=None,
        last_token_s=last,
        gate_wait_s=gate,
        lag_s=lag,
        gate_broken=False,
        input_len=20,
        prompt_tokens=20,
        completion_tokens=1,
        cached_tokens=0,
        expected_hit_len=0,
        http_status=200,
        status="ok",
        error=None,
        **more,
    )


def test_figures_of_an_open_loop() -> None:
    pace = make_pace(parse_load("constant:10"), 5, max_in_flight=2, duration=9.0)
    records = [
        record(sent=0.5, last=0.9),  # the first of a cold pass, alone
        record(scheduled=1.0, ready=1.0, sent=1.0, last=1.3, lag=0.0),
        record(scheduled=1.1, ready=1.1, sent=1.102, last=1.2, lag=0.002),
        record(scheduled=1.2, ready=1.2, gate=0.3, sent=1.5, last=1.6, lag=0.0),
        record(scheduled=1.3, ready=1.6, sent=1.6, last=1.7, lag=0.0),
    ]
    figures = load_figures(pace, records)
    assert (figures["shape"], figures["loop"], figures["max_in_flight"]) == ("constant:10", "open", 2)
    assert figures["duration_bound_s"] == 9.0
    assert figures["asked_rate"] == pytest.approx(3 / 0.3)
    assert figures["achieved_rate"] == pytest.approx(3 / 0.6)
    assert figures["median_gap_s"] == pytest.approx(0.1)
    assert figures["delay_s"]["count"] == 4
    assert figures["delay_s"]["max"] == pytest.approx(0.3)
    assert (figures["late_sends"], figures["gate_waits"], figures["slot_waits"]) == (1, 1, 1)
    assert figures["in_flight_peak"] == 2


def test_figures_of_a_closed_loop_and_of_nothing() -> None:
    records = [record(sent=0.0, last=1.0), record(sent=2.0, last=3.0), record(sent=None, lag=None)]
    figures = load_figures(steady(4), records)
    assert (figures["shape"], figures["loop"], figures["max_in_flight"]) == ("closed:4", "closed", 4)
    assert (figures["asked_rate"], figures["achieved_rate"], figures["median_gap_s"]) == (None, 0.5, None)
    assert figures["in_flight_peak"] == 1
    empty = load_figures(steady(4), [])
    assert (empty["achieved_rate"], empty["in_flight_peak"], empty["delay_s"]["p99"]) == (None, 0, None)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)), max_size=30))
def test_the_peak_in_flight_by_looking_at_every_moment(spans: list[tuple[int, int]]) -> None:
    records = [record(sent=float(a), last=float(a + length)) for a, length in spans]
    at_once = [sum(a <= at < a + length for a, length in spans) for at in range(40)]
    assert load_figures(steady(1), records)["in_flight_peak"] >= max(at_once)
    longer = [record(sent=float(a), last=float(a + length + 0.5)) for a, length in spans]
    at_once = [sum(a <= at < a + length + 0.5 for a, length in spans) for at in range(40)]
    assert load_figures(steady(1), longer)["in_flight_peak"] == max(at_once)


def test_what_was_not_sent() -> None:
    unsent = {5: "duration", 6: "duration", 7: "load"}
    found = sending_figures(20, 7, unsent, 10)  # type: ignore[arg-type]
    assert found == {"planned": 20, "sent": 7, "unsent": {"limit": 10, "duration": 2, "load": 1}}


def test_lag_by_the_clock_matters_against_the_gap_and_the_first_token() -> None:
    quiet, late = [0.0002] * 97, [0.008] * 3
    assert not late_by_the_clock([], [], None)
    assert not late_by_the_clock(quiet, [0.001], 0.0001)  # under a millisecond nothing matters
    assert late_by_the_clock(quiet + late, [1.0], 0.01)
    assert not late_by_the_clock(quiet + late, [1.0], 0.1)
    assert not late_by_the_clock(quiet + late, [0.01], 0.1)  # 8 ms
    assert late_by_the_clock([0.02] * 9, [0.1], 1.0)
    assert not late_by_the_clock([0.02] * 9, [1.0], 1.0)
    assert not late_by_the_clock([0.02] * 9, [], None)


def test_lag_of_a_closed_loop_matters_as_a_share_of_the_slots_time() -> None:
    assert not slots_stood_empty([], [1.0])
    assert slots_stood_empty([0.01] * 150, [0.1] * 150)
    assert not slots_stood_empty([0.01] * 90, [0.1] * 90)  # 0.9 s in all
    assert not slots_stood_empty([0.01] * 150, [1.0] * 150)
    assert not slots_stood_empty([1.1] + [0.0] * 39, [1.0] * 40)  # one late send of 40


def test_the_clock_begins_where_the_next_request_is_due() -> None:
    pace = make_pace(parse_load("rates:0x10s,5"), 4)
    assert pace.origin(0, 100.0) == 100.0
    assert pace.origin(1, 100.0) == 90.0  # the first was sent instead of at 10 s
    assert pace.schedule_s == pytest.approx(10.6)
    assert make_pace(parse_load("constant:10"), 40, duration=1.05).schedule_s == pytest.approx(1.0)
    assert steady(3).origin(1, 7.0) == 7.0
    assert steady(3).schedule_s is None


def test_slots_remember_since_when_they_are_free() -> None:
    async def turns() -> None:
        slots = Slots(2)
        assert await slots.take() == await slots.take() == float("-inf")
        waiting = asyncio.ensure_future(slots.take())
        await asyncio.sleep(0)
        assert not waiting.done()
        slots.release()
        first = await waiting
        slots.release()
        slots.release()
        assert first <= await slots.take() <= await slots.take()
        free = Slots(None)
        free.release()
        assert await free.take() == float("-inf")

    asyncio.run(turns())
