"""Slower tiers behind each domain's cache: which are asked for, and their counters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prefixcache.cache.models.trace import Counts, Served, TieredServed
from prefixcache.errors import InputError
from prefixcache.simulation import engines
from prefixcache.simulation.engines import Engine
from prefixcache.simulation.sizes import as_given, ratio

if TYPE_CHECKING:
    from prefixcache.cache.models.tiers import TieredCache, Write

HOST, EXTERNAL, DEVICE = "host", "external", "device"
FLAGS = {HOST: "--host-blocks", EXTERNAL: "--external-blocks"}
THROUGH, EVICTED = "through", "evicted"
WRITES = (THROUGH, EVICTED)


@dataclass(frozen=True)
class Tiers:
    """The tiers that were asked for, of each domain, fastest first.

    Attributes:
        names: of ``host`` and ``external``.
        blocks: of each; None: unbounded.
        write: ``through``: every tier stores what is served; ``evicted``: what the faster one evicts.
    """

    names: tuple[str, ...]
    blocks: tuple[int | None, ...]
    write: Write = "through"

    @property
    def field(self) -> str:
        """The flag of the first."""
        return FLAGS[self.names[0]]

    def check(self, engine: Engine, blocks: int | None, concurrency: int, with_sweep: bool) -> None:
        """Only what is modelled.

        Raises:
            InputError: something else is asked for.
        """
        what, remedy = "", ""
        if self.write not in WRITES:
            raise InputError(
                f"{self.write!r} is unknown", field="--tier-write", remedy=f"write one of {', '.join(WRITES)}."
            )
        if concurrency > 1:
            what, remedy = "with requests in flight", "write --concurrency 1."
        elif with_sweep:
            what, remedy = "in a sweep", "leave out --sweep."
        elif engine.name in engines.SCATTERED or engine.name == engines.UNBOUNDED or blocks is None:
            size = " without a size" if engine.name not in (*engines.SCATTERED, engines.UNBOUNDED) else ""
            what, remedy = f"behind {engine.name}{size}", "use --engine vllm, lru or sglang with --num-blocks."
        elif engine.drop:
            what, remedy = f"with a hit_drop of {engine.drop}", "choose a dataset without hit_drop."
        elif self.write == EVICTED and engine.name != engines.VLLM:
            what = f"that take what {engine.name} evicts"
            remedy = "use --tier-write through, or --engine vllm."
        if what:
            raise InputError(f"slower tiers {what} are not modelled", field=self.field, remedy=remedy)

    def behind(self, engine: Engine, blocks: int | None, unit: int) -> Callable[[], TieredCache]:
        """Makes an empty cache of a domain with its tiers."""
        from prefixcache.cache.models.pool import BlockPool
        from prefixcache.cache.models.tiers import TieredCache

        def make() -> TieredCache:
            told = self.write == EVICTED and blocks is not None
            device = BlockPool(blocks, tell_evicted=True) if told else engine.cache(blocks, unit)  # type: ignore[arg-type]
            return TieredCache(device, self.blocks, write=self.write)

        return make

    def hits(self, served: Served) -> dict[str, Counts]:
        """Hit tokens of each tier, the device's first, shape (n,) each."""
        assert isinstance(served, TieredServed)
        return {DEVICE: served.hits} | {name: served.tier_hits[:, at] for at, name in enumerate(self.names)}

    def to_json(self) -> dict[str, Any]:
        sizes = {f"{name}_blocks": as_given(blocks) for name, blocks in zip(self.names, self.blocks, strict=True)}
        return {"write": self.write, "host_blocks": None, "external_blocks": None} | sizes


def tiers_of(host: int | str | None, external: int | str | None, write: str | None) -> Tiers | None:
    """From sizes as they were given: a number, ``unbounded``, or None for no such tier.

    Raises:
        InputError: how tiers are written is told, but there is none.
    """
    given = {HOST: host, EXTERNAL: external}
    names = tuple(name for name, size in given.items() if size is not None)
    if not names:
        if write is not None:
            raise InputError(
                "there is no tier to write to", field="--tier-write", remedy="give --host-blocks or --external-blocks."
            )
        return None
    sizes = tuple(size if isinstance(size := given[name], int) else None for name in names)
    return Tiers(names, sizes, write or THROUGH)  # type: ignore[arg-type]


def tier_counters(hits: dict[str, Counts], input_tokens: Counts) -> list[dict[str, Any]]:
    """What a server with these tiers would count, a row a tier: each is asked for what no faster one had."""
    asked, found = int(input_tokens.sum()), []
    for name, tokens in hits.items():
        count = int(np.sum(tokens))
        found.append({"tier": name, "query_tokens": asked, "hit_tokens": count, "hit_ratio": ratio(count, asked)})
        asked -= count
    return found
