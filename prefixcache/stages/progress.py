"""How far a generation is: the same numbers for the terminal and for Prefect."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from prefixcache.artifact import Artifact

ETA_AFTER_SECONDS = 1.0


@dataclass(frozen=True)
class Progress:
    """A stage's state.

    ``done``, ``total``: calls, of mapped stages one a shard. ``requests``, ``tokens``: made in the ``seconds`` since it
    began, where it makes them; what was known from an earlier run is ``done`` and nothing more.
    ``pace``: the calls that were made after the first, and the seconds these took; the first one's include the start of
    the workers.
    """

    stage: str
    done: int
    total: int
    requests: int = 0
    tokens: int = 0
    seconds: float = 0.0
    pace: tuple[int, float] = (0, 0.0)

    @property
    def eta_s(self) -> float | None:
        """Seconds to go at the pace so far; None before it is known: workers that begin together end together, so the
        first calls alone tell nothing."""
        calls, seconds = self.pace
        return seconds / calls * (self.total - self.done) if calls and seconds >= ETA_AFTER_SECONDS else None

    @property
    def text(self) -> str:
        """Shards, requests and tokens per second, time to go; empty for a stage of one call."""
        rates = self._told("requests/s", "M tokens/s")
        return "" if self.total == 1 else ", ".join([f"{self.done}/{self.total} shards", *rates])

    @property
    def rates(self) -> str:
        """The same figures without the shards, for a line that tells those otherwise and has 80 columns."""
        return "" if self.total == 1 else ", ".join(self._told("req/s", "M tok/s"))

    def _told(self, requests: str, tokens: str) -> Iterator[str]:
        if self.requests and self.seconds:
            yield f"{self.requests / self.seconds:,.0f} {requests}"
        if self.tokens and self.seconds:
            yield f"{self.tokens / self.seconds / 1e6:,.1f} {tokens}"
        if self.eta_s is not None and self.done < self.total:
            yield f"{self.eta_s:,.0f} s to go"


Observer = Callable[[Progress], None]
_observers: list[Observer] = []


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Call ``observer`` whenever something has ended in a stage that runs inside this block."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


@dataclass
class Meter:
    """Counts what a stage has finished, and tells whoever observes."""

    stage: str
    total: int
    _done: int = 0
    _requests: int = 0
    _tokens: int = 0
    _began: float = field(default_factory=time.perf_counter)
    _first: float | None = None
    _paced: int = 0

    def __post_init__(self) -> None:
        self._tell()

    def finished(self, artifact: Artifact | None = None, *, known: bool = False) -> None:
        """One call more has ended.

        Args:
            artifact: what it made.
            known: it was made by an earlier run, so that it says nothing of how fast this one is.
        """
        self._done += 1
        if not known:
            self._made(artifact)
        self._tell()

    def _made(self, artifact: Artifact | None) -> None:
        if self._first is None:
            self._first = time.perf_counter()
        else:
            self._paced += 1
        if artifact is not None and artifact.tokens is not None:
            self._requests += artifact.rows
            self._tokens += artifact.tokens

    def _tell(self) -> None:
        now = time.perf_counter()
        pace = (self._paced, now - self._first if self._first is not None else 0.0)
        state = Progress(self.stage, self._done, self.total, self._requests, self._tokens, now - self._began, pace)
        for observer in _observers:
            observer(state)
