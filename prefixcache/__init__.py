"""Datasets with a designed prefix-cache hit rate, and their runs. The names below load on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prefixcache.api.content import (
        generate_master_prefixes as generate_master_prefixes,
    )
    from prefixcache.api.content import (
        generate_request_suffix as generate_request_suffix,
    )
    from prefixcache.api.content import (
        validate_block_collisions as validate_block_collisions,
    )
    from prefixcache.api.execution import (
        CollisionValidator as CollisionValidator,
    )
    from prefixcache.api.execution import (
        DatasetWriter as DatasetWriter,
    )
    from prefixcache.api.execution import (
        MasterPrefixGenerator as MasterPrefixGenerator,
    )
    from prefixcache.api.execution import (
        PrefixCacheBenchmarkRunner as PrefixCacheBenchmarkRunner,
    )
    from prefixcache.api.execution import (
        PrefixCacheReportBuilder as PrefixCacheReportBuilder,
    )
    from prefixcache.api.execution import (
        RequestContentGenerator as RequestContentGenerator,
    )
    from prefixcache.api.execution import (
        TheoreticalHitRateValidator as TheoreticalHitRateValidator,
    )
    from prefixcache.api.execution import (
        WatermarkSimulator as WatermarkSimulator,
    )
    from prefixcache.api.facade import (
        LengthGenerator as LengthGenerator,
    )
    from prefixcache.api.facade import (
        PrefixGroupAllocator as PrefixGroupAllocator,
    )
    from prefixcache.api.facade import (
        PrefixPlanner as PrefixPlanner,
    )
    from prefixcache.api.facade import (
        ReachabilityValidator as ReachabilityValidator,
    )
    from prefixcache.api.facade import (
        RequestOrderPlanner as RequestOrderPlanner,
    )
    from prefixcache.api.facade import (
        RequestPlanner as RequestPlanner,
    )
    from prefixcache.api.objects import (
        CollisionValidationResult as CollisionValidationResult,
    )
    from prefixcache.api.objects import (
        DatasetManifest as DatasetManifest,
    )
    from prefixcache.api.objects import (
        PerformanceResult as PerformanceResult,
    )
    from prefixcache.api.objects import (
        PrefixCacheReport as PrefixCacheReport,
    )
    from prefixcache.api.objects import (
        PrefixCacheRuntimeMetrics as PrefixCacheRuntimeMetrics,
    )
    from prefixcache.api.objects import (
        PrefixCacheSimulationResult as PrefixCacheSimulationResult,
    )
    from prefixcache.api.objects import (
        PrefixGroupPlan as PrefixGroupPlan,
    )
    from prefixcache.api.objects import (
        PrefixPlanningResult as PrefixPlanningResult,
    )
    from prefixcache.api.objects import (
        ReachabilityResult as ReachabilityResult,
    )
    from prefixcache.api.objects import (
        RequestPlan as RequestPlan,
    )
    from prefixcache.api.objects import (
        RuntimeMetrics as RuntimeMetrics,
    )
    from prefixcache.api.objects import (
        SuffixGenerationResult as SuffixGenerationResult,
    )
    from prefixcache.api.objects import (
        ValidationReport as ValidationReport,
    )
    from prefixcache.api.planning import (
        allocate_prefix_groups as allocate_prefix_groups,
    )
    from prefixcache.api.planning import (
        generate_request_lengths as generate_request_lengths,
    )
    from prefixcache.api.planning import (
        plan_prefix_lengths as plan_prefix_lengths,
    )
    from prefixcache.api.planning import (
        validate_target_reachability as validate_target_reachability,
    )
    from prefixcache.api.results import (
        MetricsSnapshot as MetricsSnapshot,
    )
    from prefixcache.api.results import (
        build_prefix_cache_report as build_prefix_cache_report,
    )
    from prefixcache.api.results import (
        collect_prefix_cache_metrics as collect_prefix_cache_metrics,
    )
    from prefixcache.api.results import (
        simulate_prefix_cache_watermarks as simulate_prefix_cache_watermarks,
    )
    from prefixcache.api.results import (
        take_metrics_snapshot as take_metrics_snapshot,
    )
    from prefixcache.api.results import (
        validate_theoretical_hit_rate as validate_theoretical_hit_rate,
    )
    from prefixcache.config import (
        PrefixCacheDatasetConfig as PrefixCacheDatasetConfig,
    )
    from prefixcache.content.collisions.registry import (
        BlockRegistry as BlockRegistry,
    )
    from prefixcache.pipeline import (
        DatasetGenerationResult as DatasetGenerationResult,
    )
    from prefixcache.pipeline import (
        generate_prefix_cache_dataset as generate_prefix_cache_dataset,
    )
    from prefixcache.stages.probe_tokenizer import (
        probe_frame as probe_frame,
    )
    from prefixcache.stages.stage import (
        InProcess as InProcess,
    )

_ROOMS = {
    "prefixcache.api.content": (
        "generate_master_prefixes",
        "generate_request_suffix",
        "validate_block_collisions",
    ),
    "prefixcache.api.execution": (
        "CollisionValidator",
        "DatasetWriter",
        "MasterPrefixGenerator",
        "PrefixCacheBenchmarkRunner",
        "PrefixCacheReportBuilder",
        "RequestContentGenerator",
        "TheoreticalHitRateValidator",
        "WatermarkSimulator",
    ),
    "prefixcache.api.facade": (
        "LengthGenerator",
        "PrefixGroupAllocator",
        "PrefixPlanner",
        "ReachabilityValidator",
        "RequestOrderPlanner",
        "RequestPlanner",
    ),
    "prefixcache.api.objects": (
        "CollisionValidationResult",
        "DatasetManifest",
        "PerformanceResult",
        "PrefixCacheReport",
        "PrefixCacheRuntimeMetrics",
        "PrefixCacheSimulationResult",
        "PrefixGroupPlan",
        "PrefixPlanningResult",
        "ReachabilityResult",
        "RequestPlan",
        "RuntimeMetrics",
        "SuffixGenerationResult",
        "ValidationReport",
    ),
    "prefixcache.api.planning": (
        "allocate_prefix_groups",
        "generate_request_lengths",
        "plan_prefix_lengths",
        "validate_target_reachability",
    ),
    "prefixcache.api.results": (
        "MetricsSnapshot",
        "build_prefix_cache_report",
        "collect_prefix_cache_metrics",
        "simulate_prefix_cache_watermarks",
        "take_metrics_snapshot",
        "validate_theoretical_hit_rate",
    ),
    "prefixcache.config": ("PrefixCacheDatasetConfig",),
    "prefixcache.content.collisions.registry": ("BlockRegistry",),
    "prefixcache.pipeline": (
        "DatasetGenerationResult",
        "generate_prefix_cache_dataset",
    ),
    "prefixcache.stages.probe_tokenizer": ("probe_frame",),
    "prefixcache.stages.stage": ("InProcess",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "BlockRegistry",
    "CollisionValidationResult",
    "CollisionValidator",
    "DatasetGenerationResult",
    "DatasetManifest",
    "DatasetWriter",
    "InProcess",
    "LengthGenerator",
    "MasterPrefixGenerator",
    "MetricsSnapshot",
    "PerformanceResult",
    "PrefixCacheBenchmarkRunner",
    "PrefixCacheDatasetConfig",
    "PrefixCacheReport",
    "PrefixCacheReportBuilder",
    "PrefixCacheRuntimeMetrics",
    "PrefixCacheSimulationResult",
    "PrefixGroupAllocator",
    "PrefixGroupPlan",
    "PrefixPlanner",
    "PrefixPlanningResult",
    "ReachabilityResult",
    "ReachabilityValidator",
    "RequestContentGenerator",
    "RequestOrderPlanner",
    "RequestPlan",
    "RequestPlanner",
    "RuntimeMetrics",
    "SuffixGenerationResult",
    "TheoreticalHitRateValidator",
    "ValidationReport",
    "WatermarkSimulator",
    "allocate_prefix_groups",
    "build_prefix_cache_report",
    "collect_prefix_cache_metrics",
    "generate_master_prefixes",
    "generate_prefix_cache_dataset",
    "generate_request_lengths",
    "generate_request_suffix",
    "plan_prefix_lengths",
    "simulate_prefix_cache_watermarks",
    "take_metrics_snapshot",
    "validate_block_collisions",
    "validate_target_reachability",
    "validate_theoretical_hit_rate",
]


def __getattr__(name: str) -> Any:
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module 'prefixcache' has no attribute {name!r}")
    value = getattr(import_module(room), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
