"""Passes served by caches of a given size, one request at a time: what `planning.assume: capacity` designs with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.certificate import KeyedPrompts
from prefixcache.cache.keyed import KeyRows
from prefixcache.cache.models.trace import Trace

Tokens = NDArray[np.int64]
PROMPTS = 4096
"""Prompts whose keys are laid one after the other at a time."""
SIMULATOR = (
    "vLLM block pool of {blocks} blocks per cache domain over real token ids, one request at a time in send order"
)


@dataclass(frozen=True)
class PoolSize:
    """vLLM's block pool of one cache domain. ``num_blocks``: the null block included; ``drop``: blocks of each match
    that the engine throws away."""

    num_blocks: int
    block_size: int
    drop: int
    domains: int

    @classmethod
    def of(cls, manifest: dict[str, Any]) -> PoolSize | None:
        """What a dataset was planned against; None: an unbounded cache."""
        planning = manifest["planning"]
        if planning.get("assume") != "capacity":
            return None
        domains = int(manifest["routing"]["cache_domains"])
        return cls(
            int(planning["num_blocks"]), int(manifest["block_size"]), int(manifest.get("hit_drop") or 0), domains
        )


def serve_passes(
    names: Sequence[str], requests: Trace, domains: Tokens, warmup: Trace, warm_domains: Tokens, pool: PoolSize
) -> dict[str, Tokens]:
    """Hit tokens per request of each pass, each from empty caches on: ``cold``, ``hot`` after the warmup prompts,
    ``replay`` after the requests themselves.

    Args:
        requests, warmup: in send order, with one numbering of blocks. domains, warm_domains: the cache of each.

    Raises:
        InputError: a request needs more blocks than a pool has.
    """
    from prefixcache.cache.models.domains import DomainCaches
    from prefixcache.cache.models.pool import BlockPool

    found = {}
    for name in names:
        caches = DomainCaches(lambda: BlockPool(pool.num_blocks, drop=pool.drop), pool.domains)
        if name == "hot" and len(warmup):
            caches.serve(warmup, warm_domains.astype(np.int32))
        if name == "replay":
            caches.serve(requests, domains.astype(np.int32))
        found[name] = caches.serve(requests, domains.astype(np.int32)).hits
    return found


def bounded_passes(
    names: Sequence[str],
    requests: KeyedPrompts,
    outputs: Tokens,
    domains: Tokens,
    warmup: KeyedPrompts,
    warm_domains: Tokens,
    pool: PoolSize,
) -> dict[str, Tokens]:
    """:func:`serve_passes` of prompts by the keys of their real token ids. ``outputs``: generated tokens of each."""
    assert requests.rows is not None
    sizes = [np.zeros(0, dtype=np.int64), requests.rows.sizes]
    keys, lengths = [_in_a_row(requests.rows)], [requests.lengths]
    if warmup.rows is not None and len(warmup):
        keys.insert(0, _in_a_row(warmup.rows))
        lengths.insert(0, warmup.lengths)
        sizes[0] = warmup.rows.sizes
    first = len(sizes[0])
    generated = np.concatenate([np.ones(first, dtype=np.int64), outputs])
    ends = np.cumsum(np.concatenate(sizes))
    trace = Trace.of_keys(np.concatenate(keys), ends, np.concatenate(lengths), generated, pool.block_size)
    return serve_passes(names, trace.part(first, len(trace)), domains, trace.part(0, first), warm_domains, pool)


def _in_a_row(rows: KeyRows) -> NDArray[np.uint64]:
    """All keys, one prompt after the other."""
    sizes = rows.sizes
    parts = [np.zeros(0, dtype=np.uint64)]
    for first in range(0, len(sizes), PROMPTS):
        prompts = np.arange(first, min(first + PROMPTS, len(sizes)))
        own = sizes[prompts]
        table = rows.slab(0, int(own.max(initial=0)), prompts).T
        parts.append(table[np.arange(table.shape[1])[None, :] < own[:, None]])
    return np.concatenate(parts)
