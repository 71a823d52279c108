"""The passes of a dataset in a given order: watermarks from the planned prefixes, certificate from the token ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.bounded import PoolSize, bounded_passes
from prefixcache.cache.certificate import KeyedPrompts, simulate_pass
from prefixcache.cache.matching.semantics import Matching
from prefixcache.cache.watermark import WatermarkResult, simulate_cold, simulate_replay, simulate_warm
from prefixcache.dataset.moved_rows import ShardRows

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Traits:
    """What the model needs to know of a dataset; lengths in tokens.

    ``head``: K. ``drop``: matched tokens that the engine throws away. ``rules``: its collision rules. ``simulator``:
    hits are those of the certificate's simulator, because collisions were accepted or caches of size ``pool`` evict.
    """

    unit: int
    head: int
    tail: int
    drop: int
    non_shared: int
    passes: tuple[str, ...]
    target_pass: str
    rules: dict[str, Any]
    simulator: bool
    pool: PoolSize | None

    @classmethod
    def of(cls, manifest: dict[str, Any]) -> Traits:
        unit, pool = int(manifest["hit_unit"]), PoolSize.of(manifest)
        passes = tuple(row["name"] for row in manifest["passes"])
        semantics = (manifest.get("target") or {}).get("semantics")
        wanted = "hot" if semantics == "static_prefix_ratio" else "cold"
        return cls(
            unit=unit,
            head=len(manifest["tokenizer"].get("head") or ()) // unit * unit,
            tail=len(manifest["tokenizer"].get("tail") or ()),
            drop=int(manifest.get("hit_drop") or 0) * unit,
            non_shared=int(manifest["prefix"]["minimum_non_shared_length"]),
            passes=passes,
            target_pass=wanted if wanted in passes else passes[0],
            rules=manifest.get("collision_detection") or {},
            simulator=pool is not None or (manifest.get("collision_result") or {}).get("hits_from") == "simulator",
            pool=pool,
        )

    def ceilings(self, lengths: Numbers) -> Numbers:
        """M: the longest prefix each request may share (domain.md 2)."""
        own = (lengths - self.tail - max(self.non_shared, 1)) // self.unit * self.unit
        return np.maximum(own, self.head)


@dataclass(frozen=True)
class WarmRow:
    """A row of the new warmup shard: which old row, for which cache domain."""

    row: int
    domain: int
    copied: bool


@dataclass(frozen=True)
class Simulated:
    """A dataset in a new order. Arrays are per request as it stood in the old one; ``order`` lists old rows as sent."""

    traits: Traits
    order: Numbers
    groups: NDArray[np.int32]
    domains: NDArray[np.int32]
    lengths: Numbers
    passes: dict[str, WatermarkResult]
    certified: dict[str, Numbers]
    prefixes: Numbers
    minimum: Numbers
    """Per request: hits of the target's pass with every prefix at its shortest."""
    maximum: Numbers
    """The same with every prefix at its ceiling."""
    warm: list[WarmRow]

    @property
    def holds(self) -> bool:
        return all(np.array_equal(self.hits(name), self.certified[name]) for name in self.passes)

    def hits(self, name: str) -> Numbers:
        """Designed hits of a pass."""
        return self.certified[name] if self.traits.simulator else self.passes[name].hit

    @property
    def target(self) -> WatermarkResult:
        return self.passes[self.traits.target_pass]


