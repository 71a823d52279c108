"""Which prefix group each request belongs to (RFC 3.3.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from prefixcache.config.nearest import right_name
from prefixcache.config.prefix import PrefixConfig, RequestGroups
from prefixcache.errors import InputError
from prefixcache.workload import portable
from prefixcache.workload.name_files import read_names
from prefixcache.workload.randomness import digest, permutation

_WEIGHT_BITS = 52


def largest_remainder(total: int, weights: Sequence[Fraction | int]) -> list[int]:
    """Split ``total`` in proportion to ``weights``, whole numbers that sum to it; ties go to the earlier entry.

    Exact integers and fractions throughout. All weights 0 splits nothing and needs total 0.
    """
    common = math.lcm(*{weight.denominator for weight in weights})
    whole_numbers = [weight.numerator * (common // weight.denominator) for weight in weights]
    whole = sum(whole_numbers)
    if not whole:
        return [0] * len(weights)
    if max(whole_numbers) * max(total, 1) < 1 << 62 and whole < 1 << 62:
        return _in_arrays(total, whole_numbers, whole)
    shares = [divmod(weight * total, whole) for weight in whole_numbers]
    parts = [part for part, _ in shares]
    if missing := total - sum(parts):
        for i in sorted(range(len(parts)), key=lambda i: (-shares[i][1], i))[:missing]:
            parts[i] += 1
    return parts


def _in_arrays(total: int, weights: list[int], whole: int) -> list[int]:
    """The same where the products fit into 64 bits."""
    parts, rests = np.divmod(np.array(weights, dtype=np.int64) * total, whole)
    if missing := total - int(parts.sum()):
        parts[np.argsort(-rests, kind="stable")[:missing]] += 1
    found: list[int] = parts.tolist()
    return found


def zipf_weights(count: int, exponent: Decimal) -> list[int]:
    """Whole numbers proportional to 1, 2**-s, 3**-s, ..., to 52 bits; the same on every machine."""
    powers = portable.exp(-float(exponent) * portable.log(np.arange(1, count + 1, dtype=np.float64)))
    return [int(weight) for weight in np.floor(powers * float(1 << _WEIGHT_BITS))]


def group_weights(config: PrefixConfig) -> list[Fraction | int]:
    """Share of each group where requests are not assigned one by one: weights, counts, a power law, or equal."""
    groups, count = config.groups or [], len(config.group_ids())
    if config.zipf_exponent is not None:
        return list(zipf_weights(count, config.zipf_exponent))
    if groups and groups[0].request_weight is not None:
        return [Fraction(group.request_weight or 0) for group in groups]
    if groups and groups[0].request_count is not None:
        return [group.request_count or 0 for group in groups]
    return [1] * count


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
    return largest_remainder(request_count, group_weights(config))


def assign_groups(counts: Sequence[int], seed: int) -> NDArray[np.int32]:
    """Group index of each request in generated order: a seeded shuffle, so that a group's lengths are a fair sample."""
    labels = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    if len(counts) == 1:
        return labels
    return labels[permutation(digest(seed, "groups"), len(labels))]


def groups_of_requests(config: PrefixConfig, request_count: int, seed: int) -> NDArray[np.int32]:
    """Group index of each request: as listed one by one, else by counts and a seeded shuffle.

    Raises:
        InputError: counts that disagree, an id that is no group.
    """
    if config.request_groups is None:
        return assign_groups(group_counts(config, request_count), seed)
    ids = listed_groups(config.request_groups)
    if len(ids) != request_count:
        raise InputError(
            f"{len(ids)} requests are assigned to groups, the dataset has {request_count}",
            field="prefix.request_groups",
            remedy="give one group id per request.",
            stage="plan_lengths",
        )
    names = config.group_ids()
    place = {name: number for number, name in enumerate(names)}
    if wrong := next((name for name in ids if name not in place), None):
        raise InputError(
            f"{wrong!r} is no prefix group",
            field="prefix.request_groups",
            remedy=f"{right_name(wrong, names)}.",
            stage="plan_lengths",
        )
    return np.array([place[name] for name in ids], dtype=np.int32)


def listed_groups(config: RequestGroups) -> list[str]:
    """Group ids in generated order."""
    if config.values is not None:
        return list(config.values)
    return read_names(config.file or "", config.column or "prefix_group_id", field="prefix.request_groups")
