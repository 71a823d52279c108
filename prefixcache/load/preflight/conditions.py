"""What a dataset's hits depend on beside its content: the server as it is, where that is not as planned."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conditions:
    """What hits depend on beside the content. A field that is None (or its default) is as the dataset was planned.

    Args:
        unit: tokens in which the server matches.
        pool_tokens: usable KV tokens of one cache.
        drop: matched units that the server throws away again.
        engine: whose rule evicts, ``vllm``, ``sglang`` or ``lru``.
        ranks: caches behind each endpoint, among which its requests go in turn.
        folded: fewer caches than planned: domain k is cache k mod this.
        caching: False: the server caches no prefixes.
        longest: input and output tokens above which the server refuses a request.
        filled: the same requests were sent before and are still cached.
    """

    unit: int | None = None
    pool_tokens: int | None = None
    drop: int | None = None
    engine: str | None = None
    ranks: tuple[int, ...] | None = None
    folded: int | None = None
    caching: bool = True
    longest: int | None = None
    filled: bool = False

    def merged(self, other: Conditions) -> Conditions:
        """Both at once; of two values the one that leaves fewer hits."""
        return Conditions(
            unit=_largest(self.unit, other.unit),
            pool_tokens=_smallest(self.pool_tokens, other.pool_tokens),
            drop=_largest(self.drop, other.drop),
            engine=other.engine or self.engine,
            ranks=other.ranks or self.ranks,
            folded=_smallest(self.folded, other.folded),
            caching=self.caching and other.caching,
            longest=_smallest(self.longest, other.longest),
            filled=self.filled or other.filled,
        )


def _largest(one: int | None, other: int | None) -> int | None:
    return max((n for n in (one, other) if n is not None), default=None)


def _smallest(one: int | None, other: int | None) -> int | None:
    return min((n for n in (one, other) if n is not None), default=None)
