"""The pace of a server and its client, calibrated from the times that a run recorded of its requests.

The model of requests in flight says when each request was sent and when its first and last token came, given how long
a step takes, what a token adds, how long the client's next request is on its way, and how far apart arrivals are. While
the order of things stays the same, these times are linear in those four, so least squares improve them; from where to
begin is found on a fixed grid, since another pace is another order. Nothing here is drawn at random. What no time
depends on (the spacing, where queues are long) stays as it was on the grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prefixcache.cache.models.inflight import InflightServed, Pace
from prefixcache.cache.models.inflight.state import Times
from prefixcache.errors import InputError

TOKENS = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1)
DELAYS = (0.02, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
SPACINGS = (0.001, 0.01, 0.1, 0.3)
"""Of a token, the way and the spacing, in steps."""
BEST, ROUNDS = 6, 12
NUDGE = 1e-5
TIMES = ("sent_s", "first_token_s", "last_token_s")

Play = Callable[[Pace], InflightServed]


@dataclass(frozen=True)
class PaceFit:
    """A pace in seconds, and how well times at that pace are those that were measured.

    Attributes:
        requests: that were compared.
        error: sum of the differences of all times to first and to last token, over the sum of the measured ones.
        order: share of the pairs of requests that end in the measured order.
        default_error, default_order: the same of the default pace, in the unit of time that suits it best.
    """

    pace: Pace
    requests: int
    error: float
    order: float
    default_error: float
    default_order: float

    def to_json(self) -> dict[str, Any]:
        return {
            **{f"{name}_s": getattr(self.pace, name) for name in ("step", "token", "delay", "spacing")},
            "requests": self.requests,
            "time_error": self.error,
            "order_agreement": self.order,
            "default_time_error": self.default_error,
            "default_order_agreement": self.default_order,
        }


def fit_pace(play: Play, answers: pl.DataFrame) -> PaceFit:
    """The pace at which the model's times are nearest to the recorded ones.

    Args:
        play: serves the run's requests at a pace; rows in send order.
        answers: ``sent_s``, ``first_token_s``, ``last_token_s`` of the same requests (null: unknown).

    Raises:
        InputError: fewer than 4 requests tell all three.
    """
    sent, first, last = (answers[name].cast(pl.Float64).fill_null(float("nan")).to_numpy() for name in TIMES)
    known = np.flatnonzero(np.isfinite(sent) & np.isfinite(first) & np.isfinite(last))
    if len(known) < 4:
        raise InputError(
            f"{len(known)} requests of the run tell when they were sent, had their first and their last token",
            field="--calibrate",
            remedy="choose a run with at least 4 streamed answers, or leave --calibrate out.",
        )
    measured = np.concatenate([first[known] - sent[known], last[known] - sent[known]])
    target = _Target(play, known, measured, last[known])
    default = target.stretched(Pace())
    starts = [Pace(1.0, *shape) for shape in product(TOKENS, DELAYS, SPACINGS)]
    begun = sorted((target.stretched(pace) for pace in starts), key=lambda fitted: fitted[1])[:BEST]
    best = min((target.improved(*one) for one in (*begun, default)), key=lambda fitted: fitted[1])
    return PaceFit(best[0], len(known), best[1], target.order(best[0]), default[1], target.order(default[0]))


@dataclass(frozen=True)
class _Target:
    play: Play
    known: NDArray[np.intp]
    measured: Times
    ends: Times

    def times(self, pace: Pace) -> Times:
        """To first and to last token, those of all requests one behind the other."""
        served = self.play(pace)
        sent = served.sent_time[self.known]
        return np.concatenate([served.first_time[self.known] - sent, served.last_time[self.known] - sent])

    def error(self, times: Times) -> float:
        return float(np.abs(times - self.measured).sum() / self.measured.sum())

    def stretched(self, pace: Pace) -> tuple[Pace, float]:
        """The pace in the unit of time with the least sum of differences: a weighted median of quotients."""
        times = self.times(pace)
        quotients = np.divide(self.measured, times, out=np.zeros_like(times), where=times > 0)
        order = np.argsort(quotients, kind="stable")
        weight = np.cumsum(times[order])
        unit = float(quotients[order[int(np.searchsorted(weight, weight[-1] / 2))]]) or 1.0
        stretched = Pace(unit * pace.step, unit * pace.token, unit * pace.delay, unit * pace.spacing)
        return stretched, self.error(unit * times)

    def improved(self, pace: Pace, error: float) -> tuple[Pace, float]:
        """By least squares over the present order of things, as long as it helps."""
        for _ in range(ROUNDS):
            now = _array(pace)
            wanted = self._least_squares(pace)
            for share in (1.0, 0.5, 0.2, 0.05):
                found = _pace(now + share * (wanted - now))
                if found is None:
                    continue
                there = self.error(self.times(found))
                if there < error * (1 - 1e-6):
                    pace, error = found, there
                    break
            else:
                break
        return pace, error

    def _least_squares(self, pace: Pace) -> Times:
        now, at = _array(pace), self.times(pace)
        scale = max(pace.step, pace.token)
        columns = []
        for which in range(4):
            nudged = now.copy()
            nudge = NUDGE * (now[which] or scale * (1e-3 if which == 1 else 1.0))
            nudged[which] += nudge
            found = _pace(nudged)
            assert found is not None
            columns.append((self.times(found) - at) / nudge)
        slope = np.stack(columns, axis=1)
        weight = 1 / np.sqrt(np.maximum(np.abs(at - self.measured), 1e-3 * self.measured.mean()))  # outliers count less
        move = np.linalg.lstsq(slope * weight[:, None], (self.measured - at) * weight, rcond=None)[0]
        wanted: Times = now + move
        return wanted

    def order(self, pace: Pace) -> float:
        """Share of the pairs that end in the measured order; equal ends are in any order."""
        simulated = self.play(pace).last_time[self.known]
        ours, theirs = (np.sign(ends[:, None] - ends[None, :]) for ends in (simulated, self.ends))
        told = (ours != 0) & (theirs != 0)
        return float((ours[told] == theirs[told]).mean()) if told.any() else 1.0


def _array(pace: Pace) -> Times:
    return np.array([pace.step, pace.token, pace.delay, pace.spacing])


def _pace(values: Times) -> Pace | None:
    kept = np.maximum(values, 0.0).tolist()
    return Pace(*kept) if kept[0] + kept[1] > 0 and np.isfinite(kept).all() else None
