"""Do the answers look as if the server matched in a larger unit than planned? A question to a probe, not a finding."""

from __future__ import annotations

import math

import polars as pl

FEWEST = 3
"""Requests that must hit otherwise than planned: one or two fit many a unit by chance."""


def coarser_unit(rows: pl.DataFrame, unit: int) -> int | None:
    """The smallest multiple of the planned hit unit, in tokens, under which every answer's hits are the planned ones.

    What two prompts share ends within a unit behind the planned hits, so a server that matches in U tokens, a multiple
    of the unit, serves ⌊hits / U⌋ · U of them. All hits are then multiples of U, so only divisors of their greatest
    common one are tried.

    Args:
        rows: a pass's rows with ``expected`` and ``cached_tokens``.
        unit: planned hit unit, tokens.

    Returns:
        None where the plan's own unit fits, no other does, fewer than ``FEWEST`` requests tell them apart, or nothing
        hit at all, which has other causes.
    """
    told = rows.filter(pl.col("cached_tokens").is_not_null() & pl.col("expected").is_not_null())
    planned, cached = told["expected"].to_numpy(), told["cached_tokens"].to_numpy()
    if int((planned != cached).sum()) < FEWEST:
        return None
    shared = math.gcd(*cached.tolist())
    for factor in range(2, shared // unit + 1):
        size = factor * unit
        if shared % size == 0 and bool((planned // size * size == cached).all()):
            return size
    return None
