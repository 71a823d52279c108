"""A pace from recorded times: what the model itself made at a known pace is found again."""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np
import polars as pl
import pytest

from prefixcache.cache.models.inflight import InflightServed, Pace, SchedulerSettings, simulate_inflight
from prefixcache.errors import InputError
from prefixcache.simulation.pace import Play, fit_pace
from tests.cache.models.workloads import Request, trace_of

SERVER = SchedulerSettings(60, 4, max_num_batched_tokens=32, max_num_seqs=4)


def player(requests: list[Request], concurrency: int) -> Play:
    trace = trace_of(requests, 4)

    def play(pace: Pace) -> InflightServed:
        return simulate_inflight(trace, domains=None, settings=SERVER.at_pace(pace), concurrency=concurrency)

    return play


def workload(outputs: int) -> list[Request]:
    """60 prompts of 8-90 tokens, all beginning alike, fixed."""
    draws = np.random.default_rng(3)
    return [
        Request((*range(int(draws.integers(4, 40))), *(1000 * number + j for j in range(int(draws.integers(4, 50))))),
                int(draws.integers(1, outputs + 1)))
        for number in range(60)
    ]  # fmt: skip


def recorded(served: InflightServed) -> pl.DataFrame:
    return pl.DataFrame(
        {"sent_s": served.sent_time, "first_token_s": served.first_time, "last_token_s": served.last_time}
    )


@pytest.mark.parametrize(
    ("pace", "concurrency", "outputs"),
    [
        (Pace(0.02, 6e-4, 0.004, 0.0001), 6, 1),
        (Pace(0.005, 2e-4, 0.02, 0.0005), 3, 12),
        (Pace(0.05, 1e-4, 0.03, 0.001), 8, 12),
        (Pace(0.01, 1e-3, 0.003, 0.0001), 1, 12),
    ],
)
def test_a_known_pace_is_found_again(pace: Pace, concurrency: int, outputs: int) -> None:
    play = player(workload(outputs), concurrency)
    fit = fit_pace(play, recorded(play(pace)))
    assert fit.requests == 60
    assert fit.error < 0.01
    assert fit.default_error > 5 * fit.error
    assert fit.order > 0.99
    assert astuple(fit.pace)[:2] == pytest.approx(astuple(pace)[:2], rel=0.1)
    assert fit.pace.delay == pytest.approx(pace.delay, rel=0.1, abs=0.1 * pace.step)
    assert play(fit.pace).hits.sum() == pytest.approx(play(pace).hits.sum(), rel=0.02)


def test_the_unit_of_time_is_found_too_and_requests_without_times_are_left_out() -> None:
    play = player(workload(5), 4)
    pace = Pace(3.0, 0.02, 1.0, 0.01)
    rows = recorded(play(pace)).with_row_index()
    silent = pl.when(pl.col("index") % 10 == 0).then(None).otherwise(pl.col("first_token_s"))
    fit = fit_pace(play, rows.with_columns(silent.alias("first_token_s")))
    assert fit.requests == 54
    assert fit.pace.step == pytest.approx(3.0, rel=0.1)


def test_a_fit_is_the_same_every_time() -> None:
    play = player(workload(3), 4)
    answers = recorded(play(Pace(0.01, 1e-4, 0.002, 0.0001)))
    assert fit_pace(play, answers) == fit_pace(play, answers)


def test_too_few_times_are_refused() -> None:
    play = player(workload(1), 4)
    rows = recorded(play(Pace())).with_columns(pl.lit(None).alias("first_token_s"))
    with pytest.raises(InputError, match="0 requests of the run tell") as caught:
        fit_pace(play, rows)
    assert caught.value.field == "--calibrate"


def test_times_of_the_model_follow_from_its_steps() -> None:
    """One request of 20 tokens, two outputs, by hand: on its way 2, prefill 1 + 20 × 0.1, decode 1 + 0.1."""
    trace = trace_of([Request(tuple(range(20)), 2)], 4)
    served = simulate_inflight(
        trace, domains=None, settings=replace(SERVER, pace=Pace(1.0, 0.1, 2.0, 0.0)), concurrency=1
    )
    assert served.sent_time.tolist() == [0.0]
    assert served.first_time.tolist() == pytest.approx([5.0])
    assert served.last_time.tolist() == pytest.approx([6.1])
