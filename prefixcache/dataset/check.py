"""Is a dataset what its manifest says? Everything is recomputed from the files, the manifest's claims are not used."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.certificate import KeyedPrompts, duplicate_branches, simulate_pass
from prefixcache.cache.watermark import simulate_cold, simulate_warm
from prefixcache.content.audit import Audit, audit_prompts
from prefixcache.dataset.contents import DatasetContents, read_contents
from prefixcache.dataset.files_check import check_files
from prefixcache.dataset.manifest import order_digest

Tokens = NDArray[np.int64]
MOST_LISTED = 5


class Findings:
    """Checks made so far, each with what was found wrong."""

    def __init__(self) -> None:
        self.checks: list[dict[str, Any]] = []

    def add(self, name: str, problems: list[str], *, note: str | None = None) -> None:
        entry: dict[str, Any] = {"name": name, "ok": not problems}
        if problems:
            entry["problems"] = problems[:MOST_LISTED]
            entry["problem_count"] = len(problems)
        if note:
            entry["note"] = note
        self.checks.append(entry)

    @property
    def intact(self) -> bool:
        return all(check["ok"] for check in self.checks)


def check_dataset(root: Path, tokenizer: Any | None = None) -> dict[str, Any]:
    """Recompute counts, lengths, digests, order, watermarks, certificate, seams and the verdict.

    Args:
        root: dataset folder.
        tokenizer: ``tokenizers.Tokenizer`` to re-encode with; default: the dataset's own.

    Returns:
        Plain data: ``intact`` (the files are what they claim to be), ``validation_status`` (of the recomputed figures),
        ``checks[]``, and the figures.

    Raises:
        InputError: the folder holds no dataset.
    """
    findings = Findings()
    contents = read_contents(root)
    check_files(root, contents, findings)
    result: dict[str, Any] = {
        "dataset_id": contents.manifest.get("dataset_id"),
        "request_count": len(contents.metadata),
    }
    if contents.readable and contents.metadata:
        _check_rows(contents, findings)
        hits = _check_watermarks(contents, findings)
        _check_certificate(contents, findings)
        _check_texts(contents, tokenizer, findings)
        result |= _verdict(contents, hits, findings)
    result["intact"] = findings.intact
    if not findings.intact:
        result["validation_status"] = "FAIL"
    result.setdefault("validation_status", "FAIL")
    result["checks"] = findings.checks
    return result


def _check_rows(contents: DatasetContents, findings: Findings) -> None:
    manifest, rows = contents.manifest, contents.metadata
    lengths, order, sums = [], [], []
    head = len(manifest["tokenizer"].get("head", []))
    for position, (row, ids) in enumerate(zip(rows, contents.ids, strict=True)):
        name = row["request_id"]
        if len(ids) != row["input_len"]:
            lengths.append(f"{name}: {len(ids)} token ids, input_len {row['input_len']}")
        if row["order_index"] != position:
            order.append(f"{name}: order_index {row['order_index']} in row {position}")
        parts = max(row["planned_prefix_len"], head) + row["divergence_len"] + row["suffix_len"]
        if parts != row["input_len"]:
            sums.append(f"{name}: prefix + divergence + suffix = {parts}, input_len {row['input_len']}")
    findings.add("lengths", lengths + sums)
    names = [row["request_id"] for row in rows]
    if len(set(names)) != len(names):
        order.append("request ids are not unique")
    if order_digest(names) != manifest["order_digest"]:
        order.append("the send order is not the one the report was made for (order_digest differs)")
    findings.add("order", order)
    counts = []
    if len(rows) != manifest["request_count"]:
        counts.append(f"{len(rows)} requests, the manifest says {manifest['request_count']}")
    if (total := sum(len(ids) for ids in contents.ids)) != manifest["input_tokens"]:
        counts.append(f"{total} input tokens, the manifest says {manifest['input_tokens']}")
    for group in manifest["groups"]:
        own = sum(row["prefix_group_id"] == group["group_id"] for row in rows)
        if own != group["request_count"]:
            counts.append(f"group {group['group_id']} has {own} requests, the manifest says {group['request_count']}")
    findings.add("counts", counts)


def _check_watermarks(contents: DatasetContents, findings: Findings) -> dict[str, Tokens]:
    """Planned hits per pass, recomputed from the planned prefixes."""
    rows, manifest = contents.metadata, contents.manifest
    prefixes = contents.numbers("planned_prefix_len")
    _, lanes = np.unique([f"{r['planned_dp_id']}\x1f{r['prefix_group_id']}" for r in rows], return_inverse=True)
    lanes = lanes.reshape(-1).astype(np.int64)
    names = [row["name"] for row in manifest["passes"]]
    both = {"cold": simulate_cold(prefixes, lanes, np.arange(len(rows))), "hot": simulate_warm(prefixes, lanes)}
    target = both[contents.target_pass]
    problems = []
    unit = manifest["hit_unit"]
    if (prefixes % unit).any():
        problems.append(f"planned prefixes are not multiples of the hit unit {unit}")
    claims = [("cached_watermark_before", target.before), ("expected_hit_len", target.hit)]
    claims += [("cached_watermark_after", target.after)]
    if len(names) > 1:
        claims += [(f"expected_hit_len_{name}", both[name].hit) for name in names]
    for field, value in claims:
        wrong = np.flatnonzero(contents.numbers(field) != value)
        problems += [
            f"{rows[i]['request_id']}: {field} {rows[i][field]}, recomputed {value[i]}" for i in wrong.tolist()
        ]
    findings.add("watermarks", problems)
    return {name: both[name].hit for name in names}


def _check_certificate(contents: DatasetContents, findings: Findings) -> None:
    unit = contents.manifest["hit_unit"]
    domains = [row["planned_dp_id"] for row in contents.metadata]
    requests = KeyedPrompts.of(zip(contents.ids, domains, strict=True), unit)
    warm = [(np.array(row["prompt_token_ids"], dtype=np.int32), row["planned_dp_id"]) for row in contents.warmup]
    warmup = KeyedPrompts.of(warm, unit)
    problems = []
    for row in contents.manifest["passes"]:
        field = f"expected_hit_len_{row['name']}" if len(contents.manifest["passes"]) > 1 else "expected_hit_len"
        planned = contents.numbers(field)
        simulated = simulate_pass(row["name"], requests, warmup, unit)
        problems += [
            f"{contents.metadata[i]['request_id']} ({row['name']}): planned {planned[i]}, token ids hit {simulated[i]}"
            for i in np.flatnonzero(planned != simulated).tolist()
        ]
    findings.add("certificate", problems)
    prefixes = np.array([*contents.numbers("planned_prefix_len"), *(r["planned_prefix_len"] for r in contents.warmup)])
    found = duplicate_branches(requests, warmup, prefixes.astype(np.int64), unit)
    findings.add(
        "collisions", [f"{contents.metadata[i]['request_id']}: first non-shared block not unique" for i in found]
    )


def _check_texts(contents: DatasetContents, tokenizer: Any | None, findings: Findings) -> None:
    backend = tokenizer or contents.own_tokenizer()
    if backend is None:
        findings.add("seams", ["the dataset holds no tokenizer.json; name the tokenizer with --tokenizer"])
        return
    audit = Audit()
    names = [row["request_id"] for row in contents.metadata]
    audit_prompts(backend, zip(names, contents.prompts, contents.ids, strict=True), audit)
    warm = [
        (row["request_id"], row["prompt"], np.array(row["prompt_token_ids"], dtype=np.int32)) for row in contents.warmup
    ]
    audit_prompts(backend, warm, audit)
    findings.add(
        "seams",
        [f"{name}: its text does not encode to its token ids" for name in audit.differing],
        note=f"{audit.prompts} prompts re-encoded, {audit.tokens} tokens",
    )


def _verdict(contents: DatasetContents, hits: dict[str, Tokens], findings: Findings) -> dict[str, Any]:
    """The figures and the status they deserve by the dataset's own tolerances."""
    manifest, report = contents.manifest, contents.report
    tokens = int(contents.numbers("input_len").sum())
    expected = int(hits[contents.target_pass].sum())
    target = Fraction(str(manifest["target"]["hit_ratio"]))
    deviation = Fraction(expected, tokens) - target
    problems = []
    if expected != manifest["theoretical_result"]["expected_hit_tokens"]:
        claimed = manifest["theoretical_result"]["expected_hit_tokens"]
        problems.append(f"{expected} hit tokens expected, the manifest says {claimed}")
    status = _status(abs(deviation), report)
    if status != manifest["theoretical_result"]["validation_status"]:
        claimed = manifest["theoretical_result"]["validation_status"]
        problems.append(f"the figures deserve {status}, the manifest says {claimed}")
    findings.add("verdict", problems)
    return {
        "input_tokens": tokens,
        "target_hit_ratio": float(target),
        "expected_hit_tokens": expected,
        "designed_hit_ratio": expected / tokens,
        "signed_deviation": float(deviation),
        "absolute_deviation": float(abs(deviation)),
        "passes": [
            {"name": name, "expected_hit_tokens": int(hit.sum()), "designed_hit_ratio": int(hit.sum()) / tokens}
            for name, hit in hits.items()
        ],
        "validation_status": status,
    }


def _status(deviation: Fraction, report: dict[str, Any]) -> str:
    accept = report.get("on_failure") == "accept_with_warning"
    if not report.get("reachable", True):
        return "PASS_WITH_WARNING" if accept else "FAIL"
    if deviation <= Fraction(str(report.get("pass_tolerance", 0.01))):
        return "PASS"
    if deviation <= Fraction(str(report.get("warning_tolerance", 0.02))) or accept:
        return "PASS_WITH_WARNING"
    return "FAIL"
