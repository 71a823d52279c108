"""RFC A.1: the planned prefix of a warm cache, P_i = align_down(L_i x T)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.workload.lanes import HitRules
from prefixcache.workload.shape import Shape

Tokens = NDArray[np.int64]


def static_formula(config: PrefixCacheDatasetConfig, shape: Shape, ceilings: Tokens, rules: HitRules) -> Tokens:
    """A.1 per request in units, at least the head, at most M; with a target per group, each group by its own."""
    targets = config.group_targets
    if targets is None:
        ratio = config.target.hit_ratio if config.target is not None else None
        raw = _align_down(ratio or Decimal(0), shape.lengths, config.unit)
    else:
        raw = np.empty_like(shape.lengths)
        numbers = {ratio: number for number, ratio in enumerate(dict.fromkeys(targets))}
        wanted = np.array([numbers[target] for target in targets])[shape.groups]
        by_ratio = np.argsort(wanted, kind="stable")
        bounds = np.searchsorted(wanted[by_ratio], np.arange(len(numbers) + 1))
        for ratio, number in numbers.items():
            members = by_ratio[bounds[number] : bounds[number + 1]]
            raw[members] = _align_down(ratio, shape.lengths[members], config.unit)
    formula: Tokens = np.maximum(np.minimum(raw, ceilings), rules.head)
    return formula


def _align_down(ratio: Decimal, lengths: Tokens, unit: int) -> Tokens:
    """Whole units in length x ratio; exact whatever the number of decimals."""
    exact = Fraction(ratio)
    if not len(lengths):
        return lengths
    if int(lengths.max()) * exact.numerator < 1 << 62 and exact.denominator * unit < 1 << 62:
        units: Tokens = lengths * exact.numerator // (exact.denominator * unit)
        return units
    whole = lengths.astype(object) * exact.numerator  # integers without bounds
    return (whole // (exact.denominator * unit)).astype(np.int64)
