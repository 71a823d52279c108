"""Stage validate: the verdict on a dataset, written as validation_report.json (RFC 3.3.17)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefixcache.artifact import Artifact
from prefixcache.files import read_json, write_json
from prefixcache.schemas.versions import VERSIONS
from prefixcache.stages.audit import audit_shards, joints_of
from prefixcache.stages.construction import construction_warnings
from prefixcache.stages.job import Job
from prefixcache.stages.stage import Stage
from prefixcache.stages.verdict_on_collisions import collision_result, describe, refused, retaken
from prefixcache.stages.workspace import REFUSED, is_dataset
from prefixcache.workload.plan_report import FAIL, PASS, WARNING

REPORT = "validation_report.json"


def validate(
    root: Path,
    job: Job,
    plan: Artifact,
    corpus: Artifact,
    shards: list[Artifact],
    collisions: Artifact,
    certificate: Artifact,
) -> Artifact:
    """validation_report.json: the plan's figures, the certificate, the re-encoding audit, the status."""
    report = planning_report(job, read_json(plan.path(root, "plan.json")))
    proof = read_json(certificate.path(root, ".json"))
    report["certificate"] = proof
    report["collisions"] = result = collision_result(root, job, shards, read_json(collisions.path(root, ".json")))
    joints = joints_of(root, shards)
    report["audit"] = {**audit_shards(root, job, shards, report["input_tokens"]), "joints": joints}
    construction = read_json(corpus.path(root, "corpus.json"))["construction"]
    report["construction"] = construction
    report["warnings"] = construction_warnings(root, construction, shards)
    broken = []
    if not proof["holds"]:
        broken.append("the certificate does not hold: real token ids hit otherwise than planned")
    if report["audit"]["differing_prompts"] or joints["differing_prompts"]:
        broken.append("texts do not encode to their token ids")
    if refused(result):
        broken.append(describe(result))
    elif result["hits_from"] == "simulator":
        report = retaken(root, job, shards, report)
    if broken:
        report["validation_status"] = report["status"] = FAIL
        report["reason"] = "; ".join(broken)
    write_json(root / REPORT, report)
    return Artifact.of("validation_report", root, [REPORT], 1)


def planning_report(job: Job, figures: dict[str, Any]) -> dict[str, Any]:
    """The report's part that the plan alone decides; the RFC's names beside `plan --json`'s."""
    rules = job.config.validation
    return {
        "schema_version": VERSIONS["validation_report"],
        **figures,
        "validation_status": figures["status"],
        "pass_tolerance": float(rules.pass_tolerance),
        "warning_tolerance": float(rules.warning_tolerance),
        "on_failure": rules.on_failure,
        "signed_deviation_pp": _points(figures["signed_deviation"]),
        "absolute_deviation_pp": _points(figures["absolute_deviation"]),
    }


def _points(deviation: float | None) -> float | None:
    return None if deviation is None else deviation * 100


def write_failed_plan(root: Path, job: Job, plan: Artifact) -> dict[str, Any]:
    """Only the report, for a target that cannot be reached and must be (`validation.on_failure: error`).

    Where an earlier dataset stands, which keeps its own report, the file has another name.
    """
    report = planning_report(job, read_json(plan.path(root, "plan.json")))
    write_json(root / (REFUSED if is_dataset(root) else REPORT), report)
    return report


def is_good(status: str) -> bool:
    return status in (PASS, WARNING)


VALIDATE = Stage("validate", 6, validate, content_only=False)
