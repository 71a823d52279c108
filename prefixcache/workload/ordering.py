"""The send order: an order inside each group, and a merge of the groups (RFC 3.3.9; domain.md 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixcache.workload.randomness import digest, words

Order = NDArray[np.int64]


def send_order(
    groups: NDArray[np.int32],
    lengths: NDArray[np.int64],
    prefixes: NDArray[np.int64],
    *,
    within: str,
    across: str,
    preserve: bool,
    seed: int,
) -> Order:
    """Request indices in the order they are sent, shape (n,).

    Args:
        groups, lengths, prefixes: per request in generated order; prefixes are used by the prefix orders only.
        within, across: names of RFC 3.3.9 (see ``prefixcache.config.order``).
        preserve: the merge decides which group sends at each position and the group's requests fill its positions in
            their own order; without it the global orders (sequential, shuffle, by length) rank requests directly.
    """
    count = len(groups)
    inside = _rank_key(within, lengths, prefixes, digest(seed, "order", "within"))
    by_group = np.lexsort((np.arange(count), inside, groups))
    if across in ("interleave", "grouped", "weighted_interleave"):
        return by_group[_merge(groups[by_group], across)]
    outside = _rank_key(
        "generated" if across == "sequential" else across, lengths, prefixes, digest(seed, "order", "across")
    )
    ranked = np.lexsort((np.arange(count), outside))
    if not preserve:
        return ranked
    # The global order says which group sends when; each group then fills its positions in its own order.
    positions = np.argsort(groups[ranked], kind="stable")
    order = np.empty(count, dtype=np.int64)
    order[positions] = by_group
    return order


def _rank_key(name: str, lengths: NDArray[np.int64], prefixes: NDArray[np.int64], key: int) -> NDArray[np.int64]:
    """A number per request; smaller is earlier, ties by generated order."""
    if name == "generated":
        return np.zeros(len(lengths), dtype=np.int64)
    if name == "shuffle":
        return (words(key, len(lengths)) >> np.uint64(1)).astype(np.int64)
    value = lengths if name.startswith("input_len") else prefixes
    return -value if name.endswith("_desc") else value


def _merge(groups: NDArray[np.int32], across: str) -> Order:
    """Positions into a group-sorted sequence, merged. ``groups`` is sorted."""
    if across == "grouped":
        return np.arange(len(groups))
    counts = np.bincount(groups)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    k = np.arange(len(groups)) - starts[groups]
    if across == "interleave":
        return np.lexsort((groups, k))
    return _by_fraction(2 * k + 1, 2 * counts[groups].astype(np.int64), groups)


def _by_fraction(numerator: Order, denominator: Order, groups: NDArray[np.int32]) -> Order:
    """Stable sort by numerator / denominator in exact integers, ties by group.

    The fraction is split into its first 62 bits (integer division) and the remainder's next bits, which together order
    fractions with denominators below 2**31 exactly: two different ones are more than 2**-62 apart.
    """
    high, rest = np.divmod(numerator << 31, denominator)
    low = (rest << 31) // denominator
    return np.lexsort((groups, low, high))
