"""The hit rate that is asked for (RFC 3.3.5, 3.3.8)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from prefixcache.config.base import ConfigModel, ExactDecimal, Identifier, RuleError
from prefixcache.config.nearest import right_name

Ratio = Annotated[ExactDecimal, Field(ge=0, le=1)]
Semantics = Literal["order_aware_global", "static_prefix_ratio"]


class GroupTarget(ConfigModel):
    id: Identifier
    hit_ratio: Ratio


class TargetConfig(ConfigModel):
    scope: Literal["global", "per_group"] = "global"
    hit_ratio: Ratio | None = None
    """Share of all input tokens that the cache shall serve, 0-1."""
    semantics: Semantics | None = None
    """`order_aware_global`: cold start, the watermark grows while requests run. `static_prefix_ratio`: warm."""
    groups: list[GroupTarget] | None = None
    """One target per group of `prefix.groups`; or each group's own `hit_ratio` there."""

    @model_validator(mode="after")
    def _fields_of_scope(self) -> TargetConfig:
        if self.scope == "global" and self.hit_ratio is None:
            raise RuleError(
                "is missing", field="hit_ratio", remedy="write a number between 0 and 1, e.g. hit_ratio: 0.5"
            )
        if self.scope == "global" and self.groups:
            raise RuleError(
                "stands here, but scope is global", field="groups", remedy="remove it or write scope: per_group"
            )
        if self.scope == "per_group" and self.hit_ratio is not None:
            raise RuleError(
                f"{self.hit_ratio} stands here, but scope is per_group",
                field="hit_ratio",
                remedy="give every group its own in `groups`, or write scope: global",
            )
        seen: set[str] = set()
        for number, group in enumerate(self.groups or ()):
            if group.id in seen:
                raise RuleError(f"{group.id!r} stands twice", field=f"groups[{number}].id", remedy="keep one")
            seen.add(group.id)
        return self

    def of_groups(self, names: Sequence[str], own: Sequence[Decimal | None]) -> list[Decimal]:
        """One ratio per group in configuration order, for scope per_group.

        Args:
            names: the ids of all groups.
            own: what `prefix.groups[].hit_ratio` says, or None.

        Raises:
            RuleError: an unknown id, a group with two different targets, a group without one.
        """
        if not self.groups and not any(ratio is not None for ratio in own):
            raise RuleError(
                "is missing or empty, but scope is per_group",
                field="target.groups",
                remedy="write groups: [{id, hit_ratio}] or scope: global",
            )
        ratios = dict(zip(names, own, strict=True))
        for number, group in enumerate(self.groups or ()):
            place = f"target.groups[{number}]"
            if group.id not in ratios:
                raise RuleError(
                    f"{group.id!r} is no prefix group", field=f"{place}.id", remedy=right_name(group.id, names)
                )
            if ratios[group.id] not in (None, group.hit_ratio):
                raise RuleError(
                    f"{group.hit_ratio} contradicts prefix.groups, which gives {group.id!r} {ratios[group.id]}",
                    field=f"{place}.hit_ratio",
                    remedy="keep one of them",
                )
            ratios[group.id] = group.hit_ratio
        if without := [name for name, ratio in ratios.items() if ratio is None]:
            more = f" and {len(without) - 1} more have" if len(without) > 1 else " has"
            raise RuleError(
                f"group {without[0]!r}{more} no target",
                field="target.groups",
                remedy="give every group a hit_ratio; 0 where it shall share nothing",
            )
        return [ratio for ratio in ratios.values() if ratio is not None]
