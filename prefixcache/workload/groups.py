"""Which prefix group each request belongs to (RFC 3.3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from prefixcache.config.prefix import PrefixConfig
from prefixcache.errors import InputError
from prefixcache.workload.randomness import digest, permutation


def largest_remainder(total: int, weights: Sequence[Fraction | int]) -> list[int]:
    """Split ``total`` in proportion to ``weights``, whole numbers that sum to it; ties go to the earlier entry.

    Exact integers and fractions throughout. All weights 0 splits nothing and needs total 0.
    """
    whole = sum(Fraction(weight) for weight in weights)
    if not whole:
        return [0] * len(weights)
    shares = [Fraction(weight) * total / whole for weight in weights]
    parts = [share.numerator // share.denominator for share in shares]
    order = sorted(range(len(parts)), key=lambda i: (parts[i] - shares[i], i))
    for i in order[: total - sum(parts)]:
        parts[i] += 1
    return parts


def group_counts(config: PrefixConfig, request_count: int) -> list[int]:
    """Requests per group in configuration order; they sum to ``request_count``.

    Raises:
        InputError: explicit counts that do not sum to it.
    """
    groups = config.groups
    if groups and groups[0].request_count is not None:
        counts = [group.request_count or 0 for group in groups]
        if sum(counts) != request_count:
            raise InputError(
                f"the groups' request_count sum to {sum(counts)}, the dataset has {request_count} requests",
                field="prefix.groups",
                remedy="make them equal.",
                stage="plan_lengths",
            )
        return counts
    if groups and groups[0].request_weight is not None:
        return largest_remainder(request_count, [Fraction(group.request_weight or 0) for group in groups])
    return largest_remainder(request_count, [1] * len(config.group_ids()))


def assign_groups(counts: Sequence[int], seed: int) -> NDArray[np.int32]:
    """Group index of each request in generated order: a seeded shuffle, so that a group's lengths are a fair sample."""
    labels = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    if len(counts) == 1:
        return labels
    return labels[permutation(digest(seed, "groups"), len(labels))]
