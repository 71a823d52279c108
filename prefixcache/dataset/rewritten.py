"""The files of a dataset in another order: shards and JSONL rows moved, order-dependent fields and verdict renewed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from prefixcache.dataset.content_check import status_with_collisions
from prefixcache.dataset.manifest import SCHEMA_VERSION, dataset_digest, order_digest, sealed
from prefixcache.dataset.moved_rows import LineRows, ShardRows, replaced
from prefixcache.dataset.shards import write_table
from prefixcache.dataset.simulated import Simulated
from prefixcache.files import read_jsonl, replacing, sha256_file, write_json, write_jsonl
from prefixcache.schemas.versions import VERSIONS

SHARD_TOKENS = 2_000_000
"""As in generation: a shard begins anew after so many tokens."""
Numbers = NDArray[np.int64]


class Rewriter:
    """Writes one dataset.

    Args:
        source, target: folders; the target is a new one.
        manifest, report: of the source.
    """

    def __init__(self, source: Path, target: Path, manifest: dict[str, Any], report: dict[str, Any]) -> None:
        self.source = source
        self.target = target
        self.manifest = manifest
        self.report = report
        self.rows: dict[str, int] = {}

    def write(
        self,
        order: dict[str, Any],
        simulated: Simulated,
        shards: ShardRows,
        warmup: ShardRows | None,
        lines: Mapping[str, LineRows],
        request_ids: list[str],
    ) -> dict[str, Any]:
        """Write everything, the manifest last; returns the new validation report."""
        fields = _fields(simulated, self.manifest)
        sent = [request_ids[row] for row in simulated.order.tolist()]
        self._shards(simulated, shards, fields)
        if "data.jsonl" in lines:
            self._data(lines["data.jsonl"], sent)
        self._metadata(lines["request_metadata.jsonl"], sent, simulated, fields)
        if warmup is not None:
            self._warmup(simulated, warmup)
        for name, entry in self.manifest["files"].items():
            if name not in self.rows and name != "validation_report.json" and not name.startswith("shards/"):
                shutil.copyfile(self.source / name, self.target / name)
                self.rows[name] = entry["rows"]
        report = self._report(order, simulated, sent)
        write_json(self.target / "validation_report.json", report)
        self.rows["validation_report.json"] = 1
        self._manifest(order, simulated, sent, report)
        return report

    def _shards(self, simulated: Simulated, shards: ShardRows, fields: dict[str, list[Any]]) -> None:
        lengths = simulated.lengths[simulated.order]
        numbers = (np.cumsum(lengths) - lengths) // SHARD_TOKENS
        for number in np.unique(numbers).tolist():
            here = simulated.order[numbers == number]
            table = shards.take(here)
            own = {name: [values[row] for row in here.tolist()] for name, values in fields.items()}
            name = f"shards/requests-{number:05d}.parquet"
            write_table(self.target / name, replaced(table, own))
            self.rows[name] = len(table)

    def _data(self, lines: LineRows, sent: list[str]) -> None:
        """What is sent, byte for byte."""
        with replacing(self.target / "data.jsonl") as file:
            for line in lines.lines(sent):
                file.write(line)
        self.rows["data.jsonl"] = len(sent)

    def _metadata(self, lines: LineRows, sent: list[str], simulated: Simulated, fields: dict[str, list[Any]]) -> None:
        def renewed() -> Iterator[dict[str, Any]]:
            for row, line in zip(simulated.order.tolist(), lines.lines(sent), strict=True):
                entry = orjson.loads(line)
                yield entry | {name: values[row] for name, values in fields.items() if name in entry}

        self.rows["request_metadata.jsonl"] = write_jsonl(self.target / "request_metadata.jsonl", renewed())

    def _warmup(self, simulated: Simulated, warmup: ShardRows) -> None:
        """The warmup prompts of the lanes that there are now; contents are those of the old ones."""
        if not simulated.warm:
            return
        several = self.manifest["routing"]["cache_domains"] > 1
        names = [str(name) for name in warmup.column("request_id")]
        own: dict[str, list[Any]] = {
            "request_id": [f"{names[w.row]}-dp{w.domain}" if w.copied else names[w.row] for w in simulated.warm],
            "planned_dp_id": [w.domain for w in simulated.warm],
            "planned_route": [w.domain if several else None for w in simulated.warm],
        }
        table = warmup.take(np.array([w.row for w in simulated.warm], dtype=np.int64))
        write_table(self.target / "shards/warmup.parquet", replaced(table, own))
        self.rows["shards/warmup.parquet"] = len(table)
        if "warmup.jsonl" not in self.manifest["files"]:
            return
        old = list(read_jsonl(self.source / "warmup.jsonl"))
        rows = [old[w.row] | {name: own[name][n] for name in own} for n, w in enumerate(simulated.warm)]
        self.rows["warmup.jsonl"] = write_jsonl(self.target / "warmup.jsonl", rows)

    def _report(self, order: dict[str, Any], simulated: Simulated, sent: list[str]) -> dict[str, Any]:
        report = {"schema_version": VERSIONS["validation_report"], **self.report}
        tokens = int(simulated.lengths.sum())
        hits = int(simulated.hits(simulated.traits.target_pass).sum())
        most, least = int(simulated.maximum.sum()), int(simulated.minimum.sum())
        target = report.get("target_hit_ratio")
        deviation = None if target is None else Fraction(hits, tokens) - _target(self.manifest, report)
        points = None if deviation is None else float(deviation) * 100
        report |= {
            "expected_hit_tokens": hits,
            "designed_hit_ratio": hits / tokens,
            "signed_deviation": None if deviation is None else float(deviation),
            "absolute_deviation": None if deviation is None else float(abs(deviation)),
            "signed_deviation_pp": points,
            "absolute_deviation_pp": None if points is None else abs(points),
            "max_reachable_hit_ratio": most / tokens,
            "max_reachable_hit_tokens": most,
            "lanes": len(np.unique(simulated.groups.astype(np.int64) << 32 | simulated.domains)),
            "passes": _passes(simulated),
            "groups": _groups(report["groups"], simulated, report),
            "domains": _domains(report["domains"], simulated),
            "certificate": _certificate(report["certificate"], simulated, sent),
            "reordered": {
                **order,
                "from_order_digest": self.manifest["order_digest"],
                "from_dataset_digest": self.manifest["dataset_digest"],
            },
        }
        if "min_reachable_hit_tokens" in report:
            report |= {"min_reachable_hit_ratio": least / tokens, "min_reachable_hit_tokens": least}
        if "trajectories" in report:
            report["trajectories"] = []  # they are the old order's
        if "planned_hit_tokens" in report:  # beside those of the simulator
            report["planned_hit_tokens"] = int(simulated.target.hit.sum())
        return report | _verdict(report, deviation, least, most)

    def _manifest(self, order: dict[str, Any], simulated: Simulated, sent: list[str], report: dict[str, Any]) -> None:
        files = {
            name: {
                "sha256": sha256_file(self.target / name),
                "bytes": os.path.getsize(self.target / name),  # noqa: PTH202
                "rows": count,
            }
            for name, count in sorted(self.rows.items())
        }
        theory = self.manifest["theoretical_result"]
        manifest = {**self.manifest}
        manifest |= {
            "schema_version": SCHEMA_VERSION,
            "request_order": {**manifest["request_order"], **order},
            "order_digest": order_digest(sent),
            "theoretical_result": {**theory, **{name: report[name] for name in theory if name in report}},
            "passes": report["passes"],
            "groups": report["groups"],
            "domains": report["domains"],
            "certificate": {**manifest["certificate"], "holds": report["certificate"]["holds"]},
            "planning": {**manifest["planning"], **({"trajectories": []} if "trajectories" in report else {})},
            "files": files,
            "dataset_digest": dataset_digest(files),
            "reordered_from": {
                "order_digest": self.manifest["order_digest"],
                "dataset_digest": self.manifest["dataset_digest"],
            },
        }
        write_json(self.target / "manifest.json", sealed(manifest))


def _fields(simulated: Simulated, manifest: dict[str, Any]) -> dict[str, list[Any]]:
    """Fields that the order decides, per old row."""
    target, place = simulated.target, np.empty_like(simulated.order)
    place[simulated.order] = np.arange(len(place))
    hits = simulated.hits(simulated.traits.target_pass)
    several = manifest["routing"]["cache_domains"] > 1
    domains = simulated.domains.tolist()
    fields = {
        "order_index": place.tolist(),
        "cached_watermark_before": target.before.tolist(),
        "expected_hit_len": hits.tolist(),
        "expected_hit_ratio": (hits / simulated.lengths).tolist(),
        "cached_watermark_after": target.after.tolist(),
        "planned_dp_id": domains,
        "planned_route": domains if several else [None] * len(domains),
    }
    if len(simulated.passes) > 1:
        fields |= {f"expected_hit_len_{name}": simulated.hits(name).tolist() for name in simulated.passes}
    return fields


def _passes(simulated: Simulated) -> list[dict[str, Any]]:
    tokens = int(simulated.lengths.sum())
    sums = {name: int(simulated.hits(name).sum()) for name in simulated.passes}
    return [
        {"name": name, "input_tokens": tokens, "expected_hit_tokens": hits, "designed_hit_ratio": hits / tokens}
        for name, hits in sums.items()
    ]


def _groups(old: list[dict[str, Any]], simulated: Simulated, report: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of the groups; where they have targets of their own, with their statuses."""
    traits, size = simulated.traits, len(old)

    def total(values: Numbers) -> list[int]:
        found: list[int] = np.bincount(simulated.groups, weights=values, minlength=size).astype(np.int64).tolist()
        return found

    hits, most, least = (total(v) for v in (simulated.hits(traits.target_pass), simulated.maximum, simulated.minimum))
    worth = total(np.maximum(simulated.prefixes - traits.drop, 0))
    rows = []
    for number, row in enumerate(old):
        tokens = row["input_tokens"]
        new = row | {
            "expected_hit_tokens": hits[number],
            "designed_hit_ratio": hits[number] / tokens if tokens else None,
            "cold_start_loss": worth[number] - hits[number] if traits.target_pass == "cold" else 0,
            "max_reachable_hit_tokens": most[number],
            "max_reachable_hit_ratio": most[number] / tokens if tokens else None,
        }
        if "min_reachable_hit_tokens" in row:
            new["min_reachable_hit_tokens"] = least[number]
        if row.get("target_hit_ratio") is not None and tokens:
            deviation = Fraction(hits[number], tokens) - Fraction(str(row["target_hit_ratio"]))
            reachable = least[number] <= row["target_hit_tokens"] <= most[number]
            new |= {
                "signed_deviation": float(deviation),
                "absolute_deviation": float(abs(deviation)),
                "status": _status(report, deviation, reachable),
            }
            if row.get("reachable") is not None:
                new["reachable"] = reachable
        rows.append(new)
    return rows


