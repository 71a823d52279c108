"""The target as a whole number of hit units, split over the groups (RFC 3.3.5, 3.3.8; domain.md 2-3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from prefixcache.workload.groups import largest_remainder


@dataclass(frozen=True)
class Goals:
    """What shall be hit, in units.

    ``total``: the goal of the whole dataset. ``initial``: each group's share of it before reachability is looked at.
    ``budgets``: what each group is planned for. ``minimum``, ``maximum``: what each group can hit at least and at most.
    ``of_groups``: every group has a target of its own, so that shares cannot move.
    """

    total: int
    initial: list[int]
    budgets: list[int]
    minimum: list[int]
    maximum: list[int]
    of_groups: bool = False

    @property
    def reachable(self) -> list[bool]:
        """Per group where groups have targets of their own, else one entry for the whole."""
        if self.of_groups:
            return [
                low <= goal <= high for low, goal, high in zip(self.minimum, self.initial, self.maximum, strict=True)
            ]
        return [sum(self.minimum) <= self.total <= sum(self.maximum)]


def goal_units(target: Decimal | Fraction, input_tokens: int, unit: int) -> int:
    """The multiple of ``unit`` nearest to target x input tokens, ties up, counted in units; exact arithmetic."""
    exact = Fraction(target) * input_tokens / unit
    return int(exact + Fraction(1, 2)) if exact >= 0 else 0


def global_goals(target: Decimal, tokens: Sequence[int], unit: int, minimum: list[int], maximum: list[int]) -> Goals:
    """One target over all groups; ``tokens``: input tokens per group."""
    goal = goal_units(target, sum(tokens), unit)
    initial, budgets = split_budget(goal, tokens, minimum, maximum)
    return Goals(goal, initial, budgets, minimum, maximum)


def group_goals(
    targets: Sequence[Decimal], tokens: Sequence[int], unit: int, minimum: list[int], maximum: list[int]
) -> Goals:
    """A target per group: its own nearest multiple of the unit, planned as near as the group can come."""
    goals = [goal_units(target, own, unit) for target, own in zip(targets, tokens, strict=True)]
    budgets = [min(max(goal, low), high) for goal, low, high in zip(goals, minimum, maximum, strict=True)]
    return Goals(sum(goals), goals, budgets, minimum, maximum, of_groups=True)


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
