"""Prefix groups and what each request must keep to itself (RFC 3.3.2, 3.3.12)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from prefixcache.config.base import ConfigModel, ExactDecimal, Identifier, NonNegative, RuleError
from prefixcache.config.content import SourceConfig
from prefixcache.config.lengths import LengthConfig
from prefixcache.config.nearest import right_name
from prefixcache.config.target import Ratio


def _name_is_source(value: Any) -> Any:
    return {"source": value} if isinstance(value, str) else value


Source = Annotated[SourceConfig, BeforeValidator(_name_is_source)]


class GroupConfig(ConfigModel):
    """One group: its share of the requests, and what it has otherwise than the rest of the dataset."""

    id: Identifier
    request_weight: Annotated[ExactDecimal, Field(ge=0)] | None = None
    request_count: NonNegative | None = None
    hit_ratio: Ratio | None = None
    """The group's target, with `target.scope: per_group`."""
    input_length: LengthConfig | None = None
    output_length: LengthConfig | None = None
    source: Source | None = None
    """Text of this group's master and suffixes, instead of `prefix.source` and `suffix`."""


class RequestGroups(ConfigModel):
    """The group of every request, in generated order."""

    values: list[Identifier] | None = None
    file: str | None = None
    """JSON list, JSONL/CSV/Parquet with `column`, or whitespace-separated ids; relative to the config file."""
    column: str | None = None
    """Default: `prefix_group_id`."""

    @model_validator(mode="after")
    def _one_of_both(self) -> RequestGroups:
        if (self.values is None) == (self.file is None):
            both = "both `values` and `file` are given" if self.file is not None else "neither `values` nor `file`"
            raise RuleError(both, remedy="give either `values` or `file`")
        if self.values is not None and not self.values:
            raise RuleError("[] is empty", field="values", remedy="list one group id per request")
        return self


class PrefixConfig(ConfigModel):
    mode: Literal["single_prefix", "multi_prefix"] | None = None
    nested_prefix: Literal[True] = True
    """Every request of a group is cut from the start of one master prefix."""
    minimum_non_shared_length: NonNegative | None = None
    """Tokens each request keeps after the shared prefix; default: one block."""
    group_count: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] | None = None
    """Equal groups named group_0, group_1, ...; or list them in `groups`."""
    groups: list[GroupConfig] | None = None
    source: Source | None = None
    """Text of all master prefixes, where it is not that of `suffix`."""
    zipf_exponent: Annotated[ExactDecimal, Field(ge=0, le=100)] | None = None
    """The k-th group (from 1) gets a share of the requests proportional to k to the power of minus this."""
    request_groups: RequestGroups | None = None
    """The group of every request, one by one."""

    @model_validator(mode="after")
    def _groups_make_sense(self) -> PrefixConfig:
        groups = self.groups
        if groups is not None:
            if self.group_count is not None:
                raise RuleError(
                    f"{self.group_count} stands beside `groups`", field="group_count", remedy="give either of them"
                )
            self._check_groups(groups)
        self._check_shares()
        ids = self.group_ids()
        count = len(ids) if groups is not None or self.request_groups is not None else self.group_count
        if self.mode == "single_prefix" and count is not None and count > 1:
            raise RuleError(
                f"single_prefix has {count} groups", field="mode", remedy="write mode: multi_prefix, or one group"
            )
        if self.mode == "multi_prefix" and count is None:
            raise RuleError("multi_prefix has no groups", field="mode", remedy="add `groups` or `group_count`")
        if self.request_groups is not None:
            known = set(ids)
            for number, name in enumerate(self.request_groups.values or ()):
                if name not in known:
                    raise RuleError(
                        f"{name!r} is no prefix group",
                        field=f"request_groups.values[{number}]",
                        remedy=right_name(name, ids),
                    )
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

    def _check_shares(self) -> None:
        """One way of saying how many requests a group has."""
        first = self.groups[0] if self.groups else None
        given = {
            "request_groups": self.request_groups is not None,
            "zipf_exponent": self.zipf_exponent is not None,
            "groups[].request_count": first is not None and first.request_count is not None,
            "groups[].request_weight": first is not None and first.request_weight is not None,
        }
        ways = [name for name, is_given in given.items() if is_given]
        if len(ways) > 1:
            raise RuleError(f"stands beside {ways[1]}", field=ways[0], remedy="keep one of them")
        if self.zipf_exponent is not None and self.groups is None and self.group_count is None:
            raise RuleError("has no groups", field="zipf_exponent", remedy="add `groups` or `group_count`")
        explicit = self.request_groups
        if explicit is not None and explicit.file is not None and self.groups is None and self.group_count is None:
            raise RuleError(
                "the groups of a file are not listed",
                field="request_groups.file",
                remedy="add `groups: [{id: ...}, ...]` with every id of the file",
            )

    def group_ids(self) -> list[str]:
        """Ids in configuration order; a single group is called `default`; listed per request, by first appearance."""
        if self.groups is not None:
            return [group.id for group in self.groups]
        if self.group_count is None and self.request_groups is not None:
            return list(dict.fromkeys(self.request_groups.values or ()))
        if self.group_count is not None and self.group_count > 1:
            return [f"group_{number}" for number in range(self.group_count)]
        return ["default"]
