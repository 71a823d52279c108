"""The engines a simulation can be asked for, by name."""

from __future__ import annotations

from dataclasses import dataclass

from prefixcache.cache.models.model import CacheModel
from prefixcache.cache.models.trace import Trace
from prefixcache.errors import InputError

LRU, VLLM, SGLANG, UNBOUNDED = "lru", "vllm", "sglang", "unbounded"
INDEPENDENT, CHUNKS = "independent_block", "content_defined_chunk"
ENGINES = (LRU, VLLM, SGLANG, UNBOUNDED, INDEPENDENT, CHUNKS)
TRACE_ENGINES = (LRU, VLLM, SGLANG, UNBOUNDED)
STORING_OUTPUTS = (VLLM, SGLANG)
SCATTERED = (INDEPENDENT, CHUNKS)


@dataclass(frozen=True)
class Engine:
    """Which cache, and what it throws away of every match.

    Attributes:
        name: one of ``ENGINES``.
        drop: matched blocks that are computed all the same (EAGLE and MTP: the last one).
    """

    name: str
    drop: int = 0

    @classmethod
    def named(cls, name: str, drop: int = 0, *, known: tuple[str, ...] = ENGINES) -> Engine:
        """Check an engine that a user named.

        Raises:
            InputError: there is no such engine.
        """
        if name not in known:
            raise InputError(f"{name!r} is unknown here", field="--engine", remedy=f"write one of {', '.join(known)}.")
        return cls(name, drop)

    @property
    def chains_itself(self) -> bool:
        """Whether it hashes blocks with their parents, whatever ids a trace gives them."""
        return self.name in STORING_OUTPUTS

    def cache(self, blocks: int | None, unit: int) -> CacheModel:
        """An empty cache of ``blocks`` blocks (SGLang: pages) of ``unit`` tokens; None: unbounded.

        Where nothing is ever evicted, all engines that match leading blocks hit the same.
        """
        from prefixcache.cache.models.dropped import Dropped
        from prefixcache.cache.models.lru import RequestLru
        from prefixcache.cache.models.pool import BlockPool
        from prefixcache.cache.models.radix import RadixCache
        from prefixcache.cache.models.scattered import ScatteredLru

        if self.name in SCATTERED:
            return Dropped(ScatteredLru(None if blocks is None else blocks * unit), self.drop)
        if blocks is None or self.name == UNBOUNDED:
            return Dropped(RequestLru(None), self.drop)
        if self.name == VLLM:
            return BlockPool(blocks, drop=self.drop)
        if self.name == SGLANG:
            return Dropped(RadixCache(blocks * unit), self.drop)
        return Dropped(RequestLru(blocks), self.drop)

    def check_size(self, blocks: int | None, with_sweep: bool) -> None:
        """An unbounded cache has no size to give or to vary.

        Raises:
            InputError: one is given.
        """
        if self.name == UNBOUNDED and blocks is not None:
            raise InputError(
                f"is {blocks}, the engine unbounded", field="--num-blocks", remedy="leave one of them out."
            )
        if self.name == UNBOUNDED and with_sweep:
            raise InputError(
                "an unbounded cache has no sizes to sweep", field="--sweep", remedy="use --engine lru, vllm or sglang."
            )

    def smallest(self, trace: Trace) -> int:
        """The fewest blocks with which the engine serves every request of the trace."""
        from prefixcache.cache.models.pool import needed_blocks
        from prefixcache.cache.models.radix import least_tokens

        if self.name == VLLM:
            return int(needed_blocks(trace).max(initial=1)) + 1
        if self.name == SGLANG:
            return least_tokens(trace) // trace.unit
        return 1
