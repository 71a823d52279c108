"""Stage validate: the verdict on a dataset, written as validation_report.json (RFC 3.3.17)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from prefixcache.artifact import Artifact
from prefixcache.content.audit import Audit, audit_prompts
from prefixcache.dataset.shards import token_ids
from prefixcache.files import read_json, write_json
from prefixcache.stages.job import Job
from prefixcache.stages.probe_tokenizer import cached_tokenizer
from prefixcache.stages.stage import Stage
from prefixcache.workload.plan_report import FAIL, PASS, WARNING

REPORT = "validation_report.json"
FULL_AUDIT_TOKENS = 20_000_000  # up to here every prompt is re-encoded, beyond a stated sample of shards


def validate(
    root: Path, job: Job, plan: Artifact, shards: list[Artifact], collisions: Artifact, certificate: Artifact
) -> Artifact:
    """validation_report.json: the plan's figures, the certificate, the re-encoding audit, the status."""
    report = planning_report(job, read_json(plan.path(root, "plan.json")))
    proof = read_json(certificate.path(root))
    report["certificate"] = proof
    report["collisions"] = read_json(collisions.path(root))
    report["audit"] = _audit(root, job, shards, report["input_tokens"])
    broken = []
    if not proof["holds"]:
        broken.append("the certificate does not hold: real token ids hit otherwise than planned")
    if report["audit"]["differing_prompts"]:
        broken.append("texts do not encode to their token ids")
    if report["collisions"]["first_non_shared_block_duplicates"]:
        broken.append("first non-shared blocks are not unique")
    if broken:
        report["validation_status"] = report["status"] = FAIL
        report["reason"] = "; ".join(broken)
    write_json(root / REPORT, report)
    return Artifact.of("validation_report", root, [REPORT], 1)


def planning_report(job: Job, figures: dict[str, Any]) -> dict[str, Any]:
    """The report's part that the plan alone decides; the RFC's names beside `plan --json`'s."""
    rules = job.config.validation
    return {
        **figures,
        "validation_status": figures["status"],
        "pass_tolerance": float(rules.pass_tolerance),
        "warning_tolerance": float(rules.warning_tolerance),
        "on_failure": rules.on_failure,
        "signed_deviation_pp": figures["signed_deviation"] * 100,
        "absolute_deviation_pp": figures["absolute_deviation"] * 100,
    }


def _audit(root: Path, job: Job, shards: list[Artifact], tokens: int) -> dict[str, Any]:
    backend = cached_tokenizer(job.config.tokenizer).backend
    step = -(-tokens // FULL_AUDIT_TOKENS)
    audit = Audit()
    chosen = shards[::step] if step > 1 else shards
    for shard in chosen:
        table = pq.read_table(shard.path(root), columns=["request_id", "prompt", "prompt_token_ids"])
        names, texts = table["request_id"].to_pylist(), table["prompt"].to_pylist()
        audit_prompts(backend, zip(names, texts, token_ids(table), strict=True), audit)
    return {
        "method": "every prompt re-encoded" if step <= 1 else f"every prompt of each {step}th shard re-encoded",
        "prompts": audit.prompts,
        "tokens": audit.tokens,
        "differing_prompts": len(audit.differing),
        "first_differing": audit.differing[:20],
    }


def write_failed_plan(root: Path, job: Job, plan: Artifact) -> dict[str, Any]:
    """Only the report, for a target that cannot be reached and must be (`validation.on_failure: error`)."""
    report = planning_report(job, read_json(plan.path(root, "plan.json")))
    write_json(root / REPORT, report)
    return report


def is_good(status: str) -> bool:
    return status in (PASS, WARNING)


VALIDATE = Stage("validate", 1, validate, content_only=False)
