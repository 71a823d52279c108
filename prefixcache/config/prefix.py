"""Prefix groups and what each request must keep to itself (RFC 3.3.2, 3.3.12)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from prefixcache.config.base import ConfigModel, ExactDecimal, Identifier, NonNegative, RuleError


class GroupConfig(ConfigModel):
    id: Identifier
    request_weight: Annotated[ExactDecimal, Field(ge=0)] | None = None
    request_count: NonNegative | None = None


class PrefixConfig(ConfigModel):
    mode: Literal["single_prefix", "multi_prefix"] | None = None
    nested_prefix: Literal[True] = True
    """Every request of a group is cut from the start of one master prefix."""
    minimum_non_shared_length: NonNegative | None = None
    """Tokens each request keeps after the shared prefix; default: one block."""
    group_count: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] | None = None
    """Equal groups named group_0, group_1, ...; or list them in `groups`."""
    groups: list[GroupConfig] | None = None

    @model_validator(mode="after")
    def _groups_make_sense(self) -> PrefixConfig:
        groups = self.groups
        if groups is not None:
            if self.group_count is not None:
                raise RuleError(
                    f"{self.group_count} stands beside `groups`", field="group_count", remedy="give either of them"
                )
            self._check_groups(groups)
        count = len(groups) if groups is not None else self.group_count
        if self.mode == "single_prefix" and count is not None and count > 1:
            raise RuleError(
                f"single_prefix has {count} groups", field="mode", remedy="write mode: multi_prefix, or one group"
            )
        if self.mode == "multi_prefix" and count is None:
            raise RuleError("multi_prefix has no groups", field="mode", remedy="add `groups` or `group_count`")
        return self

    @staticmethod
    def _check_groups(groups: list[GroupConfig]) -> None:
        if not groups:
            raise RuleError("[] is empty", field="groups", remedy="list at least one group or leave it out")
        seen: set[str] = set()
        for number, group in enumerate(groups):
            if group.id in seen:
                raise RuleError(
                    f"{group.id!r} stands twice", field=f"groups[{number}].id", remedy="let every id differ"
                )
            seen.add(group.id)
        given = {(g.request_weight is not None, g.request_count is not None) for g in groups}
        if len(given) > 1 or (True, True) in given:
            raise RuleError(
                "request_weight and request_count are mixed, or missing from some groups",
                field="groups",
                remedy="give every group a `request_weight`, or every group a `request_count`",
            )
        for key, found in (("request_weight", (True, False)), ("request_count", (False, True))):
            if given == {found} and not any(getattr(group, key) for group in groups):
                raise RuleError(f"all {key} are 0", field="groups", remedy=f"give one group a positive {key}")

    def group_ids(self) -> list[str]:
        """Ids in configuration order; a single group is called `default`."""
        if self.groups is not None:
            return [group.id for group in self.groups]
        if self.group_count is not None and self.group_count > 1:
            return [f"group_{number}" for number in range(self.group_count)]
        return ["default"]
