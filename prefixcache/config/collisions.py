"""Matching semantics of the server's cache and what is done about collisions (RFC 3.3.14-3.3.15; domain.md 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from prefixcache.config.base import ConfigModel, Count, NonNegative, RuleError

MatchSemantics = Literal["chained_prefix", "independent_block", "content_defined_chunk"]
OnCollision = Literal["error", "warn", "accept_with_warning"]


class ChunkConfig(ConfigModel):
    """How a server with `content_defined_chunk` cuts prompts, in tokens; u is the hit unit."""

    min: Count | None = None
    """Shortest chunk; at most the hit unit. Default u."""
    mean: Count | None = None
    """Mean chunk length, forced cuts left out. Default twice the shortest."""
    max: Count | None = None
    """Longest chunk: a cut is forced there. Default four times the mean."""
    window: Count | None = None
    """Tokens the rolling hash looks at; at most the shortest chunk. Default the smaller of 8 and that."""


@dataclass(frozen=True)
class ChunkLengths:
    """Resolved chunk lengths, tokens."""

    min: int
    mean: int
    max: int
    window: int


def chunk_lengths(given: Mapping[str, Any] | None, unit: int) -> ChunkLengths:
    """``chunk`` as written, with its defaults for a hit unit of ``unit`` tokens."""
    given = given or {}
    shortest = given.get("min") or unit
    mean = given.get("mean") or 2 * shortest
    longest = given.get("max") or max(4 * mean, unit)
    return ChunkLengths(shortest, mean, longest, given.get("window") or min(8, shortest))


class _Bounds(Protocol):
    @property
    def min(self) -> int: ...
    @property
    def mean(self) -> int: ...
    @property
    def max(self) -> int: ...


def chunks_of(tokens: int, lengths: _Bounds) -> list[int]:
    """The shortest chunks of nearly equal length that fill a stretch; empty if none do."""
    count = tokens // lengths.min
    if not count or -(-tokens // count) > min(lengths.max, tokens if lengths.mean > lengths.min else lengths.min):
        return []
    return [(number + 1) * tokens // count - number * tokens // count for number in range(count)]


class CollisionConfig(ConfigModel):
    enabled: Literal[True] = True
    cache_match_semantics: MatchSemantics = "chained_prefix"
    """What the server compares: chained block hashes, blocks anywhere, or chunks cut by content."""
    first_non_shared_block_unique: Literal[True] = True
    window_blocks: Count = 2
    """Length of the repeated-window diagnostic, in blocks."""
    max_retries: NonNegative = 3
    """Repairs tried per request before on_collision applies."""
    on_collision: OnCollision = "error"
    """What happens to collisions that no repair removed."""
    chunk: ChunkConfig | None = None
    """Only with content_defined_chunk."""


def check_collision_rules(rules: CollisionConfig, unit: int, mode: str) -> None:
    """Rules between the collision keys, the hit unit (tokens) and the execution mode.

    Raises:
        RuleError: a construction that cannot hold.
    """
    place = "suffix.collision_detection.chunk"
    if rules.chunk is not None and rules.cache_match_semantics != "content_defined_chunk":
        raise RuleError(
            f"is given, but cache_match_semantics is {rules.cache_match_semantics}",
            field=place,
            remedy="leave it out, or write cache_match_semantics: content_defined_chunk",
        )
    if rules.cache_match_semantics != "content_defined_chunk":
        return
    lengths = chunk_lengths(rules.chunk.model_dump() if rules.chunk else None, unit)
    if mode == "replay":
        raise RuleError(
            "replay hits all whole units, but a server with content_defined_chunk hits whole chunks",
            field="execution.mode",
            remedy="choose another mode, or cache_match_semantics: independent_block or chained_prefix",
        )
    bounds = [
        ("window", lengths.window, "min", lengths.min),
        ("min", lengths.min, "hit_unit", unit),
        ("min", lengths.min, "mean", lengths.mean),
        ("mean", lengths.mean, "max", lengths.max),
    ]
    for name, value, other, limit in bounds:
        if value > limit:
            raise RuleError(
                f"{name} {value} is more than {other} {limit}; window <= min <= hit_unit and min <= mean <= max are "
                "needed so that a chunk can end at every planned prefix",
                field=f"{place}.{name}",
                remedy="change the chunk lengths, or hit_unit",
            )
    if not chunks_of(unit, lengths):
        raise RuleError(
            f"chunks of {lengths.min} to {lengths.max} tokens, {lengths.mean} in the mean, never fill a hit unit of "
            f"{unit} tokens, so that no chunk could end at a planned prefix",
            field=place,
            remedy="make hit_unit a multiple of chunk.min",
        )
