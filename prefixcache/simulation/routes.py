"""Which cache domain each request of a dataset goes to, as planned or by another policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prefixcache.errors import InputError
from prefixcache.workload.routing import route

Domains = NDArray[np.int32]
PLANNED, EXPLICIT = "planned", "explicit"
POLICIES = ("round_robin", "group_round_robin", "bound", "sticky", "random", EXPLICIT)


@dataclass(frozen=True)
class Routing:
    """Where the requests go.

    Attributes:
        policy: a name of ``POLICIES``, or ``planned``: as the dataset was made.
        count: cache domains.
        domains: of each request in send order, shape (n,).
        warm: warmup prompts that are sent, as (row, domain).
    """

    policy: str
    count: int
    domains: Domains
    warm: list[tuple[int, int]]


def routing_of(
    manifest: dict[str, Any], plan: pl.DataFrame, warm_plan: pl.DataFrame, *, domains: int | None, policy: str | None
) -> Routing:
    """The routes as planned, unless another number of domains or another policy is asked for.

    Args:
        plan, warm_plan: of :class:`prefixcache.dataset.as_traces.DatasetTraces`.
        domains: number of cache domains; default the dataset's.
        policy: default the dataset's.

    Raises:
        InputError: no such policy, or planned domains that there are not.
    """
    made = manifest["routing"]
    planned = plan["planned_dp_id"].to_numpy().astype(np.int32)
    count = int(made["cache_domains"]) if domains is None else domains
    if policy is not None and policy not in POLICIES:
        raise InputError(
            f"{policy!r} is no routing policy", field="--routing", remedy=f"write one of {', '.join(POLICIES)}."
        )
    if (policy is None and count == made["cache_domains"]) or policy == EXPLICIT:
        if planned.max(initial=0) >= count:
            raise InputError(
                f"requests are planned for domain {planned.max()}, there are {count} domains",
                field="--dp",
                remedy=f"write at least {int(planned.max()) + 1}, or name another policy with --routing.",
            )
        rows = [(row, int(home)) for row, home in enumerate(warm_plan["planned_dp_id"].to_list())]
        return Routing(policy or PLANNED, count, planned, rows)
    chosen = policy or made["policy"]
    if chosen == EXPLICIT and count > 1:
        raise InputError(
            f"the dataset lists the domain of each request among {made['cache_domains']}, {count} are asked for",
            field="--dp",
            remedy="name a policy with --routing, or leave --dp out.",
        )
    homes = _routed(manifest, plan, count, "round_robin" if chosen == EXPLICIT else chosen)
    return Routing(chosen, count, homes, _warm(plan, warm_plan, homes))


def _routed(manifest: dict[str, Any], plan: pl.DataFrame, count: int, policy: str) -> Domains:
    order = np.argsort(np.argsort(plan["request_id"].to_numpy()))  # ids are numbered with leading zeros
    generated = np.empty(len(plan), dtype=np.int64)
    generated[order] = np.arange(len(plan))
    numbers = {name: number for number, name in enumerate(manifest["prefix"]["groups"])}
    groups = np.array([numbers[name] for name in plan["prefix_group_id"].to_list()], dtype=np.int32)
    lengths = plan["input_len"].to_numpy().astype(np.int64)
    found = route(
        groups[generated],
        lengths[generated],
        order.astype(np.int64),
        policy=policy,
        domains=count,
        seed=int(manifest.get("seed") or 0),
    )
    return found[order]


def _warm(plan: pl.DataFrame, warm_plan: pl.DataFrame, homes: Domains) -> list[tuple[int, int]]:
    """For every lane there is by now the group's longest warmup prompt."""
    longest: dict[str, tuple[int, int]] = {}
    for row, (group, prefix) in enumerate(warm_plan.select("prefix_group_id", "planned_prefix_len").rows()):
        if group not in longest or prefix > longest[group][0]:
            longest[group] = (prefix, row)
    lanes = sorted({(home, group) for home, group in zip(homes.tolist(), plan["prefix_group_id"], strict=True)})
    return [(longest[group][1], home) for home, group in lanes if group in longest]
