"""Has the manifest the form of its schema, and is it as it was sealed? Asked before anything else is believed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prefixcache.dataset.manifest import DIGESTED_FROM, manifest_digest
from prefixcache.schemas.conformance import misfits
from prefixcache.schemas.dataset_files import manifest as manifest_schema
from prefixcache.schemas.dataset_files import validation_report as report_schema
from prefixcache.schemas.passes import PASSES_OF_MODE
from prefixcache.schemas.versions import FIRST

"""Execution mode → its measured passes; every other mode has the cold one alone."""


def form_problems(manifest: dict[str, Any], report: Any) -> list[str]:
    """What keeps the other checks from being made at all, by field. ``report``: None where it cannot be read."""
    old = manifest.get("schema_version", FIRST) < DIGESTED_FROM
    missing = {"manifest_digest is missing", "schema_version is missing"} if old else set()
    problems = [f"manifest.json: {text}" for text in misfits(manifest, manifest_schema()) if text not in missing]
    if report is not None:
        problems += [f"validation_report.json: {text}" for text in misfits(report, report_schema())]
    return problems or [f"manifest.json: {text}" for text in _senseless(manifest)]


def _senseless(manifest: dict[str, Any]) -> Iterator[str]:
    """Values of the right kind with which nothing can be computed."""
    for name in ("block_size", "hit_unit", "request_count"):
        if not manifest[name]:
            yield f"{name} is 0"
    names, mode = [row["name"] for row in manifest["passes"]], manifest["execution_mode"]
    if tuple(names) != PASSES_OF_MODE.get(mode, ("cold",)):
        yield f"passes are {', '.join(names) or 'none'}, which execution_mode {mode} does not have"
    groups = [row["group_id"] for row in manifest["groups"]]
    own = manifest["target"].get("groups")
    targets = groups if own is None else [row["id"] for row in own]
    for what, found in (("target.groups", targets), ("prefix.groups", manifest["prefix"]["groups"])):
        if found != groups:
            yield f"{what} are not those of groups[]"


def seal_problems(manifest: dict[str, Any]) -> list[str]:
    """Was anything in the manifest changed after it was written? Whatever that is; the other checks may name it."""
    if "manifest_digest" not in manifest or manifest_digest(manifest) == manifest["manifest_digest"]:
        return []
    return ["manifest.json was changed after it was written: manifest_digest is not that of its content"]
