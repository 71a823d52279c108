"""Is a dataset what its manifest says? Everything is recomputed from the files, the manifest's claims are not used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.watermark import simulate_cold, simulate_replay, simulate_warm
from prefixcache.content.accelerated import PACKAGE, fast_encoder
from prefixcache.content.audit import Audit, audit_prompts
from prefixcache.content.framing import Framing
from prefixcache.dataset.claims_check import claim_problems
from prefixcache.dataset.content_check import (
    collision_problems,
    collisions_were_accepted,
    examine,
    hits_are_simulated,
    status_with_collisions,
)
from prefixcache.dataset.contents import DatasetContents, read_contents
from prefixcache.dataset.files_check import check_files
from prefixcache.dataset.form_check import form_problems, seal_problems
from prefixcache.dataset.manifest import order_digest

Tokens = NDArray[np.int64]
Encode = Callable[[list[str]], list[Any]]
MANY_TOKENS, PROBES = 20_000_000, 64  # beyond so many a faster tokenizer is asked for
MOST_LISTED = 5
STATUSES = ("PASS", "PASS_WITH_WARNING", "FAIL")


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

    def passed(self, name: str) -> bool:
        """The check was made and found nothing."""
        return any(check["name"] == name and check["ok"] for check in self.checks)

    @contextmanager
    def whatever_is_stated(self, name: str) -> Iterator[None]:
        """Figures that were edited can make anything impossible to compute: that is a finding, no failure of ours."""
        try:
            yield
        except Exception as error:
            text = f"nothing more can be checked with what the files state ({type(error).__name__}: {str(error)[:100]})"
            self.add(name, [text])

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
    result: dict[str, Any] = {
        "dataset_id": contents.manifest.get("dataset_id"),
        "request_count": len(contents.metadata),
    }
    findings.add("form", form_problems(contents.manifest, contents.report if contents.readable else None))
    findings.add("seal", seal_problems(contents.manifest))
    if findings.passed("form"):
        with findings.whatever_is_stated("digests"):
            check_files(root, contents, findings)
    if contents.readable and contents.metadata and findings.passed("form"):
        with findings.whatever_is_stated("verdict"):
            _check_contents(contents, tokenizer, findings, result)
    result["intact"] = findings.intact
    if not findings.intact:
        result["validation_status"] = "FAIL"
    result.setdefault("validation_status", "FAIL")
    result["checks"] = findings.checks
    return result


def _check_contents(
    contents: DatasetContents, tokenizer: Any | None, findings: Findings, result: dict[str, Any]
) -> None:
    """Everything that takes the rows; ``result`` is given the figures."""
    _check_rows(contents, findings)
    examined = examine(contents)
    simulated = examined.hits
    hits = _check_watermarks(contents, findings, simulated if hits_are_simulated(contents) else None)
    _check_certificate(contents, simulated, findings)
    findings.add("collisions", collision_problems(contents, examined.collisions))
    _check_texts(contents, tokenizer, findings)
    result |= _verdict(contents, hits, findings)
    findings.add("claims", claim_problems(contents, hits, result))


def _check_rows(contents: DatasetContents, findings: Findings) -> None:
    manifest, rows = contents.manifest, contents.metadata
    lengths, order, sums, tokens = [], [], [], []
    head, tail = (len(manifest["tokenizer"].get(side) or []) for side in ("head", "tail"))
    for position, (row, ids) in enumerate(zip(rows, contents.ids, strict=True)):
        name = row["request_id"]
        tokens.append(len(ids))
        if contents.max_tokens[position] != row["output_len"]:
            sums.append(f"{name}: max_tokens {contents.max_tokens[position]}, output_len {row['output_len']}")
        if len(ids) != row["input_len"]:
            lengths.append(f"{name}: {len(ids)} token ids, input_len {row['input_len']}")
        if row["order_index"] != position:
            order.append(f"{name}: order_index {row['order_index']} in row {position}")
        parts = max(row["planned_prefix_len"], head) + row["divergence_len"] + row["suffix_len"] + tail
        if parts != row["input_len"]:
            sums.append(f"{name}: prefix + divergence + suffix + tail = {parts}, input_len {row['input_len']}")
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
    if (total := sum(tokens)) != manifest["input_tokens"]:
        counts.append(f"{total} input tokens, the manifest says {manifest['input_tokens']}")
    for group in manifest["groups"]:
        own = sum(row["prefix_group_id"] == group["group_id"] for row in rows)
        if own != group["request_count"]:
            counts.append(f"group {group['group_id']} has {own} requests, the manifest says {group['request_count']}")
    findings.add("counts", counts)


def _check_watermarks(
    contents: DatasetContents, findings: Findings, taken: dict[str, Tokens] | None
) -> dict[str, Tokens]:
    """Planned hits per pass, recomputed from the planned prefixes; ``taken``: hits that replace them."""
    rows, manifest = contents.metadata, contents.manifest
    prefixes = contents.numbers("planned_prefix_len")
    _, lanes = np.unique([f"{r['planned_dp_id']}\x1f{r['prefix_group_id']}" for r in rows], return_inverse=True)
    lanes = lanes.reshape(-1).astype(np.int64)
    names = [row["name"] for row in manifest["passes"]]
    unit = manifest["hit_unit"]
    head = len(manifest["tokenizer"].get("head") or []) // unit * unit
    drop = manifest.get("hit_drop", 0) * unit
    domains, lengths = contents.numbers("planned_dp_id"), contents.numbers("input_len")
    both = {
        "cold": simulate_cold(prefixes, lanes, np.arange(len(rows)), domains=domains, head=head, drop=drop),
        "hot": simulate_warm(prefixes, lanes, drop=drop),
        "replay": simulate_replay(lengths, prefixes, lanes, unit=unit, drop=drop),
    }
    for name, hits in (taken or {}).items():
        both[name] = replace(both[name], hit=hits)
    target = both[contents.target_pass]
    problems = []
    if (prefixes % unit).any():
        problems.append(f"planned prefixes are not multiples of the hit unit {unit}")
    if (prefixes < head).any():
        problems.append(f"planned prefixes are shorter than the {head} tokens that all prompts share")
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


def _check_certificate(contents: DatasetContents, simulated: dict[str, Tokens], findings: Findings) -> None:
    problems = []
    for name, hits in simulated.items():
        planned = contents.numbers(f"expected_hit_len_{name}" if len(simulated) > 1 else "expected_hit_len")
        problems += [
            f"{contents.metadata[i]['request_id']} ({name}): planned {planned[i]}, token ids hit {hits[i]}"
            for i in np.flatnonzero(planned != hits).tolist()
        ]
    findings.add("certificate", problems)


def _check_texts(contents: DatasetContents, tokenizer: Any | None, findings: Findings) -> None:
    backend = tokenizer or contents.own_tokenizer()
    if backend is None:
        findings.add("seams", ["the dataset holds no tokenizer.json; name the tokenizer with --tokenizer"])
        return
    framing = contents.framing
    if framing is None:
        ids_only = contents.manifest["prompt"]["construction"] == "token_ids"
        why = "prompts are token ids only" if ids_only else "no text was kept (output.prompts: ids)"
        findings.add("seams", [], note=f"{why}, there is no text to encode")
        return
    audit = Audit()

    encode, by = _encoder(contents, framing, backend)
    names = [row["request_id"] for row in contents.metadata]
    texts = (prompt or "" for prompt in contents.prompts)
    audit_prompts(encode, zip(names, texts, contents.ids, strict=True), audit)
    warm = [
        (row["request_id"], row["prompt"], np.array(row["prompt_token_ids"], dtype=np.int32)) for row in contents.warmup
    ]
    audit_prompts(encode, warm, audit)
    findings.add(
        "seams",
        [f"{name}: its text does not encode to its token ids" for name in audit.differing],
        note=f"{audit.prompts} prompts re-encoded, {audit.tokens} tokens{by}",
    )


def _encoder(contents: DatasetContents, framing: Framing, backend: Any) -> tuple[Encode, str]:
    """Prompts to ids as a server has them, and a word on who does it."""

    def reference(texts: list[str]) -> list[list[int]]:
        return [item.ids for item in backend.encode_batch_fast(texts, add_special_tokens=framing.add_special)]

    if int(contents.numbers("input_len").sum()) > MANY_TOKENS:
        samples = [framing.served(prompt or "") for prompt in contents.prompts[:PROBES]]
        if quick := fast_encoder(backend.to_str(), reference, samples):
            return (lambda prompts: quick([framing.served(prompt) for prompt in prompts])), f", by {PACKAGE}"
    return (lambda prompts: framing.encode(backend, prompts)), ""


def _verdict(contents: DatasetContents, hits: dict[str, Tokens], findings: Findings) -> dict[str, Any]:
    """The figures and the status they deserve by the dataset's own tolerances."""
    manifest, report = contents.manifest, contents.report
    tokens = int(contents.numbers("input_len").sum())
    expected = int(hits[contents.target_pass].sum())
    target = _target(contents)
    deviation = None if target is None else Fraction(expected, tokens) - target
    problems = []
    if expected != manifest["theoretical_result"]["expected_hit_tokens"]:
        claimed = manifest["theoretical_result"]["expected_hit_tokens"]
        problems.append(f"{expected} hit tokens expected, the manifest says {claimed}")
    groups = _group_verdicts(contents, hits[contents.target_pass])
    if groups:
        status = max((row["status"] for row in groups if row["status"]), key=STATUSES.index, default="PASS")
    else:
        status = "PASS" if deviation is None else _status(abs(deviation), report.get("reachable", True), report)
    if collisions_were_accepted(contents):
        on_collision = manifest["collision_result"]["on_collision"]
        status = status_with_collisions(status, report.get("reachable", True), on_collision)
    if status != manifest["theoretical_result"]["validation_status"]:
        claimed = manifest["theoretical_result"]["validation_status"]
        problems.append(f"the figures deserve {status}, the manifest says {claimed}")
    findings.add("verdict", problems)
    return {
        "input_tokens": tokens,
        "target_hit_ratio": None if target is None else float(target),
        "expected_hit_tokens": expected,
        "designed_hit_ratio": expected / tokens,
        "signed_deviation": None if deviation is None else float(deviation),
        "absolute_deviation": None if deviation is None else float(abs(deviation)),
        "passes": [
            {"name": name, "expected_hit_tokens": int(hit.sum()), "designed_hit_ratio": int(hit.sum()) / tokens}
            for name, hit in hits.items()
        ],
        "groups": groups,
        "validation_status": status,
    }


