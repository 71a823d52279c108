"""The load shapes as values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Curve = Literal["linear", "exponential"]
RateKind = Literal["constant", "poisson", "gamma", "rates", "ramp"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A number of slots for some seconds; None: until the requests end."""

    concurrency: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed loop: the next request goes when a slot is free, however long the server takes."""

    text: str
    stages: tuple[Stage, ...]

    @property
    def most(self) -> int:
        """Requests in flight at most."""
        return max(stage.concurrency for stage in self.stages)

    @property
    def ends_s(self) -> float | None:
        """Seconds after which no slot takes another request; None: never."""
        seconds = [stage.seconds for stage in self.stages]
        return None if seconds[-1] is None else sum(s for s in seconds if s is not None)

    def opens_s(self, slot: int, elapsed: float) -> float | None:
        """The first moment, not before ``elapsed``, at which slot ``slot`` (from 0) may take a request; None: never."""
        begins = 0.0
        for stage in self.stages:
            ends = float("inf") if stage.seconds is None else begins + stage.seconds
            if elapsed < ends and slot < stage.concurrency:
                return max(begins, elapsed)
            begins = ends
        return None


@dataclass(frozen=True, slots=True)
class Segment:
    """Requests per second from ``start`` to ``end`` over some seconds; None: at ``start`` until the requests end."""

    start: float
    end: float
    seconds: float | None = None
    curve: Curve = "linear"


@dataclass(frozen=True, slots=True)
class Rated:
    """An open loop at stated rates.

    Args:
        kind: which rule of the grammar it was.
        text: as written.
        segments: the rate over time.
        burstiness: shape of the gamma distribution of the gaps, as in vLLM's benchmark: 1 is a Poisson process, below
            1 burstier, above 1 evener. None: evenly spaced.
        seed: of the gaps.
    """

    kind: RateKind
    text: str
    segments: tuple[Segment, ...]
    burstiness: float | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Replayed:
    """An open loop at the recorded moments of a trace.

    Args:
        text: as written.
        path: JSON Lines, Parquet or CSV.
        column: key or column of the moments.
        unit_s: seconds per unit of a column of numbers.
        scale: every gap is that many times as long.
    """

    text: str
    path: Path
    column: str = "timestamp"
    unit_s: float = 1e-3
    scale: float = 1.0


Open = Rated | Replayed
Shape = Closed | Open


def closed_loop(concurrency: int) -> Closed:
    """So many slots until the requests end."""
    return Closed(f"closed:{concurrency}", (Stage(concurrency),))
