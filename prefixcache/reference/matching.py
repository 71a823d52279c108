"""What a rank needs of its cache, whatever it matches: chained blocks, blocks anywhere, chunks cut by content."""

from __future__ import annotations

from array import array
from typing import Any, Protocol

from prefixcache.reference.options import EngineOptions


class Held(Protocol):
    """What an admitted request holds; ``hit_tokens`` of its prompt were found."""

    hit_tokens: int


class Cache(Protocol):
    """The cache of one rank.

    Attributes:
        held_tokens, usable_tokens: held by running requests, and room for all.
        evicted_tokens: found room for others since the start.
    """

    @property
    def held_tokens(self) -> int: ...
    @property
    def usable_tokens(self) -> int: ...
    @property
    def evicted_tokens(self) -> int: ...

    def keys(self, tokens: array[int], salt: str | None = None) -> list[Any]:
        """By what the pieces of a request are known."""

    def admit(self, keys: list[Any], prompt_len: int, total_len: int) -> Any | None:
        """Look the prompt up and take room for it and its output; None where there is none, then nothing changed."""

    def grow(self, lease: Any, written: int) -> None:
        """``written`` tokens of the request are there now; new full pieces are known."""

    def release(self, lease: Any) -> None:
        """Give a request's room back."""

    def reset(self) -> bool:
        """Forget all that is known. Refused (False) while anything is held."""


def cache_of(options: EngineOptions) -> Cache:
    """An empty cache of one rank."""
    if options.matching == "chained":
        from prefixcache.reference.cache import BlockPool

        return BlockPool(options.units + 1, options.unit, options.hit_drop)
    from prefixcache.reference import scattered

    cut = scattered.ContentCutter.of(options.unit) if options.matching == "content-defined" else None
    return scattered.ScatteredCache(options.units * options.unit, options.unit, cut, options.hit_drop)
