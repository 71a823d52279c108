"""The target as a whole number of hit units, split over the groups (RFC 3.3.5, 3.3.8; domain.md 2-3)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from prefixcache.workload.groups import largest_remainder


def goal_units(target: Decimal | Fraction, input_tokens: int, unit: int) -> int:
    """The multiple of ``unit`` nearest to target x input tokens, ties up, counted in units; exact arithmetic."""
    exact = Fraction(target) * input_tokens / unit
    return int(exact + Fraction(1, 2)) if exact >= 0 else 0


def split_budget(
    goal: int, tokens: Sequence[int], minimum: Sequence[int], maximum: Sequence[int]
) -> tuple[list[int], list[int]]:
    """(initial, final) units per group: by input tokens, then moved from groups that cannot take their share.

    Largest remainder over input tokens; each share clipped to its group's [minimum, maximum]; what is left over goes
    to the groups with room, by input tokens, until nothing is left. The initial shares sum to ``goal``, the final ones
    to the nearest number that the groups can take together.
    """
    initial = largest_remainder(goal, list(tokens))
    goal = min(max(goal, sum(minimum)), sum(maximum))
    budget = [min(max(share, low), high) for share, low, high in zip(initial, minimum, maximum, strict=True)]
    while rest := goal - sum(budget):
        limit = maximum if rest > 0 else minimum
        open_groups = [g for g in range(len(budget)) if budget[g] != limit[g]]
        moves = largest_remainder(abs(rest), [max(tokens[g], 1) for g in open_groups])
        for g, move in zip(open_groups, moves, strict=True):
            wanted = budget[g] + move if rest > 0 else budget[g] - move
            budget[g] = min(wanted, limit[g]) if rest > 0 else max(wanted, limit[g])
    return initial, budget
