"""Which cache domain each request is sent to (RFC 2.7; domain.md 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.execution import RequestDomains
from prefixcache.errors import InputError
from prefixcache.workload.name_files import read_names
from prefixcache.workload.randomness import below, digest, words

Domains = NDArray[np.int32]


def route_requests(
    config: PrefixCacheDatasetConfig,
    groups: NDArray[np.int32],
    lengths: NDArray[np.int64],
    order: NDArray[np.int64],
    domains: int | None = None,
) -> Domains:
    """Domain of each request by the configuration; ``domains`` replaces their number (listed routes then wrap around).

    Raises:
        InputError: listed routes that do not fit the requests.
    """
    number = config.routing.domains if domains is None else domains
    if config.policy != "explicit" or number == 1:
        return route(groups, lengths, order, policy=config.policy, domains=number, seed=config.seed)
    by_group = config.routing.group_domains
    if by_group is not None:
        home = np.array([by_group[name] for name in config.prefix.group_ids()], dtype=np.int32)
        return home[groups] % np.int32(number)
    assert config.routing.request_domains is not None
    listed = listed_domains(config.routing.request_domains)
    if domains is None and len(listed) != len(groups):
        raise InputError(
            f"{len(listed)} requests have a domain, the dataset has {len(groups)}",
            field="routing.request_domains",
            remedy="give one domain per request.",
            stage="plan_prefixes",
        )
    if listed.max() >= config.routing.dp_size:
        first = int(np.flatnonzero(listed >= config.routing.dp_size)[0])
        raise InputError(
            f"entry {first + 1} is domain {listed[first]}, beyond dp_size {config.routing.dp_size}",
            field="routing.request_domains",
            remedy=f"write 0 to {config.routing.dp_size - 1}, or raise dp_size.",
            stage="plan_prefixes",
        )
    return np.resize(listed, len(groups)) % np.int32(number)


def listed_domains(config: RequestDomains) -> Domains:
    """Domains in generated order."""
    if config.values is not None:
        return np.array(config.values, dtype=np.int32)
    field = "routing.request_domains"
    names = read_names(config.file or "", config.column or "planned_dp_id", field=field)
    if wrong := next((name for name in names if not (name.isascii() and name.isdigit() and len(name) < 6)), None):
        raise InputError(f"{wrong[:80]!r} is no domain", field=f"{field}.file", remedy="write whole numbers from 0.")
    return np.array([int(name) for name in names], dtype=np.int32)


def route(
    groups: NDArray[np.int32],
    lengths: NDArray[np.int64],
    order: NDArray[np.int64],
    *,
    policy: str,
    domains: int,
    seed: int = 0,
) -> Domains:
    """Domain of each request (generated order), shape (n,).

    ``bound``: groups to domains, the heaviest group first to the lightest domain. ``sticky``: a group stays where its
    first request went, first requests taking the domains in turn. ``round_robin``: the k-th request in send order goes
    to domain k mod domains; ``group_round_robin``: the k-th of its group. ``random``: seeded, by the request's number
    in generated order, so that the same request goes the same way whatever the order.
    """
    count = len(groups)
    if domains == 1 or not count:
        return np.zeros(count, dtype=np.int32)
    result = np.empty(count, dtype=np.int32)
    if policy == "round_robin":
        result[order] = np.arange(count) % domains
    elif policy == "random":
        result[:] = below(domains, words(digest(seed, "routes"), count))
    elif policy == "group_round_robin":
        in_order = groups[order]
        by_group = np.argsort(in_order, kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(in_order))[:-1]))
        k = np.empty(count, dtype=np.int64)
        k[by_group] = np.arange(count) - starts[in_order[by_group]]
        result[order] = k % domains
    elif policy == "sticky":
        present, first = np.unique(groups[order], return_index=True)
        home = np.zeros(int(groups.max()) + 1, dtype=np.int32)
        home[present[np.argsort(first)]] = np.arange(len(present)) % domains
        result = home[groups]
    else:
        result = _bind(np.bincount(groups, weights=lengths).astype(np.int64), domains)[groups]
    return result


def _bind(tokens: NDArray[np.int64], domains: int) -> Domains:
    """Longest-processing-time rule: heaviest group first, to the domain with the fewest tokens, then fewest groups."""
    home = np.zeros(len(tokens), dtype=np.int32)
    load = [(0, 0, domain) for domain in range(domains)]
    for group in np.lexsort((np.arange(len(tokens)), -tokens)):
        weight, members, domain = min(load)
        home[group] = domain
        load[domain] = (weight + int(tokens[group]), members + 1, domain)
    return home
