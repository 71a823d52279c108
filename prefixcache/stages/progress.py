"""How far a generation is: the same numbers for the terminal and for Prefect."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from prefixcache.artifact import Artifact


@dataclass(frozen=True)
class Progress:
    """A stage's state. ``done``, ``total``: calls, of mapped stages one a shard. ``requests``, ``tokens``: finished so
    far, where the stage makes them; ``seconds`` since it began."""

    stage: str
    done: int
    total: int
    requests: int = 0
    tokens: int = 0
    seconds: float = 0.0

    @property
    def eta_s(self) -> float | None:
        """Seconds to go if it goes on as it did; None before the first call has ended."""
        return self.seconds / self.done * (self.total - self.done) if self.done else None

    @property
    def text(self) -> str:
        """Shards, requests and tokens per second, time to go; empty for a stage of one call."""
        if self.total == 1:
            return ""
        parts = [f"{self.done}/{self.total} shards"]
        if self.requests and self.seconds:
            parts.append(f"{self.requests / self.seconds:,.0f} requests/s")
        if self.tokens and self.seconds:
            parts.append(f"{self.tokens / self.seconds / 1e6:,.1f} M tokens/s")
        if self.eta_s is not None and self.done < self.total:
            parts.append(f"{self.eta_s:,.0f} s to go")
        return ", ".join(parts)


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

    def __post_init__(self) -> None:
        self._tell()

    def finished(self, artifact: Artifact | None = None) -> None:
        """One call more has ended; ``artifact``: what it made."""
        self._done += 1
        if artifact is not None and artifact.tokens is not None:
            self._requests += artifact.rows
            self._tokens += artifact.tokens
        self._tell()

    def _tell(self) -> None:
        seconds = time.perf_counter() - self._began
        for observer in _observers:
            observer(Progress(self.stage, self._done, self.total, self._requests, self._tokens, seconds))
