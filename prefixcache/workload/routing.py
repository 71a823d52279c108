"""Which cache domain each request is sent to (RFC 2.7; domain.md 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Domains = NDArray[np.int32]


def route(
    groups: NDArray[np.int32], lengths: NDArray[np.int64], order: NDArray[np.int64], *, policy: str, domains: int
) -> Domains:
    """Domain of each request (generated order), shape (n,).

    ``bound``: groups to domains, the heaviest group first to the lightest domain. ``sticky``: a group stays where its
    first request went, first requests taking the domains in turn. ``round_robin``: the k-th request in send order goes
    to domain k mod domains; ``group_round_robin``: the k-th of its group.
    """
    count = len(groups)
    if domains == 1 or not count:
        return np.zeros(count, dtype=np.int32)
    result = np.empty(count, dtype=np.int32)
    if policy == "round_robin":
        result[order] = np.arange(count) % domains
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