def _target(contents: DatasetContents) -> Fraction | None:
    """The target that the manifest states; of groups' targets their mean weighted by input tokens."""
    stated = contents.manifest["target"]
    if stated.get("groups"):
        tokens = _sums(contents, contents.numbers("input_len"))
        wanted = [Fraction(str(row["hit_ratio"])) * tokens.get(row["id"], 0) for row in stated["groups"]]
        return sum(wanted, Fraction(0)) / sum(tokens.values())
    return None if stated["hit_ratio"] is None else Fraction(str(stated["hit_ratio"]))


def _sums(contents: DatasetContents, values: Tokens) -> dict[str, int]:
    """Sum of a per-request value per group."""
    names, index = np.unique([row["prefix_group_id"] for row in contents.metadata], return_inverse=True)
    totals = np.bincount(index.reshape(-1), weights=values, minlength=len(names))
    return {str(name): int(total) for name, total in zip(names, totals, strict=True)}


def _group_verdicts(contents: DatasetContents, hit: Tokens) -> list[dict[str, Any]]:
    """Status of every group that has a target of its own."""
    goals = contents.manifest["target"].get("groups") or []
    tokens, hits = _sums(contents, contents.numbers("input_len")), _sums(contents, hit)
    beyond = {row["group_id"] for row in contents.report.get("groups", []) if row.get("reachable") is False}
    rows = []
    for goal in goals:
        name = goal["id"]
        own = tokens.get(name, 0)
        off = Fraction(hits[name], own) - Fraction(str(goal["hit_ratio"])) if own else None
        status = None if off is None else _status(abs(off), name not in beyond, contents.report)
        designed = hits[name] / own if own else None
        rows.append({"group_id": name, "designed_hit_ratio": designed, "status": status})
    return rows


def _status(deviation: Fraction, reachable: bool, report: dict[str, Any]) -> str:
    accept = report.get("on_failure") == "accept_with_warning"
    if not reachable:
        return "PASS_WITH_WARNING" if accept else "FAIL"
    if deviation <= Fraction(str(report.get("pass_tolerance", 0.01))):
        return "PASS"
    if deviation <= Fraction(str(report.get("warning_tolerance", 0.02))) or accept:
        return "PASS_WITH_WARNING"
    return "FAIL"
