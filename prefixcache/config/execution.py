"""How a dataset is run and planned: mode, routing, planning, validation (RFC 3.1.5, 2.7, 3.3.5, 3.3.17)."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from prefixcache.config.base import ConfigModel, Count, ExactDecimal, Identifier, NonNegative, RuleError

Mode = Literal["progressive_prefix_fill", "cold", "warmup", "hot", "replay", "compare"]
Gating = Literal["watermark", "first_token", "completion", "none"]
Policy = Literal["bound", "sticky", "round_robin", "group_round_robin", "random", "explicit"]
Objective = Literal["proportional", "trajectory", "minimal_prefix"]
COLD_MODES: frozenset[str] = frozenset({"progressive_prefix_fill", "cold"})
WARM_MODES: frozenset[str] = frozenset({"warmup", "hot"})
Domain = Annotated[int, Field(strict=True, ge=0, lt=10_000)]


class ExecutionConfig(ConfigModel):
    mode: Mode | None = None
    warmup_rounds: NonNegative | None = None
    concurrency: Count = 1
    """Requests in flight at most."""
    gating: Gating = "watermark"


class RequestDomains(ConfigModel):
    """The cache domain of every request, in generated order."""

    values: list[Domain] | None = None
    file: str | None = None
    """JSON list, JSONL/CSV/Parquet with `column`, or whitespace-separated integers; relative to the config file."""
    column: str | None = None
    """Default: `planned_dp_id`."""

    @model_validator(mode="after")
    def _one_of_both(self) -> RequestDomains:
        if (self.values is None) == (self.file is None):
            both = "both `values` and `file` are given" if self.file is not None else "neither `values` nor `file`"
            raise RuleError(both, remedy="give either `values` or `file`")
        if self.values is not None and not self.values:
            raise RuleError("[] is empty", field="values", remedy="list one domain per request")
        return self


class RoutingConfig(ConfigModel):
    cache_scope: Literal["global", "instance_local", "dp_local"] = "global"
    dp_size: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 1
    """Cache domains: DP ranks or instances."""
    policy: Policy | None = None
    sticky_routing: bool | None = None
    bind_prefix_group_to_dp: bool | None = None
    group_domains: dict[Identifier, Domain] | None = None
    """The cache domain of each group, from 0; policy `explicit`."""
    request_domains: RequestDomains | None = None
    """The cache domain of each request; policy `explicit`."""

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
        self._check_explicit()
        return self

    def _check_explicit(self) -> None:
        by_group, by_request = self.group_domains is not None, self.request_domains is not None
        if by_group and by_request:
            raise RuleError("stands beside request_domains", field="group_domains", remedy="keep one of them")
        given = "group_domains" if by_group else "request_domains"
        if (by_group or by_request) and self.resolved_policy() != "explicit":
            raise RuleError(
                f"stands here, but the policy is {self.resolved_policy()}",
                field=given,
                remedy="remove it or write policy: explicit",
            )
        if self.policy == "explicit" and not (by_group or by_request):
            raise RuleError("explicit has no routes", field="policy", remedy="add `group_domains` or `request_domains`")
        listed = list((self.group_domains or {}).items())
        if self.request_domains is not None:
            listed = [(str(number), domain) for number, domain in enumerate(self.request_domains.values or ())]
        for name, domain in listed:
            if domain >= self.dp_size:
                place = f"group_domains.{name}" if by_group else f"request_domains.values[{name}]"
                raise RuleError(
                    f"domain {domain} is beyond dp_size {self.dp_size}",
                    field=place,
                    remedy=f"write 0 to {self.dp_size - 1}, or raise dp_size",
                )

    def resolved_policy(self) -> Policy:
        """Bind wins over sticky; `sticky_routing: false` alone means the router spreads requests."""
        if self.policy is not None:
            return self.policy
        if self.bind_prefix_group_to_dp:
            return "bound"
        if self.sticky_routing:
            return "sticky"
        if self.group_domains is not None or self.request_domains is not None:
            return "explicit"
        return "round_robin" if self.sticky_routing is False else "bound"

    @property
    def domains(self) -> int:
        """Number of separate caches the model keeps."""
        return 1 if self.cache_scope == "global" else self.dp_size


class PlanningConfig(ConfigModel):
    objective: Objective = "proportional"
    """`proportional`: one base ratio per group. `minimal_prefix`: the fewest shared tokens that give the total.
    `trajectory`: the cumulative hit ratio follows the target from below while requests are sent."""
    reachability_check: Literal[True] = True
    base_ratio_search: Literal["binary_search"] = "binary_search"
    block_residual_calibration: bool = True
    assume: Literal["unbounded", "capacity"] = "unbounded"
    """The cache that hits are planned for: one that never evicts, or a vLLM pool of ``num_blocks``."""
    num_blocks: Annotated[int, Field(ge=2)] | None = None
    """With `capacity`: blocks of each cache domain, vLLM's null block included (the server's num_gpu_blocks)."""
    max_iterations: Count = 1000
    """Accepted for compatibility: the search is exact and needs at most 64 steps."""

    @model_validator(mode="after")
    def _calibration_is_part_of_it(self) -> PlanningConfig:
        if not self.block_residual_calibration and self.objective != "proportional":
            raise RuleError(
                f"is false, but objective {self.objective} is exact by itself",
                field="block_residual_calibration",
                remedy="leave it out, or write objective: proportional",
            )
        return self


class ValidationConfig(ConfigModel):
    pass_tolerance: Annotated[ExactDecimal, Field(ge=0, le=1)] = Decimal("0.01")
    warning_tolerance: Annotated[ExactDecimal, Field(ge=0, le=1)] = Decimal("0.02")
    on_failure: Literal["error", "warn", "accept_with_warning"] = "error"
    on_cannot_share: Literal["list", "error"] = "list"
    """What a request too short to share more than the head does: it is listed, or refused."""
    audit: Literal["auto", "full"] = "auto"
    """Prompts re-encoded as proof: all up to 20 million tokens and a sample beyond, or always all."""

    @model_validator(mode="after")
    def _ordered(self) -> ValidationConfig:
        if self.warning_tolerance < self.pass_tolerance:
            raise RuleError(
                f"{self.warning_tolerance} is below pass_tolerance {self.pass_tolerance}",
                field="warning_tolerance",
                remedy="swap them",
            )
        return self