def _domains(old: list[dict[str, Any]], simulated: Simulated) -> list[dict[str, Any]]:
    hits, rows = simulated.hits(simulated.traits.target_pass), []
    for row in old:
        here = simulated.domains == row["domain"]
        tokens, found = int(simulated.lengths[here].sum()), int(hits[here].sum())
        rows.append(
            row
            | {
                "request_count": int(here.sum()),
                "input_tokens": tokens,
                "expected_hit_tokens": found,
                "designed_hit_ratio": found / tokens if tokens else None,
            }
        )
    return rows


def _certificate(old: dict[str, Any], simulated: Simulated, sent: list[str]) -> dict[str, Any]:
    rows = []
    for name in simulated.passes:
        planned, found = simulated.hits(name), simulated.certified[name]
        rows.append(
            {
                "name": name,
                "planned_hit_tokens": int(planned.sum()),
                "simulated_hit_tokens": int(found.sum()),
                "mismatched_requests": int((planned != found).sum()),
                "first_mismatches": [],
            }
        )
    return {**old, "requests": len(sent), "holds": simulated.holds, "passes": rows}


def _target(manifest: dict[str, Any], report: dict[str, Any]) -> Fraction:
    """The target as the user wrote it, exact; of group targets their mean over tokens."""
    given = (manifest.get("target") or {}).get("hit_ratio")
    if report.get("target_scope") == "per_group":
        own = [(row["input_tokens"], Fraction(str(row["target_hit_ratio"]))) for row in report["groups"]]
        weighed: Fraction = sum((tokens * ratio for tokens, ratio in own), Fraction(0))
        return Fraction(weighed, sum(tokens for tokens, _ in own))
    return Fraction(str(report["target_hit_ratio"] if given is None else given))


