"""The hit rate that is asked for (RFC 3.3.5, 3.3.8)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from prefixcache.config.base import ConfigModel, ExactDecimal, Identifier, RuleError

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
        if self.scope == "per_group" and not self.groups:
            raise RuleError(
                "is missing or empty, but scope is per_group",
                field="groups",
                remedy="write groups: [{id, hit_ratio}] or scope: global",
            )
        return self
