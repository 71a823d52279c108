"""One request of a probe and the cached tokens that its answer and the server's counters tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Reading:
    """What one prompt hit. Token counts; None is "nobody told".

    Args:
        shared: leading tokens that it has in common with the prompt it was compared with.
        length: tokens of the prompt.
        usage: cached tokens of its answer's usage.
        counted: hits by the server's counters, between two moments at which nothing ran.
        external: hits of an external tier by the counters, which usage counts too.
        slack: how far ``counted`` may be off, where it follows from a rounded rate.
        seconds: until the answer of one token was whole.
        rank: the rank it was pinned to.
        foreign: other clients' requests were counted in between, so ``counted`` is not of this one alone.
        streamed: its answer came as a stream.
        prefer_usage: ``counted`` is known to tell nothing on this server.
    """

    shared: int
    length: int
    usage: int | None
    counted: float | None
    external: float = 0.0
    slack: float = 0.0
    seconds: float = 0.0
    rank: int | None = None
    foreign: bool = False
    streamed: bool = False
    prefer_usage: bool = False

    @property
    def hit(self) -> float | None:
        """Cached tokens: the counters' where they tell of this prompt alone, else the usage's."""
        if self.counted is None or self.foreign or (self.prefer_usage and self.usage is not None):
            return None if self.usage is None else float(self.usage)
        return self.counted

    @property
    def disagrees(self) -> bool:
        """Both tell, and not the same."""
        if self.usage is None or self.counted is None or self.foreign:
            return False
        return abs(self.usage - self.counted - self.external) > self.slack

    def is_hit(self, tokens: float) -> bool:
        """Whether it hit so many tokens, as exactly as it can be told."""
        return self.hit is not None and abs(self.hit - tokens) <= self.slack

    def to_json(self) -> dict[str, Any]:
        return {
            "shared": self.shared,
            "length": self.length,
            "usage_cached_tokens": self.usage,
            "counted_hits": _plain(self.counted),
            "external_hits": _plain(self.external),
            "seconds": round(self.seconds, 6),
            "rank": self.rank,
        }


def _plain(value: float | None) -> float | int | None:
    return int(value) if value is not None and value.is_integer() else value
