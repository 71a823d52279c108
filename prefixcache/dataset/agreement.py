"""What the manifest states twice, or beside its report and its configuration, must be the same everywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from prefixcache.config.output import FORMATS
from prefixcache.dataset.contents import DatasetContents
from prefixcache.dataset.stored import DATA
from prefixcache.workload.lengths import summarize

Claim = tuple[str, str, Any, Any]
"""(file and block, field, what is stated, what it should be)"""
SAME_IN_REPORT = (
    *("dataset_id", "execution_mode", "block_size", "hit_unit", "hit_drop", "groups", "domains", "passes"),
    *("request_count", "input_tokens", "output_tokens"),
)


def agreements(contents: DatasetContents) -> Iterator[Claim]:
    """Claims that other files, or other places of the manifest, state or give."""
    yield from _with_report(contents.manifest, contents.report)
    yield from _with_config(contents.manifest, contents.manifest["config"])
    yield from _within(contents.manifest)
    yield from _row_counts(contents)
    yield from _kept(contents)
    yield from _lengths(contents)
    if (backend := contents.own_tokenizer()) is not None:
        digest = hashlib.sha256(backend.to_str().encode()).hexdigest()
        yield "manifest.json tokenizer", "sha256", contents.manifest["tokenizer"]["sha256"], digest


def stated_twice(manifest: dict[str, Any], report: dict[str, Any]) -> Iterator[Claim]:
    """What manifest, report and configuration state, against each other: no row is read. Both are of their form."""
    yield from _with_report(manifest, report)
    yield from _with_config(manifest, manifest["config"])
    yield from _within(manifest)
    theory = manifest["theoretical_result"]
    for name in theory:
        yield "manifest.json theoretical_result", name, theory[name], report[name]
    yield "manifest.json target", "hit_ratio", manifest["target"]["hit_ratio"], report["target_hit_ratio"]
    ratios = {row["group_id"]: row["target_hit_ratio"] for row in report["groups"]}
    for row in manifest["target"].get("groups", []):
        yield f"manifest.json target.groups {row['id']}", "hit_ratio", row["hit_ratio"], ratios.get(row["id"])
    certificate, proven = manifest["certificate"], report.get("certificate", {})
    for name in certificate:
        yield "manifest.json certificate", name, certificate[name], proven.get(name)
    for name in ("seed", "block_size", "dataset_id"):
        yield "manifest.json", name, manifest[name], manifest["config"].get(name)


def _with_report(manifest: dict[str, Any], report: dict[str, Any]) -> Iterator[Claim]:
    for name in SAME_IN_REPORT:
        yield "manifest.json", name, manifest[name], report[name]
    pairs = [
        ("prefix", "minimum_non_shared_length", report["minimum_non_shared_length"]),
        ("routing", "cache_domains", report["cache_domains"]),
        ("target", "scope", report["target_scope"]),
        ("target", "semantics", report["semantics"]),
        ("prompt", "construction", report.get("construction")),
        *(("planning", name, report[name]) for name in ("objective", "trajectories", "adjusted_requests")),
    ]
    for block, name, value in pairs:
        yield f"manifest.json {block}", name, manifest[block][name], value
    yield "manifest.json", "collision_result", manifest["collision_result"], report.get("collisions")
    tokens = manifest["tokenizer"]
    for side in ("head", "tail"):
        yield "manifest.json tokenizer", side, len(tokens[side]), report[f"{side}_tokens"]


def _with_config(manifest: dict[str, Any], config: dict[str, Any]) -> Iterator[Claim]:
    """The configuration leaves out what is null."""
    order = () if "reordered_from" in manifest else ("request_order",)
    suffix = config.get("suffix", {})
    blocks = [(name, manifest[name], config.get(name, {})) for name in ("routing", "execution", "planning", *order)]
    blocks += [
        (
            "prompt",
            manifest["prompt"],
            {"system": None, **config.get("prompt", {}), "form": manifest["prompt"]["form"]},
        ),
        ("suffix", manifest["suffix"], {"fields": None, **suffix, "source": manifest["suffix"]["source"]}),
        (
            "collision_detection",
            manifest["collision_detection"],
            {"chunk": None, **suffix.get("collision_detection", {})},
        ),
        *((name, manifest[name], config.get(name, {})) for name in ("input_length", "output_length")),
    ]
    for block, stated, configured in blocks:
        for name in sorted(stated.keys() & configured.keys()):
            # Where the objective is not in use (there is no target) the manifest says null.
            if not (block == "planning" and name == "objective"):
                yield f"manifest.json {block}", name, _present(stated[name]), _present(configured[name])
        for name in sorted(configured.keys() - stated.keys()) if block.endswith("_length") else ():
            yield f"manifest.json {block}", name, None, configured[name]
    yield "manifest.json config", "request_count", config.get("request_count"), manifest["request_count"]
    if manifest["target"].get("groups") is None:
        goal = config.get("target", {}).get("hit_ratio")
        if isinstance(goal, int | float | str):
            yield "manifest.json config.target", "hit_ratio", float(goal), manifest["target"]["hit_ratio"]
    stated_order = manifest["request_order"]
    if isinstance(name := config.get("request_order", {}).get("mode"), str) and order:
        yield "manifest.json config.request_order", "mode", name in (stated_order["across_group"], name), True


def _present(value: Any) -> Any:
    """Without members that are null: the configuration leaves them out."""
    return {name: item for name, item in value.items() if item is not None} if isinstance(value, dict) else value


def _within(manifest: dict[str, Any]) -> Iterator[Claim]:
    prefix, suffix, unit = manifest["prefix"], manifest["suffix"], manifest["hit_unit"]
    yield "manifest.json", "generator", manifest["generator"], "prefixcache"
    yield "manifest.json execution", "mode", manifest["execution"]["mode"], manifest["execution_mode"]
    yield "manifest.json prefix", "group_count", prefix["group_count"], len(prefix["groups"])
    several = "multi_prefix" if len(prefix["groups"]) > 1 else "single_prefix"
    yield "manifest.json prefix", "mode", prefix["mode"], several
    for place, block, name in (("prefix", prefix, "nested_prefix"), ("suffix", suffix, "divergence_block")):
        yield f"manifest.json {place}", name, block[name], True
    prompt = manifest["prompt"]
    for name in ("head_text", "tail_text") if (prompt["format"], prompt["system"]) == ("completion", None) else ():
        yield "manifest.json prompt", name, prompt[name], ""
    split = "largest remainder over input tokens, moved from groups at their limit"
    yield "manifest.json planning", "budget_split", manifest["planning"]["budget_split"], split
    units = manifest["valid_hit_units"]
    right = [own for own in units if own and unit % own == 0]
    yield "manifest.json", "valid_hit_units", units, sorted({*right, unit})
    own = (suffix["source"], suffix["source_samples"], suffix["source_tokens"])
    known = [(row.get("source"), row.get("samples"), row.get("tokens")) for row in manifest["sources"]]
    yield "manifest.json suffix", "source, source_samples, source_tokens", own in known, True


def _row_counts(contents: DatasetContents) -> Iterator[Claim]:
    files, shards, requests = contents.manifest["files"], 0, len(contents.metadata)
    expected = {
        "data.jsonl": requests,
        "request_metadata.jsonl": requests,
        "warmup.jsonl": len(contents.warmup),
        "shards/warmup.parquet": len(contents.warmup),
        "validation_report.json": 1,
        "tokenizer.json": 1,
    }
    for name, entry in files.items():
        if name.startswith("shards/requests-"):
            shards += entry["rows"]
        elif name in expected:
            yield f"manifest.json files {name}", "rows", entry["rows"], expected[name]
        else:
            yield "manifest.json files", name, "listed", "no file of a dataset"
    if formats_of(files) != ["jsonl"]:
        yield "manifest.json files", "rows of all shards", shards, requests


def formats_of(files: dict[str, Any]) -> list[str]:
    """Which files hold the prompts, as ``output.formats`` names them."""
    there = {"parquet": any(name.startswith("shards/requests-") for name in files), "jsonl": DATA in files}
    return [name for name in FORMATS if there[name]]


def _kept(contents: DatasetContents) -> Iterator[Claim]:
    """What is stored of the prompts, beside what the manifest and its configuration say of it."""
    manifest = contents.manifest
    prompts = len(contents.prompts) + len(contents.warmup)
    texts = sum(prompt is not None for prompt in contents.prompts)
    texts += sum(row["prompt"] is not None for row in contents.warmup)
    form = "text" if texts == prompts else "ids" if not texts else "mixed"
    yield "manifest.json prompt", "form", manifest["prompt"]["form"], form
    output = manifest["config"].get("output", {})
    yield "manifest.json config.output", "formats", output.get("formats", list(FORMATS)), formats_of(manifest["files"])
    asked = output.get("prompts", "both")
    kept = "text" if not contents.ids_in_rows else "ids" if form == "ids" else "both"
    if manifest["prompt"]["construction"] == "token_ids" and asked == "both":
        kept = "both" if kept == "ids" else kept  # there never was a text
    yield "manifest.json config.output", "prompts", asked, kept


def _lengths(contents: DatasetContents) -> Iterator[Claim]:
    for name, field in (("input_length", "input_len"), ("output_length", "output_len")):
        lengths = contents.numbers(field).astype(np.int64)
        stated = contents.manifest[name]["summary"]
        configured = contents.manifest[name].get("bins")
        bins = [tuple(row["range"]) for row in stated["bins"]] if configured else None
        for key, value in summarize(lengths, bins).items():
            for place, block in (("manifest.json", stated), ("validation_report.json", contents.report[name])):
                yield f"{place} {name}", key, block[key], value
