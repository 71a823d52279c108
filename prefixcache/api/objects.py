"""The objects of RFC 3.5.1 and the results of RFC 3.5.2. Lengths and hits in tokens, ratios 0-1, None = not known."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prefixcache.dataset.contents import read_manifest
from prefixcache.errors import InputError
from prefixcache.files import read_json


@dataclass
class RequestPlan:
    """One request. ``index``: place in generated order; what a later step decides is None before it.

    ``prompt`` and ``prompt_token_ids`` come with the content; ``prompt`` stays None where only ids are sent.
    """

    request_id: str
    input_len: int
    index: int = 0
    prefix_group_id: str | None = None
    planned_prefix_len: int | None = None
    divergence_len: int | None = None
    suffix_len: int | None = None
    order_index: int | None = None
    planned_dp_id: int | None = None
    output_len: int = 16
    prompt: str | None = field(default=None, repr=False)
    prompt_token_ids: list[int] | None = field(default=None, repr=False)


@dataclass
class PrefixGroupPlan:
    """One prefix group with its requests, in send order once they are sorted.

    ``cold_start_loss``: hits that the group's cold caches cost. ``built``: folder its content was made in.
    """

    group_id: str
    request_count: int = 0
    master_prefix_len: int | None = None
    target_hit_tokens: int | None = None
    max_reachable_hit_ratio: float | None = None
    cold_start_loss: int | None = None
    requests: list[RequestPlan] = field(default_factory=list, repr=False)
    built: Path | None = field(default=None, repr=False)

    @property
    def input_tokens(self) -> int:
        return sum(request.input_len for request in self.requests)


@dataclass(frozen=True)
class DatasetManifest:
    """manifest.json of a dataset (docs/artifacts.md). ``root``: the dataset's folder."""

    root: Path
    content: dict[str, Any] = field(repr=False)

    @classmethod
    def load(cls, path: str | Path = "manifest.json") -> DatasetManifest:
        """From manifest.json, a dataset's folder or a run directory; default: manifest.json in the current folder.

        Raises:
            InputError: there is none, or it cannot be read.
        """
        root = Path(path)
        if root.name == "manifest.json":
            root = root.parent
        elif not (root / "manifest.json").is_file() and (root / "dataset" / "manifest.json").is_file():
            root = root / "dataset"
        return cls(root, read_manifest(root))

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    @property
    def dataset_id(self) -> str:
        return str(self.content["dataset_id"])

    @property
    def digest(self) -> str:
        """SHA-256 over the dataset's files."""
        return str(self.content["dataset_digest"])


@dataclass(frozen=True)
class ValidationReport:
    """Reachability and the check of the designed ratio (RFC 3.3.17). Status: PASS, PASS_WITH_WARNING or FAIL.

    ``details``: the whole validation_report.json where it was read from a dataset.
    """

    target_hit_ratio: float | None
    designed_hit_ratio: float
    expected_hit_tokens: int
    input_tokens: int
    signed_deviation: float | None
    absolute_deviation: float | None
    validation_status: str
    max_reachable_hit_ratio: float | None = None
    reason: str | None = None
    details: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, dataset: str | Path) -> ValidationReport:
        """From a dataset's folder.

        Raises:
            InputError: no readable validation_report.json.
        """
        path = Path(dataset) / "validation_report.json"
        try:
            found = read_json(path)
            return cls(**{name: found[name] for name in cls.__dataclass_fields__ if name != "details"}, details=found)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path.name} cannot be read ({type(error).__name__})",
                field="dataset",
                remedy="name a folder that `prefixcache generate` wrote.",
            ) from None


@dataclass(frozen=True)
class PerformanceResult:
    """Latency and throughput of a run's passes: pass name → figures as in performance_metrics.json."""

    passes: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class RuntimeMetrics:
    """What the servers counted (RFC 3.3.19-3.3.20). ``status``: complete, partial, failed or reset_detected.

    ``endpoints``: one entry per endpoint (with its engines); ``passes``: of a run, one entry per pass. Of a run the
    counters are those of the pass that the target constrains. ``run_dir``: None for two snapshots.
    """

    status: str
    prefix_cache_queries: int | None
    prefix_cache_hits: int | None
    actual_hit_rate: float | None
    endpoints: list[dict[str, Any]] = field(default_factory=list, repr=False)
    passes: list[dict[str, Any]] = field(default_factory=list, repr=False)
    performance: PerformanceResult = PerformanceResult({})
    run_dir: Path | None = None


PrefixCacheRuntimeMetrics = RuntimeMetrics


@dataclass(frozen=True)
class ReachabilityResult:
    """``target_hit_tokens``: the multiple of the hit unit that is nearest to the target."""

    reachable: bool
    target_hit_tokens: int
    min_reachable_hit_tokens: int
    max_reachable_hit_tokens: int
    max_reachable_hit_ratio: float
    input_tokens: int
    max_reachable_of_groups: dict[str, int]


@dataclass(frozen=True)
class PrefixPlanningResult:
    """``planned_prefix_len``: by request id. ``adjusted_requests``: raised by the calibration of the residual."""

    planned_prefix_len: dict[str, int]
    expected_hit_tokens: int
    designed_hit_ratio: float
    target_hit_tokens: int | None
    reachable: bool
    adjusted_requests: int


@dataclass(frozen=True)
class SuffixGenerationResult:
    """A request's own part: everything behind its planned prefix. ``token_ids`` = divergence block + suffix + tail."""

    token_ids: list[int]
    divergence_len: int
    suffix_len: int
    sample_ids: list[int]


@dataclass(frozen=True)
class CollisionValidationResult:
    """``colliding``: request ids, or places of blocks in one request, whose keys occur elsewhere."""

    passed: bool
    checked_blocks: int
    colliding: list[Any]
    report: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class PrefixCacheSimulationResult:
    """Per request in the order given: watermark before, hit, watermark after. ``hits_of_groups``: summed."""

    request_ids: list[str]
    input_len: list[int]
    cached_watermark_before: list[int]
    expected_hit_len: list[int]
    cached_watermark_after: list[int]
    hits_of_groups: dict[str, int]

    @property
    def input_tokens(self) -> int:
        return sum(self.input_len)

    @property
    def expected_hit_tokens(self) -> int:
        return sum(self.expected_hit_len)

    @property
    def designed_hit_ratio(self) -> float:
        return self.expected_hit_tokens / self.input_tokens


@dataclass(frozen=True)
class PrefixCacheReport:
    """``content``: prefix_cache_report.json; the page is beside it."""

    path: Path
    html: Path
    content: dict[str, Any] = field(repr=False)

    def __getitem__(self, key: str) -> Any:
        return self.content[key]
