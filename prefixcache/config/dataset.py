"""The whole configuration of one dataset (RFC 3.5.1 PrefixCacheDatasetConfig)."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from prefixcache.config.base import ConfigModel, Count, Identifier, NonNegative, RequestCount, RuleError, Seed
from prefixcache.config.capacity import check_capacity_rules
from prefixcache.config.collisions import check_collision_rules
from prefixcache.config.content import PromptConfig, SourceConfig, SuffixConfig, TokenizerConfig
from prefixcache.config.execution import (
    COLD_MODES,
    WARM_MODES,
    ExecutionConfig,
    Mode,
    PlanningConfig,
    Policy,
    RoutingConfig,
    ValidationConfig,
)
from prefixcache.config.lengths import ExplicitLength, FixedLength, LengthConfig
from prefixcache.config.nearest import right_name
from prefixcache.config.order import AcrossGroup, OrderConfig, WithinGroup
from prefixcache.config.output import OutputConfig, check_output_rules
from prefixcache.config.prefix import PrefixConfig
from prefixcache.config.sizes import SizeSource, check_resolved
from prefixcache.config.target import Semantics, TargetConfig

DEFAULT_BLOCK_SIZE = 16
DEFAULT_OUTPUT_TOKENS = 16
ROUTES_THAT_SPLIT_GROUPS = frozenset({"round_robin", "group_round_robin", "random"})


def _name_is_path(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


def _name_is_mode(value: Any) -> Any:
    return {"mode": value} if isinstance(value, str) else value


class PrefixCacheDatasetConfig(ConfigModel):
    """One dataset: what is asked for, how it is organised, how it is run."""

    dataset_id: Identifier
    seed: Seed = 0
    request_count: RequestCount | None = None
    block_size: Count = DEFAULT_BLOCK_SIZE
    """Tokens per KV-cache block of the server."""
    hit_unit: Count | None = None
    """Tokens in which the server really matches; a multiple of block_size, default equal to it."""
    block_size_source: SizeSource | None = None
    """Where block_size comes from; written by `block_size: auto` or where it is left out."""
    hit_unit_source: SizeSource | None = None
    """Where hit_unit comes from; written by `hit_unit: auto`."""
    hit_drop: NonNegative = 0
    """Matched hit units that the engine throws away again (EAGLE and MTP drop the last one)."""
    max_model_len: Count | None = None
    tokenizer: Annotated[TokenizerConfig, BeforeValidator(_name_is_path)] | None = None
    input_length: LengthConfig
    output_length: LengthConfig = FixedLength(value=DEFAULT_OUTPUT_TOKENS)
    target: TargetConfig | None = None
    """Required, except in mode replay, which takes none."""
    prefix: PrefixConfig = PrefixConfig()
    suffix: SuffixConfig = SuffixConfig()
    prompt: PromptConfig = PromptConfig()
    request_order: Annotated[OrderConfig, BeforeValidator(_name_is_mode)] = OrderConfig()
    execution: ExecutionConfig = ExecutionConfig()
    routing: RoutingConfig = RoutingConfig()
    planning: PlanningConfig = PlanningConfig()
    validation: ValidationConfig = Field(default_factory=ValidationConfig)
    output: OutputConfig = OutputConfig()

    @classmethod
    def load(cls, path: str | Path, **options: Any) -> PrefixCacheDatasetConfig:
        """Read a YAML file; see :func:`prefixcache.config.load.load_config` for options and errors."""
        from prefixcache.config.load import load_config

        return load_config(path, **options).config

    @model_validator(mode="before")
    @classmethod
    def _sizes_are_numbers(cls, raw: Any) -> Any:
        check_resolved(raw)
        if isinstance(raw, dict) and "block_size" not in raw and "block_size_source" not in raw:
            return {**raw, "block_size_source": "default"}
        return raw

    @model_validator(mode="after")
    def _consistent(self) -> PrefixCacheDatasetConfig:
        if self.hit_unit is not None and self.hit_unit % self.block_size:
            raise RuleError(
                f"{self.hit_unit} is not a multiple of block_size {self.block_size}",
                field="hit_unit",
                remedy=f"write {self.block_size} or a multiple of it, or leave it out",
            )
        self._check_target()
        check_collision_rules(self.suffix.collision_detection, self.unit, self.mode)
        check_output_rules(self.output, self.prompt)
        self._check_mode()
        self._check_counts()
        self._check_routes()
        check_capacity_rules(self)
        return self

    def _check_target(self) -> None:
        own = [group.hit_ratio for group in self.prefix.groups or ()]
        if self.target is None:
            if self.execution.mode != "replay":
                raise RuleError("is missing", field="target", remedy="add this key")
        elif self.execution.mode == "replay":
            raise RuleError(
                "stands here, but mode replay takes no target: every request hits all it can",
                field="target",
                remedy="remove it, or choose another execution.mode",
            )
        if self.target is not None and self.target.scope == "per_group":
            names = self.prefix.group_ids()
            self.target.of_groups(names, own or [None] * len(names))
            return
        for number, ratio in enumerate(own):
            if ratio is not None:
                raise RuleError(
                    f"{ratio} stands here, but target.scope is not per_group",
                    field=f"prefix.groups[{number}].hit_ratio",
                    remedy="remove it or write target.scope: per_group",
                )

    def _check_routes(self) -> None:
        within, across = self.order
        moves_with_plan = within.startswith("prefix_len") or across.startswith("prefix_len")
        if moves_with_plan and self.routing.domains > 1 and self.policy in ROUTES_THAT_SPLIT_GROUPS:
            raise RuleError(
                f"an order by prefix length ({within}, {across}) with routing policy {self.policy} over "
                f"{self.routing.domains} cache domains would move requests between domains while their prefixes are "
                "planned",
                field="request_order",
                remedy="order by input length, or use policy bound or sticky",
            )
        if moves_with_plan and self.planning.objective == "trajectory":
            raise RuleError(
                f"trajectory follows the send order, but the order ({within}, {across}) follows the planned prefixes",
                field="planning.objective",
                remedy="order by input length, or write objective: proportional",
            )
        names = self.prefix.group_ids()
        listed = self.routing.group_domains
        if strangers := sorted(set(listed or ()).difference(names)):
            raise RuleError(
                f"{strangers[0]!r} is no prefix group",
                field=f"routing.group_domains.{strangers[0]}",
                remedy=right_name(strangers[0], names),
            )
        if listed is not None and (without := [name for name in names if name not in listed]):
            raise RuleError(
                f"group {without[0]!r} has no domain", field="routing.group_domains", remedy="list every group"
            )

    def _check_mode(self) -> None:
        semantics = self.target.semantics if self.target is not None else None
        mode, rounds = self.mode, self.execution.warmup_rounds
        if semantics == "static_prefix_ratio" and mode in COLD_MODES:
            raise RuleError(
                f"static_prefix_ratio needs a warm cache, but execution.mode {mode} starts cold",
                field="target.semantics",
                remedy="write order_aware_global, or execution.mode: warmup",
            )
        if semantics == "order_aware_global" and mode in WARM_MODES:
            raise RuleError(
                f"order_aware_global needs a cold start, but execution.mode {mode} starts warm",
                field="target.semantics",
                remedy="write static_prefix_ratio, or execution.mode: progressive_prefix_fill",
            )
        if mode in COLD_MODES and rounds:
            raise RuleError(
                f"is {rounds}, but mode {mode} measures a cold start",
                field="execution.warmup_rounds",
                remedy="write 0 or leave it out",
            )
        if mode not in COLD_MODES and rounds == 0:
            raise RuleError(
                f"is 0, but mode {mode} needs a warm cache",
                field="execution.warmup_rounds",
                remedy="write at least 1 or leave it out",
            )

    def _check_counts(self) -> None:
        known = {} if self.request_count is None else {"request_count": self.request_count}
        for name, length in (("input_length", self.input_length), ("output_length", self.output_length)):
            if isinstance(length, ExplicitLength) and length.values is not None:
                known[f"{name}.values"] = len(length.values)
        groups = self.prefix.groups
        if groups and groups[0].request_count is not None:
            known["prefix.groups"] = sum(group.request_count or 0 for group in groups)
        for name, listed in (
            ("prefix.request_groups.values", self.prefix.request_groups),
            ("routing.request_domains.values", self.routing.request_domains),
        ):
            if listed is not None and listed.values is not None:
                known[name] = len(listed.values)
        if len(set(known.values())) > 1:
            raise RuleError(
                f"the numbers of requests disagree: {', '.join(f'{name} {count}' for name, count in known.items())}",
                field=next(iter(known)),
                remedy="leave out request_count or make them equal",
            )
        from_file = any(isinstance(x, ExplicitLength) and x.file for x in (self.input_length, self.output_length))
        from_file |= any(x is not None and x.file for x in (self.prefix.request_groups, self.routing.request_domains))
        if not known and not from_file:
            raise RuleError("is missing", field="request_count", remedy="write how many requests the dataset has")

    @property
    def mode(self) -> Mode:
        """Execution mode, taken from the target's semantics where it is not given."""
        if self.execution.mode is not None:
            return self.execution.mode
        static = self.target is not None and self.target.semantics == "static_prefix_ratio"
        return "warmup" if static else "progressive_prefix_fill"

    @property
    def semantics(self) -> Semantics | None:
        """Target semantics, taken from the mode where it is not given; None where there is no target."""
        if self.target is None:
            return None
        if self.target.semantics is not None:
            return self.target.semantics
        return "static_prefix_ratio" if self.mode in WARM_MODES else "order_aware_global"

    @property
    def group_targets(self) -> list[Decimal] | None:
        """Hit ratio per group in configuration order; None with a global target or none at all."""
        if self.target is None or self.target.scope == "global":
            return None
        names = self.prefix.group_ids()
        own = [group.hit_ratio for group in self.prefix.groups or ()]
        return self.target.of_groups(names, own or [None] * len(names))

    @property
    def target_label(self) -> str:
        """The target as one text, part of every content seed (RFC 3.2.4); another target is another content."""
        if self.target is None:
            return self.mode
        ratios = self.group_targets
        if ratios is None:
            return str(self.target.hit_ratio)
        return ",".join(f"{name}={ratio}" for name, ratio in zip(self.prefix.group_ids(), ratios, strict=True))

    @property
    def warmup_rounds(self) -> int:
        if self.execution.warmup_rounds is not None:
            return self.execution.warmup_rounds
        return 0 if self.mode in COLD_MODES else 1

    @property
    def passes(self) -> tuple[str, ...]:
        """Measured passes in the order they run: ``cold``, ``hot``, both, or ``replay``."""
        if self.mode == "compare":
            return ("cold", "hot")
        if self.mode == "replay":
            return ("replay",)
        return ("cold",) if self.mode in COLD_MODES else ("hot",)

    @property
    def target_pass(self) -> str:
        """The pass whose hit rate the target constrains; the only pass of a replay, which has no target."""
        if self.mode == "replay":
            return "replay"
        return "hot" if self.semantics == "static_prefix_ratio" else "cold"

    def source_of(self, group: int, role: Literal["prefix", "suffix"]) -> SourceConfig:
        """Where a group's master prefix or suffixes come from: its own source, `prefix.source`, or the suffix's."""
        own = self.prefix.groups[group].source if self.prefix.groups else None
        shared = self.prefix.source if role == "prefix" else None
        return own or shared or self.suffix

    @property
    def unit(self) -> int:
        """Hit unit u in tokens: planning, alignment and simulation work in it."""
        return self.hit_unit or self.block_size

    @property
    def size_sources(self) -> dict[str, SizeSource]:
        """Where block size and hit unit come from, for the manifest."""
        unit: SizeSource = "explicit" if self.hit_unit is not None else "block_size"
        return {
            "block_size_source": self.block_size_source or "explicit",
            "hit_unit_source": self.hit_unit_source or unit,
        }

    @property
    def non_shared(self) -> int:
        """minimum_non_shared_length in tokens, default one block."""
        given = self.prefix.minimum_non_shared_length
        return self.block_size if given is None else given

    @property
    def order(self) -> tuple[WithinGroup, AcrossGroup]:
        return self.request_order.resolved("input_len_asc" if self.mode in COLD_MODES else "generated")

    @property
    def policy(self) -> Policy:
        return self.routing.resolved_policy()

    @property
    def prefix_mode(self) -> str:
        return self.prefix.mode or ("multi_prefix" if len(self.prefix.group_ids()) > 1 else "single_prefix")
