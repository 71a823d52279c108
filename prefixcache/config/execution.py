"""How a dataset is run and planned: mode, routing, planning, validation (RFC 3.1.5, 2.7, 3.3.5, 3.3.17)."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from prefixcache.config.base import ConfigModel, Count, ExactDecimal, NonNegative, RuleError

Mode = Literal["progressive_prefix_fill", "cold", "warmup", "hot", "compare"]
Gating = Literal["watermark", "first_token", "completion", "none"]
Policy = Literal["bound", "sticky", "round_robin", "group_round_robin"]
COLD_MODES: frozenset[str] = frozenset({"progressive_prefix_fill", "cold"})
WARM_MODES: frozenset[str] = frozenset({"warmup", "hot"})


class ExecutionConfig(ConfigModel):
    mode: Mode | None = None
    warmup_rounds: NonNegative | None = None
    concurrency: Count = 1
    """Requests in flight at most."""
    gating: Gating = "watermark"


class RoutingConfig(ConfigModel):
    cache_scope: Literal["global", "instance_local", "dp_local"] = "global"
    dp_size: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 1
    """Cache domains: DP ranks or instances."""
    policy: Policy | None = None
    sticky_routing: bool | None = None
    bind_prefix_group_to_dp: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _alias(cls, value: object) -> object:
        if isinstance(value, dict) and value.get("cache_scope") == "global_shared":
            return {**value, "cache_scope": "global"}
        return value

    @model_validator(mode="after")
    def _one_policy(self) -> RoutingConfig:
        if self.policy is not None and (self.sticky_routing or self.bind_prefix_group_to_dp):
            mapped = "bound" if self.bind_prefix_group_to_dp else "sticky"
            if self.policy != mapped:
                raise RuleError(
                    f"{self.policy} contradicts sticky_routing and bind_prefix_group_to_dp, which mean {mapped}",
                    field="policy",
                    remedy="keep one of them",
                )
        return self

    def resolved_policy(self) -> Policy:
        """Bind wins over sticky; `sticky_routing: false` alone means the router spreads requests."""
        if self.policy is not None:
            return self.policy
        if self.bind_prefix_group_to_dp:
            return "bound"
        if self.sticky_routing:
            return "sticky"
        return "round_robin" if self.sticky_routing is False else "bound"

    @property
    def domains(self) -> int:
        """Number of separate caches the model keeps."""
        return 1 if self.cache_scope == "global" else self.dp_size


class PlanningConfig(ConfigModel):
    objective: Literal["proportional"] = "proportional"
    reachability_check: Literal[True] = True
    base_ratio_search: Literal["binary_search"] = "binary_search"
    block_residual_calibration: bool = True
    max_iterations: Count = 1000
    """Accepted for compatibility: the search is exact and needs at most 64 steps."""


class ValidationConfig(ConfigModel):
    pass_tolerance: Annotated[ExactDecimal, Field(ge=0, le=1)] = Decimal("0.01")
    warning_tolerance: Annotated[ExactDecimal, Field(ge=0, le=1)] = Decimal("0.02")
    on_failure: Literal["error", "warn", "accept_with_warning"] = "error"

    @model_validator(mode="after")
    def _ordered(self) -> ValidationConfig:
        if self.warning_tolerance < self.pass_tolerance:
            raise RuleError(
                f"{self.warning_tolerance} is below pass_tolerance {self.pass_tolerance}",
                field="warning_tolerance",
                remedy="swap them",
            )
        return self