def _status(report: dict[str, Any], deviation: Fraction, reachable: bool) -> str:
    accept = report.get("on_failure") == "accept_with_warning"
    if not reachable:
        return "PASS_WITH_WARNING" if accept else "FAIL"
    if abs(deviation) <= Fraction(str(report["pass_tolerance"])):
        return "PASS"
    if abs(deviation) <= Fraction(str(report["warning_tolerance"])) or accept:
        return "PASS_WITH_WARNING"
    return "FAIL"


STATUSES = ("PASS", "PASS_WITH_WARNING", "FAIL")


def _verdict(report: dict[str, Any], deviation: Fraction | None, least: int, most: int) -> dict[str, Any]:
    """``reachable``, ``status`` and ``reason`` of the new order; accepted collisions keep their warning."""
    if deviation is None:
        return {}
    own = [row["status"] for row in report["groups"] if row.get("target_hit_ratio") is not None and row.get("status")]
    reachable = least <= report["target_hit_tokens"] <= most
    if report.get("target_scope") == "per_group" and own:
        reachable = all(row.get("reachable") is not False for row in report["groups"])
        status = max(own, key=STATUSES.index)
    else:
        status = _status(report, deviation, reachable)
    collisions = report.get("collisions") or {}
    if collisions.get("hits_from") == "simulator":
        status = status_with_collisions(status, reachable, collisions["on_collision"])
    moved = f"in this order {report['expected_hit_tokens']} tokens hit, {float(deviation) * 100:+.4f} pp off the target"
    return {
        "reachable": reachable,
        "status": status,
        "validation_status": status,
        "reason": None if status == "PASS" else moved,
        "suggestions": report["suggestions"] if not reachable else [],
    }
