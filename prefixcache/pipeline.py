"""The list of stages that make a dataset, written once: the flow and the library call run the same list (RFC 3.5.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.errors import VerdictError, locating
from prefixcache.files import read_json
from prefixcache.logs import log, percent
from prefixcache.stages.build_masters import BUILD_MASTERS
from prefixcache.stages.build_shards import BUILD_SHARDS, shard_files
from prefixcache.stages.check_collisions import CHECK_COLLISIONS
from prefixcache.stages.hash_blocks import HASH_BLOCKS
from prefixcache.stages.job import Job
from prefixcache.stages.owned import take_over, withdraw
from prefixcache.stages.plan_lengths import PLAN_LENGTHS
from prefixcache.stages.plan_prefixes import PLAN_PREFIXES
from prefixcache.stages.pool import keeping_pools
from prefixcache.stages.probe_tokenizer import PROBE_TOKENIZER
from prefixcache.stages.publish import PUBLISH
from prefixcache.stages.record import Recorded, keeping_context
from prefixcache.stages.repair import Inputs, build_and_prove
from prefixcache.stages.simulate import SIMULATE
from prefixcache.stages.stage import InProcess, Runner
from prefixcache.stages.store import Store, uploading
from prefixcache.stages.tokenize_sources import TOKENIZE_SOURCES
from prefixcache.stages.validate import VALIDATE, is_good, write_failed_plan
from prefixcache.stages.verdict_on_collisions import describe, first_colliding, refused
from prefixcache.stages.workspace import MANIFEST, REFUSED, exclusive, is_dataset, output_folder
from prefixcache.storage.address import is_address
from prefixcache.version import GENERATOR_VERSION
from prefixcache.workload.refusal import refusal

STAGES = (
    PROBE_TOKENIZER,
    PLAN_LENGTHS,
    PLAN_PREFIXES,
    TOKENIZE_SOURCES,
    BUILD_MASTERS,
    BUILD_SHARDS,
    HASH_BLOCKS,
    CHECK_COLLISIONS,
    SIMULATE,
    VALIDATE,
    PUBLISH,
)


@dataclass(frozen=True)
class DatasetGenerationResult:
    """Where the dataset is and what was found out about it (RFC 3.5.2).

    ``address``: where it was stored too; ``root`` is then the copy on this machine.
    """

    root: Path
    report: dict[str, Any]
    address: str | None = None

    @property
    def data(self) -> Path:
        return self.root / "data.jsonl"

    @property
    def manifest(self) -> Path:
        return self.root / "manifest.json"

    @property
    def request_metadata(self) -> Path:
        return self.root / "request_metadata.jsonl"

    @property
    def validation_report(self) -> Path:
        return self.root / "validation_report.json"

    @property
    def status(self) -> str:
        return str(self.report["validation_status"])


def generate_prefix_cache_dataset(
    config: PrefixCacheDatasetConfig, output: Path | str, runner: Runner | None = None
) -> DatasetGenerationResult:
    """Plan, build, prove and publish a dataset into ``output``.

    Args:
        config: the configuration.
        output: folder of the dataset; files of an earlier one there are replaced once the first of the new ones can
            be built. Files that this tool did not write stay. Or an address such as ``s3://bucket/folder``: the dataset
            is made in a folder of this machine and stored there at the end, credentials come from the environment.
        runner: who runs the stages; default: this process.

    Raises:
        InputError, EnvironmentFailure: nothing is published.
        VerdictError: the target cannot be reached and must be (only the report is written, an earlier
            dataset stays), or the built
            dataset failed its proof (no manifest is written).
    """
    store = Store(str(output)) if is_address(output) else None
    root = store.root if store else output_folder(output)
    with locating(stage="config", dataset_id=config.dataset_id):
        job = Job.of(config)
    log("config").info("dataset %s: configuration %s", config.dataset_id, job.fingerprint(content_only=False)[:16])
    recorded = Recorded(runner or InProcess())
    known = locating(dataset_id=config.dataset_id, retry_count=0)
    with known, exclusive(root), uploading(store), keeping_context(root, job, recorded), keeping_pools():
        result = _generate(job, root, recorded)
    return replace(result, address=store.address) if store else result


def _generate(job: Job, root: Path, runner: Runner) -> DatasetGenerationResult:
    config = job.config
    (root / REFUSED).unlink(missing_ok=True)
    frame = runner.call(PROBE_TOKENIZER, root, job)
    lengths = runner.call(PLAN_LENGTHS, root, job, frame)
    plan = runner.call(PLAN_PREFIXES, root, job, frame, lengths)
    figures = read_json(plan.path(root, "plan.json"))
    _log_plan(figures)
    if not is_good(figures["status"]) and config.validation.on_failure == "error":
        report = write_failed_plan(root, job, plan)
        if not is_dataset(root):
            withdraw(root)
        raise refusal(report)
    corpus = runner.call(TOKENIZE_SOURCES, root, job, lengths)
    masters = runner.call(BUILD_MASTERS, root, job, plan, corpus)
    if not _remade(root, job):
        take_over(root, shard_files(root, job.config, plan))
    proven = build_and_prove(runner, root, job, Inputs(frame, plan, corpus, masters))
    shards = proven.shards
    verdict = runner.call(VALIDATE, root, job, plan, corpus, shards, proven.collisions, proven.certificate)
    report = read_json(verdict.path(root))
    _log_proof(report)
    if not _proven(report):
        take_over(root, ())
        if refused(report["collisions"]):
            first = first_colliding(root, shards, proven.collisions)
            withdraw(root)
            raise _collided(job, report["collisions"], *first)
        raise VerdictError(
            f"the dataset is not what was planned: {report['reason']}",
            stage="validate",
            dataset_id=config.dataset_id,
            remedy="see validation_report.json; please report it, this is a defect of the generator or the tokenizer.",
        )
    runner.call(PUBLISH, root, job, corpus, proven.masters, shards, verdict)
    return DatasetGenerationResult(root, report)


def _remade(root: Path, job: Job) -> bool:
    """The folder holds the very dataset that is being made: its files are replaced by equal ones."""
    try:
        manifest = read_json(root / MANIFEST)
        return bool(manifest["config"] == job.identity and manifest["generator_version"] == GENERATOR_VERSION)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _log_plan(figures: dict[str, Any]) -> None:
    lengths = figures["input_length"]
    log("lengths").info(
        "dataset %s: %d requests, %d input tokens, lengths %s to %s",
        *(figures["dataset_id"], figures["request_count"], figures["input_tokens"], lengths["min"], lengths["max"]),
    )
    log("planning").info(
        "dataset %s: %s, target %s, designed %s, at most %s, %d requests adjusted",
        *(figures["dataset_id"], figures["status"], percent(figures["target_hit_ratio"])),
        *(percent(figures["designed_hit_ratio"]), percent(figures["max_reachable_hit_ratio"])),
        figures["adjusted_requests"],
    )


def _log_proof(report: dict[str, Any]) -> None:
    log("collisions").info("dataset %s: %s", report["dataset_id"], report["collisions"])
    proof = {row["name"]: row["mismatched_requests"] for row in report["certificate"]["passes"]}
    log("simulation").info(
        "dataset %s: requests that hit otherwise than planned, per pass: %s", report["dataset_id"], proof
    )


def _proven(report: dict[str, Any]) -> bool:
    return bool(
        report["certificate"]["holds"]
        and not report["audit"]["differing_prompts"]
        and not report["audit"]["joints"]["differing_prompts"]
        and not refused(report["collisions"])
    )


def _collided(job: Job, result: dict[str, Any], request_id: str | None, group: str | None) -> VerdictError:
    return VerdictError(
        describe(result),
        field="suffix.collision_detection.on_collision",
        stage="check_collisions",
        dataset_id=job.config.dataset_id,
        request_id=request_id,
        group=group,
        retry_count=result["max_retries"],
        remedy="use longer inputs, fewer requests or a larger source, or write on_collision: accept_with_warning to "
        "get the dataset with the hits that the simulator finds.",
    )
