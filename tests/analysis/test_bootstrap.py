"""Fast resampling against copies that are really made, and coverage where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from prefixcache.analysis.paired import bootstrap
from prefixcache.analysis.paired.bootstrap import Draws, ratio_intervals, throughput_interval

Floats = NDArray[np.float64]
PERCENTILES = (50.0, 90.0)


def slow_draws(a: Floats, b: Floats, resamples: int, seed: int) -> Floats:
    """Every resample as copies of its pairs, by the same generator."""
    picks = np.random.default_rng(seed).integers(0, len(a), (resamples, len(a)))
    rows = []
    for pick in picks:
        left, right = [a[i] for i in pick], [b[i] for i in pick]
        row = [sum(left) / sum(right)]
        row += [np.percentile(left, p) / np.percentile(right, p) for p in PERCENTILES]
        rows.append(row)
    return np.array(rows)


def slow_bca(draws: Floats, a: Floats, b: Floats, confidence: float) -> tuple[float, float]:
    """The textbook's BCa (Efron & Tibshirani 1993, 14.3); the jackknife leaves out one pair after the other."""
    from statistics import NormalDist

    normal, ratio = NormalDist(), float(np.mean(a) / np.mean(b))
    below = np.mean(draws < ratio) + np.mean(draws == ratio) / 2
    z0 = normal.inv_cdf(float(below))
    jack = np.array([np.mean(np.delete(a, i)) / np.mean(np.delete(b, i)) for i in range(len(a))])
    d = jack.mean() - jack
    acceleration = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
    ends = []
    for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = z0 + normal.inv_cdf(tail)
        ends.append(np.quantile(draws, normal.cdf(z0 + z / (1 - acceleration * z))))
    return float(ends[0]), float(ends[1])


def pairs(seed: int, count: int, speedup: float = 2.0) -> tuple[Floats, Floats]:
    """Latencies of a common, skewed part (the prompt's length) and noise of their own."""
    random = np.random.default_rng(seed)
    common = random.lognormal(0, 0.8, count)
    return common * random.lognormal(0, 0.3, count) * speedup, common * random.lognormal(0, 0.3, count)


@pytest.mark.parametrize("count", [2, 3, 17, 60])
def test_intervals_equal_those_of_copies(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_CELLS", count * 300)  # several batches, one stream of numbers
    a, b = pairs(count, count)
    a[0] = a[-1]  # a tie
    draws = slow_draws(a, b, 300, seed=5)
    found = ratio_intervals(a, b, PERCENTILES, Draws(300, 0.9, 5))
    assert [i.method for i in found] == ["bca", "percentile", "percentile"]
    if count > 3:
        assert (found[0].low, found[0].high) == pytest.approx(slow_bca(draws[:, 0], a, b, 0.9))
    for n in (1, 2):
        assert (found[n].low, found[n].high) == pytest.approx(tuple(np.quantile(draws[:, n], [0.05, 0.95])))


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = pairs(1, 50)
    whole = ratio_intervals(a, b, PERCENTILES, Draws(200, 0.95, 1))
    monkeypatch.setattr(bootstrap, "_CELLS", 1)
    for one, other in zip(ratio_intervals(a, b, PERCENTILES, Draws(200, 0.95, 1)), whole, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-12)
    assert ratio_intervals(a, b, PERCENTILES, Draws(200, 0.95, 2)) != whole


def test_pairing_makes_intervals_narrower() -> None:
    a, b = pairs(3, 200)
    together = ratio_intervals(a, b, (), Draws(500, 0.95, 0))[0]
    apart = ratio_intervals(a, np.roll(b, 77), (), Draws(500, 0.95, 0))[0]
    assert together.low is not None and together.high is not None and apart.low is not None and apart.high is not None
    assert together.high - together.low < 0.7 * (apart.high - apart.low)


def test_95_percent_intervals_cover_the_truth_about_as_often() -> None:
    """Means of a·x and x: the true ratio is the speed-up. Binomial bounds for 400 trials: 0.91 to 0.98."""
    covered = medians = 0
    trials = 400
    for trial in range(trials):
        a, b = pairs(1000 + trial, 60)
        mean, median = ratio_intervals(a, b, (50.0,), Draws(400, 0.95, trial))
        assert mean.low is not None and mean.high is not None and median.low is not None and median.high is not None
        covered += mean.low <= 2.0 <= mean.high
        medians += median.low <= 2.0 <= median.high
    assert 0.91 <= covered / trials <= 0.98
    assert 0.91 <= medians / trials <= 0.995


def test_throughput_of_gaps_that_depend_on_each_other() -> None:
    """Gaps of a moving average: blocks cover the truth, drawing single gaps would not."""
    covered = 0
    trials = 200
    for trial in range(trials):
        random = np.random.default_rng(trial)

        def gaps(scale: float, random: np.random.Generator = random) -> Floats:
            noise = random.exponential(scale, 405)
            return np.convolve(noise, np.ones(6) / 6, "valid")

        found = throughput_interval(gaps(3.0), gaps(1.5), Draws(300, 0.95, trial))
        assert found.low is not None and found.high is not None
        covered += found.low <= 2.0 <= found.high
    assert 0.82 <= covered / trials <= 0.99


def test_too_few_pairs_and_ratios_that_are_none_have_no_interval() -> None:
    one, zero = np.array([1.0]), np.zeros(5)
    assert all(i.low is None for i in ratio_intervals(one, one, (50.0,), Draws(10, 0.95, 0)))
    assert ratio_intervals(np.ones(5), zero, (), Draws(10, 0.95, 0))[0].high is None
    assert throughput_interval(one, one, Draws(10, 0.95, 0)).low is None
    same = ratio_intervals(np.ones(5), np.ones(5), (50.0,), Draws(10, 0.95, 0))
    assert [(i.low, i.high) for i in same] == [(1.0, 1.0), (1.0, 1.0)]