def simulate(
    traits: Traits,
    *,
    order: Numbers,
    groups: NDArray[np.int32],
    domains: NDArray[np.int32],
    lengths: Numbers,
    outputs: Numbers,
    prefixes: Numbers,
    ids: Iterable[NDArray[np.int32]],
    warmup: ShardRows | None,
    group_ids: Sequence[str],
) -> Simulated:
    """Simulate all passes of a dataset in an order.

    Args:
        order: old rows in the new order.
        groups, domains, lengths, prefixes, ids: per old row; domains are the new order's.
        warmup: the warmup prompts there are.
        group_ids: names of the group numbers.
    """
    _, lanes = np.unique(groups.astype(np.int64) * (int(domains.max(initial=0)) + 1) + domains, return_inverse=True)
    lanes = lanes.reshape(-1).astype(np.int64)

    def run(name: str, planned: Numbers) -> WatermarkResult:
        if name == "replay":
            return simulate_replay(lengths, planned, lanes, unit=traits.unit, drop=traits.drop)
        if name == "hot":
            return simulate_warm(planned, lanes, drop=traits.drop)
        return simulate_cold(planned, lanes, order, domains=domains, head=traits.head, drop=traits.drop)

    warm = _warm_rows(traits, groups, domains, prefixes, warmup, group_ids)
    matching = Matching.of(traits.rules, traits.unit)
    requests = KeyedPrompts.of(zip(ids, domains.tolist(), strict=True), traits.unit, matching).reordered(order)
    warm_ids = list(warmup.ids()) if warmup is not None else []
    lane_prompts = KeyedPrompts.of([(warm_ids[w.row], w.domain) for w in warm], traits.unit, matching)
    certified = {}
    bounded_hits = None
    if traits.pool is not None:
        warm_domains = np.array([w.domain for w in warm], dtype=np.int64)
        sent = (outputs[order], domains[order].astype(np.int64))
        bounded_hits = bounded_passes(traits.passes, requests, *sent, lane_prompts, warm_domains, traits.pool)
    for name in traits.passes:
        if bounded_hits is not None:
            in_order = bounded_hits[name]
        else:
            in_order = simulate_pass(name, requests, lane_prompts, traits.unit, traits.drop // traits.unit)
        certified[name] = np.empty_like(in_order)
        certified[name][order] = in_order
    # What prefixes could be worth: after a replay they are warm, and what hits beyond them is not theirs.
    bounded = "hot" if traits.target_pass == "replay" else traits.target_pass
    return Simulated(
        traits=traits,
        order=order,
        groups=groups,
        domains=domains,
        lengths=lengths,
        passes={name: run(name, prefixes) for name in traits.passes},
        certified=certified,
        prefixes=prefixes,
        minimum=run(bounded, np.full_like(prefixes, traits.head)).hit,
        maximum=run(bounded, traits.ceilings(lengths)).hit,
        warm=warm,
    )


def _warm_rows(
    traits: Traits,
    groups: NDArray[np.int32],
    domains: NDArray[np.int32],
    prefixes: Numbers,
    warmup: ShardRows | None,
    group_ids: Sequence[str],
) -> list[WarmRow]:
    """For each lane a warmup prompt that covers its longest prefix: its own if that does, else the shortest that does.

    A lane that a new order has made may need a prompt of its group that already serves another domain: it is copied.
    """
    if warmup is None:
        return []
    numbers = {name: number for number, name in enumerate(group_ids)}
    have = [
        (numbers[str(group)], int(domain), int(prefix), row)
        for row, (group, domain, prefix) in enumerate(
            zip(*(warmup.column(n) for n in ("prefix_group_id", "planned_dp_id", "planned_prefix_len")), strict=True)
        )
    ]
    tops: dict[tuple[int, int], int] = {}
    for group, domain, prefix in zip(groups.tolist(), domains.tolist(), prefixes.tolist(), strict=True):
        tops[group, domain] = max(tops.get((group, domain), 0), prefix)
    rows, used = [], set()
    for (group, domain), top in sorted(tops.items()):
        fitting = sorted(
            (home != domain, prefix, row) for own, home, prefix, row in have if own == group and prefix >= top
        )
        if top == 0 or not fitting:
            continue  # it shares nothing, so there is nothing to warm up
        row = fitting[0][2]
        rows.append(WarmRow(row, domain, row in used))
        used.add(row)
    return rows
