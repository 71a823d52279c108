"""Prefix groups and what each request must keep to itself (RFC 3.3.2, 3.3.12)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from prefixcache.config.base import ConfigModel, Count, ExactDecimal, Identifier, NonNegative


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
    group_count: Count | None = None
    """Equal groups named group_0, group_1, ...; or list them in `groups`."""
    groups: list[GroupConfig] | None = None

    @model_validator(mode="after")
    def _groups_make_sense(self) -> PrefixConfig:
        groups = self.groups
        if groups is not None:
            if not groups:
                raise ValueError("`groups` is empty; list at least one group or leave it out")
            if self.group_count is not None:
                raise ValueError("give either `group_count` or `groups`, not both")
            seen: set[str] = set()
            for group in groups:
                if group.id in seen:
                    raise ValueError(f"group id {group.id!r} stands twice; every id must differ")
                seen.add(group.id)
            given = {(g.request_weight is not None, g.request_count is not None) for g in groups}
            if len(given) > 1 or (True, True) in given:
                raise ValueError("give every group a `request_weight`, or every group a `request_count`, not a mixture")
            if given == {(True, False)} and not any(g.request_weight for g in groups):
                raise ValueError("all request_weight are 0; give at least one group a positive weight")
            if given == {(False, True)} and not any(g.request_count for g in groups):
                raise ValueError("all request_count are 0; give at least one group a request")
        count = len(groups) if groups is not None else self.group_count
        if self.mode == "single_prefix" and count is not None and count > 1:
            raise ValueError(f"mode single_prefix has {count} groups; write mode: multi_prefix or one group")
        if self.mode == "multi_prefix" and count is None:
            raise ValueError("mode multi_prefix needs `groups` or `group_count`")
        return self

    def group_ids(self) -> list[str]:
        """Ids in configuration order; a single group is called `default`."""
        if self.groups is not None:
            return [group.id for group in self.groups]
        if self.group_count is not None and self.group_count > 1:
            return [f"group_{number}" for number in range(self.group_count)]
        return ["default"]
