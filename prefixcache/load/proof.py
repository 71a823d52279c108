"""May a dataset be run? Its files are those its manifest names, its certificate holds, its verdict is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from prefixcache.dataset.agreement import stated_twice
from prefixcache.dataset.claims_check import agree, shortened
from prefixcache.dataset.form_check import form_problems
from prefixcache.dataset.manifest import DIGESTED_FROM, dataset_digest, manifest_digest
from prefixcache.dataset.stored import has_file
from prefixcache.errors import InputError, PrefixCacheError, VerdictError
from prefixcache.files import read_json, sha256_file
from prefixcache.load.sending.prompts import REGENERATE
from prefixcache.schemas.versions import check_version

if TYPE_CHECKING:
    from prefixcache.load.dataset import Planned

REPORT = "validation_report.json"
STAGE = "run_benchmark"
MOST_QUOTED = 300
RUNNABLE = ("PASS", "PASS_WITH_WARNING")
VALIDATE = "See what `prefixcache validate --dataset D` finds, and generate the dataset again."


def check_files(directory: Path, manifest: dict[str, Any], changed: str) -> None:
    """Every file of the manifest is there with its SHA-256, and the dataset's digest is theirs.

    Args:
        directory, manifest: of the dataset.
        changed: the remedy for a file that was edited.

    Raises:
        InputError: the first file that is not as written.
    """
    files = manifest["files"]
    if not isinstance(files, dict) or not all(isinstance(e, dict) and e.get("sha256") for e in files.values()):
        raise broken(directory, "manifest.json names no files with their sha256")
    for name in ("data.jsonl", "request_metadata.jsonl", REPORT):
        if name not in files and (name != "data.jsonl" or has_file(manifest, name)):
            raise broken(directory, f"manifest.json does not name {name} among its files")
    for name, entry in files.items():
        path = directory / name
        if not path.is_file():
            raise broken(directory, f"{name} is missing")
        if entry["sha256"] != sha256_file(path):
            raise _changed(manifest, f"{name} was changed after the dataset was written (its sha256 differs from the "
                           "manifest's)", changed)  # fmt: skip
    digested = check_version("manifest", manifest) >= DIGESTED_FROM
    if digested and manifest.get("manifest_digest") != manifest_digest(manifest):
        raise _changed(
            manifest,
            "manifest.json was changed after the dataset was written (manifest_digest is not its own)",
            changed,
        )
    if manifest["dataset_digest"] != dataset_digest(files):
        raise _changed(
            manifest,
            "manifest.json was changed after the dataset was written (dataset_digest is not that of its files)",
            changed,
        )


def check_verdict(directory: Path, manifest: dict[str, Any]) -> None:
    """The certificate is there and holds, and the dataset did not fail.

    A best plan that misses its target is run where its configuration asked for it (``validation.on_failure: warn``).

    Raises:
        VerdictError: the certificate does not hold, or the status is FAIL.
        InputError: the report lacks either.
    """
    report = _report(directory)
    certificate, status = report.get("certificate"), report.get("validation_status")
    if not isinstance(certificate, dict) or certificate.get("holds") is None or status is None:
        raise broken(directory, f"{REPORT} has no certificate and status", VALIDATE)
    misses_target = report.get("on_failure") == "warn" and not (report.get("audit") or {}).get("differing_prompts")
    if certificate["holds"] is not True or (status not in RUNNABLE and not misses_target):
        beside = "" if certificate["holds"] is True else ", its certificate does not hold"
        raise VerdictError(
            f"the dataset cannot be run: its status is {status}{beside} ({_reason(report)})",
            field="validation_status",
            remedy=VALIDATE,
            stage=STAGE,
            dataset_id=str(manifest["dataset_id"]),
        )


def check_claims(directory: Path, manifest: dict[str, Any]) -> None:
    """The manifest has its form and states what the report and its own configuration state.

    Without it an edited claim would pass wherever the manifest is sealed anew, or is of a version that has no seal.

    Raises:
        InputError: the first thing that is not so.
    """
    problems = form_problems(manifest, report := _report(directory))
    if not problems:
        try:
            problems = [
                f"{place}: {name} is {shortened(claimed)}, it should be {shortened(found)}"
                for place, name, claimed, found in stated_twice(manifest, report)
                if not agree(claimed, found)
            ]
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            problems = ["manifest.json states what cannot be compared with its report and configuration"]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise _untrue(manifest, f"{problems[0]}{more}")


def check_sums(directory: Path, manifest: dict[str, Any], requests: Sequence[Planned]) -> None:
    """The manifest's totals are those of the rows.

    Raises:
        InputError: no row, or a total that is another.
    """
    if not requests:
        raise broken(directory, "request_metadata.jsonl has no request")
    found = {
        "request_count": len(requests),
        "input_tokens": sum(r.input_len for r in requests),
        "output_tokens": sum(r.output_len for r in requests),
    }
    sums = [(name, manifest[name], value) for name, value in found.items()]
    for row in manifest["passes"]:
        hits = sum(r.hits.get(row["name"], 0) for r in requests)
        sums.append((f"expected_hit_tokens of pass {row['name']}", row["expected_hit_tokens"], hits))
    for name, stated, value in sums:
        if stated != value:
            raise _untrue(manifest, f"manifest.json: {name} is {stated}, it should be {value}")


def no_dataset(directory: Path) -> PrefixCacheError:
    """Why a folder without a manifest is none: a generation that failed leaves its report alone."""
    if not (directory / REPORT).is_file():
        return broken(directory, "manifest.json is missing")
    report = _report(directory)
    if report.get("validation_status") in (None, *RUNNABLE):
        return broken(directory, "manifest.json is missing")
    return VerdictError(
        f"{directory} holds no dataset, its generation ended with {report['validation_status']}: {_reason(report)}",
        field="dataset",
        remedy=f"See suggestions in {directory / REPORT}, change the configuration and generate it again.",
        stage=STAGE,
        dataset_id=str(report["dataset_id"]) if report.get("dataset_id") else None,
    )


def broken(directory: Path, what: str, remedy: str = REGENERATE) -> InputError:
    return InputError(
        f"{directory} is not a complete dataset: {what}", field="dataset", remedy=remedy, stage=STAGE
    )  # fmt: skip


def _untrue(manifest: dict[str, Any], what: str) -> InputError:
    """A claim that nothing else in the dataset bears out; the message may quote any file's content."""
    return _changed(manifest, f"the dataset is not the one that was validated: {what[:MOST_QUOTED]}", VALIDATE)


def _changed(manifest: dict[str, Any], message: str, remedy: str) -> InputError:
    return InputError(
        message, field="dataset", remedy=remedy, stage=STAGE, dataset_id=str(manifest["dataset_id"])
    )  # fmt: skip


def _report(directory: Path) -> dict[str, Any]:
    try:
        report = read_json(directory / REPORT)
    except orjson.JSONDecodeError:
        report = None
    if not isinstance(report, dict):
        raise broken(directory, f"{REPORT} is not a JSON object")
    return report


def _reason(report: dict[str, Any]) -> str:
    return str(report.get("reason") or f"no reason is stated in {REPORT}")
