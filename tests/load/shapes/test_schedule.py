"""Schedules against brute force and statistics with fixed seeds."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.load.shapes.grammar import parse_load
from prefixcache.load.shapes.model import Closed, Rated, Segment
from prefixcache.load.shapes.rates import Floats, invert, segment_total
from prefixcache.load.shapes.schedule import arrival_offsets, unit_arrivals


def offsets(text: str, count: int) -> Floats:
    shape = parse_load(text)
    assert not isinstance(shape, Closed)
    return arrival_offsets(shape, count)


def rate_at(segments: tuple[Segment, ...], moment: float) -> float:
    """The rate of a profile, from its definition."""
    for segment in segments:
        if segment.seconds is None:
            return segment.start
        if moment < segment.seconds:
            share = moment / segment.seconds
            if segment.curve == "exponential":
                return float(segment.start * (segment.end / segment.start) ** share)
            return segment.start + (segment.end - segment.start) * share
        moment -= segment.seconds
    return 0.0


def by_small_steps(segments: tuple[Segment, ...], count: int, until: float, step: float = 2e-4) -> list[float]:
    """The oracle: add up the rate in small steps and note where it passes 0, 1, 2, ..."""
    found: list[float] = []
    area = moment = 0.0
    while moment < until and len(found) < count:
        area += rate_at(segments, moment + step / 2) * step
        moment += step
        while area > 0 and area >= len(found):
            found.append(moment)
    return found[:count]


@pytest.mark.parametrize(
    "text",
    [
        "constant:20",
        "rates:10x1s,40x0.5s,5x2s",
        "rates:8x0.5s,0x1s,30",
        "ramp:5..60,seconds=2",
        "ramp:60..5,seconds=2",
        "ramp:5..60,seconds=2,curve=exponential",
        "ramp:60..5,seconds=2,curve=exponential",
        "ramp:0..40,seconds=2",
        "ramp:40..0,seconds=2",
    ],
)
def test_even_arrivals_are_where_the_integral_is_whole(text: str) -> None:
    shape = parse_load(text)
    assert isinstance(shape, Rated)
    mine = arrival_offsets(shape, 80)
    oracle = by_small_steps(shape.segments, 80, 20.0)
    # At its very end a profile takes no arrival more; the oracle's last step may round into one.
    assert len(oracle) - len(mine) in (0, 1)
    assert mine == pytest.approx(oracle[: len(mine)], abs=2e-3)


def test_closed_forms() -> None:
    assert offsets("constant:200", 4).tolist() == [0.0, 0.005, 0.01, 0.015]
    assert offsets("rates:10x30s,50x30s", 5000).shape == (10 * 30 + 50 * 30,)
    assert offsets("rates:10x30s,50x30s", 302)[299:].tolist() == pytest.approx([29.9, 30.0, 30.02])
    assert offsets("rates:0x10s,5", 2).tolist() == [10.0, 10.2]
    # Linear from 0 to r in T: the k-th at sqrt(2 k T / r).
    assert offsets("ramp:0..10,seconds=20", 50) == pytest.approx(np.sqrt(4 * np.arange(50)))
    # (r1 - r0) T / ln(r1 / r0) arrivals in an exponential ramp.
    ends = offsets("ramp:10..1000,seconds=10,curve=exponential", 100_000)
    assert np.sum(ends < 10) == int(np.ceil(990 * 10 / np.log(100)))
    assert np.diff(ends[ends > 10.1])[:100] == pytest.approx(1e-3)
    assert offsets("rates:1e-12x1s", 5).tolist() == [0.0]
    # A ramp between almost equal rates is no ramp; nothing cancels.
    assert offsets("ramp:100..100.0000001,seconds=1,curve=exponential", 50) == pytest.approx(np.arange(50) / 100)


@given(
    st.lists(
        st.tuples(
            st.floats(0.01, 500), st.floats(0.01, 500), st.floats(0.01, 20), st.sampled_from(["linear", "exponential"])
        ),
        min_size=1,
        max_size=5,
    ),
    st.integers(0, 400),
    st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_schedules_rise_from_zero_and_number_what_the_integral_says(
    profile: list[tuple[float, float, float, str]], count: int, goes_on: bool
) -> None:
    segments = tuple(Segment(a, b, s, c) for a, b, s, c in profile)  # type: ignore[arg-type]
    if goes_on:
        segments += (Segment(3.0, 3.0),)
    found = invert(segments, np.arange(count, dtype=np.float64))
    assert (np.diff(found) >= 0).all()
    assert found.size == 0 or found[0] == 0
    if goes_on:
        assert found.size == count
        return
    total = sum(segment_total(s) for s in segments)
    assert found.size == min(count, int(np.ceil(total * (1 - 1e-9))))
    assert found.size == 0 or found[-1] <= sum(s.seconds or 0 for s in segments)


@given(st.floats(0.05, 20), st.integers(0, 300), st.integers(0, 2**62))
@settings(max_examples=60, deadline=None)
def test_unit_arrivals_rise_from_zero(burstiness: float, count: int, seed: int) -> None:
    found = unit_arrivals(count, burstiness, seed)
    assert found.shape == (count,)
    assert (np.diff(found) >= 0).all()
    assert count == 0 or found[0] == 0
    assert np.array_equal(unit_arrivals(count + 50, burstiness, seed)[:count], found)


@pytest.mark.parametrize("burstiness", [0.25, 1.0, 4.0])
def test_gaps_have_the_mean_and_variance_of_vllms_burstiness(burstiness: float) -> None:
    gaps = np.diff(offsets(f"gamma:50,burstiness={burstiness}", 40_000))
    error = 5 / np.sqrt(gaps.size)
    assert gaps.mean() * 50 == pytest.approx(1, abs=error / np.sqrt(burstiness))
    assert (gaps.std() / gaps.mean()) ** 2 == pytest.approx(1 / burstiness, rel=0.1)


def test_poisson_counts_are_poisson() -> None:
    """Counts per second: mean and variance equal; gaps: those of an exponential (Kolmogorov-Smirnov)."""
    moments = offsets("poisson:20", 40_000)
    counts = np.bincount(moments.astype(int))[:-1]
    assert counts.mean() == pytest.approx(20, rel=0.02)
    assert counts.var() / counts.mean() == pytest.approx(1, abs=0.1)
    gaps = np.sort(np.diff(moments))
    empirical = np.arange(1, gaps.size + 1) / gaps.size
    assert np.abs(empirical - (1 - np.exp(-20 * gaps))).max() < 1.63 / np.sqrt(gaps.size)
    assert np.array_equal(moments, offsets("gamma:20,burstiness=1", 40_000))


def test_a_bursty_ramp_has_the_ramps_rate() -> None:
    """Over many seeds the arrivals of each second are as many as the integral of the rate says."""
    counts = np.zeros(4)
    for seed in range(300):
        moments = offsets(f"ramp:10..50,seconds=4,burstiness=1,seed={seed}", 400)
        counts += np.bincount(moments[moments < 4].astype(int), minlength=4)
    # One arrival at 0 is given; behind it the process is Poisson.
    assert counts / 300 == pytest.approx([1 + 15, 25, 35, 45], rel=0.03)


def test_seeds_differ_and_a_rate_only_scales() -> None:
    assert not np.array_equal(offsets("poisson:20", 9), offsets("poisson:20,seed=1", 9))
    assert offsets("poisson:20", 99) == pytest.approx(offsets("poisson:5", 99) / 4)


def test_the_same_in_another_process() -> None:
    code = "from prefixcache.load.shapes.schedule import unit_arrivals\nprint(unit_arrivals(6, 0.5, 3).tobytes().hex())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "77"}
    )
    assert done.stdout.strip() == unit_arrivals(6, 0.5, 3).tobytes().hex()
