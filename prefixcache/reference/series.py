"""Between what happens in the engine and what its metrics page tells of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from prefixcache.reference.sequence import Sequence


@dataclass(frozen=True)
class Watched:
    """What of a rank is read at each scrape. Tokens but for the numbers of requests.

    ``evicted`` counts since the start.
    """

    running: Callable[[], int]
    waiting: Callable[[], int]
    held: Callable[[], int]
    usable: Callable[[], int]
    evicted: Callable[[], int]

    def usage(self) -> float:
        """The part of the cache that running requests hold, 0 to 1."""
        return self.held() / self.usable()


class RankSeries(Protocol):
    """What the series of one rank are told."""

    def watch(self, state: Watched) -> None:
        """Where gauges read their values."""

    def looked_up(self, sequence: Sequence) -> None:
        """It is admitted: ``cached`` of its prompt tokens were found."""

    def prefilled(self, sequence: Sequence, waited: float) -> None:
        """Its prompt is computed, ``waited`` seconds after it arrived."""

    def generated(self, sequence: Sequence, tokens: int) -> None:
        """So many more tokens of its output exist."""

    def ended(self, sequence: Sequence, reason: str, took: float) -> None:
        """It ended ``took`` seconds after it arrived: ``length``, ``stop``, or ``abort`` once it was admitted."""


class EnginePage(Protocol):
    """The metrics page of an engine."""

    content_type: str

    def rank(self, index: int, model: str) -> RankSeries:
        """The series of one rank."""

    def page(self) -> bytes:
        """The page as it is now."""

    def reset(self) -> None:
        """All that counts begins at 0 again."""

    def restarted(self) -> None:
        """As of a process that has just begun."""

    def families(self) -> list[str]:
        """Names of all families, counters without ``_total``."""

    def drop(self, names: Iterable[str]) -> None:
        """Families, with or without ``_total``, that the page shows no longer."""
