"""The classes of RFC 3.5.1's sequence from content to report."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from prefixcache.api.content import collisions_of
from prefixcache.api.objects import (
    CollisionValidationResult,
    DatasetManifest,
    PrefixCacheReport,
    PrefixCacheSimulationResult,
    RequestPlan,
    RuntimeMetrics,
    ValidationReport,
)
from prefixcache.api.planning import Groups
from prefixcache.api.results import (
    PassName,
    build_prefix_cache_report,
    metrics_of_run,
    simulate_prefix_cache_watermarks,
    validate_theoretical_hit_rate,
)
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.collisions import CollisionConfig
from prefixcache.config.content import SuffixConfig
from prefixcache.config.execution import ExecutionConfig, ValidationConfig
from prefixcache.config.target import TargetConfig
from prefixcache.dataset.stored import rows_with_ids
from prefixcache.errors import InputError, VerdictError
from prefixcache.files import read_json, read_jsonl
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.pipeline import DatasetGenerationResult, generate_prefix_cache_dataset
from prefixcache.stages.owned import remove_stale, sweep_work, take_over
from prefixcache.stages.stage import Runner
from prefixcache.stages.workspace import exclusive


class MasterPrefixGenerator:
    @staticmethod
    def generate(
        groups: Groups, config: PrefixCacheDatasetConfig, *, folder: Path | None = None, runner: Runner | None = None
    ) -> dict[str, list[int]]:
        """Make the dataset of ``config`` through its stages and take the masters from it.

        The groups' plan must be the configuration's: content is made, proven and repaired as a whole, so this is the
        same as `prefixcache generate`. Widened: ``folder``, where it is made (default: a new temporary one, which the
        caller may delete after ``DatasetWriter.write``); ``runner``.

        Raises:
            InputError: the groups' plan is another than the configuration's.
            PrefixCacheError: see :func:`generate_prefix_cache_dataset`.
        """
        root = folder or Path(tempfile.mkdtemp(prefix="prefixcache-"))
        generate_prefix_cache_dataset(config, root, runner)
        rows = {row["request_id"]: row for row in read_jsonl(root / "request_metadata.jsonl")}
        requests = [request for group in groups.values() for request in group.requests]
        place = {int(row["request_id"].rsplit("-", 1)[1]): row for row in rows.values()}
        for request in requests:
            row = place.get(request.index)
            planned = (request.prefix_group_id, request.input_len, request.planned_prefix_len)
            if row is None or planned != (row["prefix_group_id"], row["input_len"], row["planned_prefix_len"]):
                raise InputError(
                    "is planned otherwise than the configuration says",
                    request_id=request.request_id,
                    field="groups",
                    remedy="plan with the configuration's own values (seed, PrefixPlanner.plan(..., config=config)).",
                )
            request.request_id = row["request_id"]
            request.output_len = row["output_len"]
            request.planned_dp_id = row["planned_dp_id"]
        if len(requests) != len(rows):
            raise InputError(
                f"{len(requests)} requests are planned, the dataset has {len(rows)}",
                field="groups",
                remedy="plan request_count requests.",
            )
        return {name: _master(group_name=name, groups=groups, root=root) for name in groups}


def _master(group_name: str, groups: Groups, root: Path) -> list[int]:
    """The prefix of the request that shares most; also notes where the content lies."""
    group = groups[group_name]
    group.built = root
    longest = max(group.requests, key=lambda request: request.planned_prefix_len or 0, default=None)
    if longest is None or not longest.planned_prefix_len:
        return []
    manifest = read_json(root / "manifest.json")
    row = next(row for row in rows_with_ids(root, manifest) if row["request_id"] == longest.request_id)
    ids: list[int] = row["prompt_token_ids"][: longest.planned_prefix_len]
    return ids


def _built(groups: Groups) -> Path:
    root = next((group.built for group in groups.values() if group.built is not None), None)
    if root is None:
        raise InputError("have no content", field="groups", remedy="call MasterPrefixGenerator.generate first.")
    return root


class RequestContentGenerator:
    @staticmethod
    def generate(groups: Groups, config: SuffixConfig) -> list[RequestPlan]:
        """Fill in prompts, token ids, divergence and suffix lengths, from the dataset that the masters came with.

        Raises:
            InputError: no masters yet, or another suffix configuration than theirs.
        """
        root = _built(groups)
        wanted = config.model_dump(mode="json", exclude_none=True)
        manifest = read_json(root / "manifest.json")
        made = manifest["config"]["suffix"]
        if {**wanted, "path": None} != {**made, "path": None}:
            raise InputError("is another than the masters' configuration has", field="suffix", remedy="pass that one.")
        requests = {request.request_id: request for group in groups.values() for request in group.requests}
        data, plans = rows_with_ids(root, manifest), read_jsonl(root / "request_metadata.jsonl")
        for row, plan in zip(data, plans, strict=True):
            request = requests[row["request_id"]]
            request.prompt, request.prompt_token_ids = row["prompt"], row["prompt_token_ids"]
            request.divergence_len, request.suffix_len = plan["divergence_len"], plan["suffix_len"]
        return list(requests.values())


class CollisionValidator:
    @staticmethod
    def validate_and_repair(groups: Groups, config: CollisionConfig) -> CollisionValidationResult:
        """Check all prompts. Repairs happened while the dataset was made; its report counts them.

        Raises:
            InputError: no content yet.
            VerdictError: something collides and ``on_collision`` is error.
        """
        manifest = read_json(_built(groups) / "manifest.json")
        requests = [request for group in groups.values() for request in group.requests]
        head = len(manifest["tokenizer"].get("head") or ())
        found = collisions_of(requests, config, unit=manifest["hit_unit"], head=head, block=manifest["block_size"])
        if not found.passed and config.on_collision == "error":
            raise VerdictError(
                f"{len(found.colliding)} requests collide",
                request_id=next(iter(found.colliding), None),
                field="suffix.collision_detection.on_collision",
                remedy="use longer inputs or a larger source.",
            )
        return found


class WatermarkSimulator:
    @staticmethod
    def simulate(
        requests: list[RequestPlan],
        cache_scope: str,
        *,
        pass_name: PassName = "cold",
        unit: int = 16,
        head: int = 0,
        drop: int = 0,
    ) -> PrefixCacheSimulationResult:
        """See :func:`simulate_prefix_cache_watermarks`."""
        return simulate_prefix_cache_watermarks(
            requests, cache_scope, pass_name=pass_name, unit=unit, head=head, drop=drop
        )


class TheoreticalHitRateValidator:
    @staticmethod
    def validate(
        simulation: PrefixCacheSimulationResult, target: TargetConfig, validation: ValidationConfig
    ) -> ValidationReport:
        """Designed against target over all requests; a target per group has its own status in the dataset's report.

        Raises:
            InputError: nothing was simulated; targets per group.
        """
        if target.hit_ratio is None:
            raise InputError(
                "per-group targets have no one ratio to compare with",
                field="target.scope",
                remedy="read ValidationReport.load(dataset), which judges every group.",
            )
        ratio: Decimal = target.hit_ratio
        return validate_theoretical_hit_rate(simulation, ratio, validation.pass_tolerance, validation.warning_tolerance)


class DatasetWriter:
    @staticmethod
    def write(
        requests: Sequence[RequestPlan],
        groups: Groups,
        simulation: PrefixCacheSimulationResult,
        validation: ValidationReport,
        *,
        output: Path | None = None,
    ) -> DatasetGenerationResult:
        """Publish the dataset if requests, order, hits and designed ratio are what it holds. The manifest comes last.

        Widened: ``output``; default: it stays in the folder it was made in.

        Raises:
            InputError: no content yet; order, hits or designed ratio differ from the content that was made.
        """
        built = _built(groups)
        rows = list(read_jsonl(built / "request_metadata.jsonl"))
        mine = list(zip(simulation.request_ids, simulation.expected_hit_len, strict=True))
        made = [(row["request_id"], row["expected_hit_len"]) for row in rows]
        designed = ValidationReport.load(built)
        ratio = Fraction(designed.expected_hit_tokens, designed.input_tokens)
        if (
            [request.request_id for request in requests] != [name for name, _ in made]
            or mine != made
            or Fraction(validation.expected_hit_tokens, validation.input_tokens) != ratio
        ):
            first = next((a[0] for a, b in zip(mine, made, strict=False) if a != b), None)
            raise InputError(
                "order, hits or designed ratio are not those of the content that was made",
                request_id=first,
                field="simulation",
                remedy="simulate the requests as RequestOrderPlanner.merge_groups gives them, in the target's pass.",
            )
        if output is None or output.resolve() == built.resolve():
            return DatasetGenerationResult(built.resolve(), designed.details)
        _copy(built, output)
        return DatasetGenerationResult(output.resolve(), designed.details)


def _copy(built: Path, output: Path) -> None:
    """The dataset's files alone; half a copy never has a manifest."""
    names = list(read_json(built / "manifest.json")["files"])
    output.mkdir(parents=True, exist_ok=True)
    with exclusive(output):
        take_over(output, names)
        for name in names:
            (output / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(built / name, output / name)
        remove_stale(output, names)
        shutil.copyfile(built / "manifest.json", output / "manifest.json")
    sweep_work(output)


class PrefixCacheBenchmarkRunner:
    @staticmethod
    def run(
        requests: Sequence[RequestPlan],
        execution: ExecutionConfig,
        *,
        dataset: Path,
        run_dir: Path,
        urls: Sequence[str],
        **options: Any,
    ) -> RuntimeMetrics:
        """Send the dataset to servers and return what they counted.

        Widened: ``dataset``, where it was written; ``run_dir``; ``urls`` and further fields of ``RunOptions``.

        Raises:
            InputError: these requests are not the dataset's, or it does not fit the server.
            EnvironmentFailure: a server cannot be reached.
        """
        made = [row["request_id"] for row in read_jsonl(dataset / "request_metadata.jsonl")]
        if [request.request_id for request in requests] != made:
            raise InputError(
                "are not those of the dataset", field="requests", remedy="pass the requests written there."
            )
        slots = {} if options.get("load") else {"concurrency": execution.concurrency}
        chosen = {**slots, "gating": execution.gating, **options}
        run_benchmark(dataset, run_dir, RunOptions(urls=tuple(urls), **chosen))
        return metrics_of_run(run_dir)


class PrefixCacheReportBuilder:
    @staticmethod
    def build(
        *, manifest: DatasetManifest, validation: ValidationReport, runtime_result: RuntimeMetrics, language: str = "en"
    ) -> PrefixCacheReport:
        """See :func:`build_prefix_cache_report`."""
        return build_prefix_cache_report(manifest, validation, runtime_result, language=language)
