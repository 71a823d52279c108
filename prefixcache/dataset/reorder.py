"""Another send order for a dataset: rows move, contents stay, everything the order decides is computed again.

RFC 3.3.9: a new order makes the report of the old one void. So the watermarks, the designed hits, the certificate over
the real token ids, the digests and the verdict of the result are those of the new order.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from prefixcache.config.execution import COLD_MODES
from prefixcache.config.order import FLAT, AcrossGroup, WithinGroup
from prefixcache.dataset.contents import read_manifest
from prefixcache.dataset.moved_rows import LineRows, ShardRows
from prefixcache.dataset.rewritten import Rewriter
from prefixcache.dataset.simulated import Simulated, Traits, simulate
from prefixcache.dataset.stored import check_prompts_are_here, has_file
from prefixcache.errors import EnvironmentFailure, InputError, VerdictError
from prefixcache.files import read_json, sha256_file
from prefixcache.workload.ordering import send_order
from prefixcache.workload.routing import route

Numbers = NDArray[np.int64]
STAGE = "reorder"
SPLITTING = ("round_robin", "group_round_robin", "random")
FIXED = ("explicit", "random")
"""Routes that belong to the request, not to its place in the order."""


@dataclass(frozen=True)
class NewOrder:
    """A send order as the user names it. ``seed``: of the shuffles."""

    within: str
    across: str
    preserve: bool
    seed: int

    def to_json(self) -> dict[str, Any]:
        return {
            "within_group": self.within,
            "across_group": self.across,
            "preserve_group_dependency": self.preserve,
            "seed": self.seed,
        }


def parse_order(text: str, mode: str) -> tuple[str, str]:
    """``shuffle`` or ``input_len_asc/interleave`` → (within, across).

    Args:
        mode: execution mode; it decides the order inside a group where a flat name leaves it open.

    Raises:
        InputError: no such order.
    """
    if text in FLAT:
        within, across = FLAT[text]
        return within or ("input_len_asc" if mode in COLD_MODES else "generated"), across
    within_name, slash, across_name = text.partition("/")
    known = (get_args(WithinGroup), get_args(AcrossGroup))
    if not slash:
        raise InputError(
            f"{text!r} is no send order",
            field="--order",
            remedy=f"write one of {', '.join(FLAT)}, or a pair such as input_len_asc/interleave.",
            stage=STAGE,
        )
    for name, names, what in ((within_name, known[0], "within a group"), (across_name, known[1], "across groups")):
        if name not in names:
            raise InputError(
                f"{name!r} is no order {what}", field="--order", remedy=f"write one of {', '.join(names)}.", stage=STAGE
            )
    return within_name, across_name


def reorder_dataset(source: Path, output: Path, order: str, *, seed: int | None = None) -> dict[str, Any]:
    """Write ``source`` in another send order to ``output``.

    Args:
        source: a dataset folder; its JSONL files may have been re-sorted by hand, nothing else may have changed.
        output: folder of the new dataset; absent or empty.
        order: see :func:`parse_order`.
        seed: of the shuffles; default the dataset's.

    Returns:
        The new validation report.

    Raises:
        InputError: no dataset, a damaged one, an unknown order, or one that its routes do not allow.
        VerdictError: the token ids do not hit as simulated; nothing is written.
        EnvironmentFailure: the output cannot be written.
    """
    manifest = read_manifest(source)
    check_prompts_are_here(source, field="--dataset", stage=STAGE)
    within, across = parse_order(order, str(manifest["execution_mode"]))
    keep = manifest["request_order"].get("preserve_group_dependency", True)
    chosen = NewOrder(within, across, keep, manifest["seed"] if seed is None else seed)
    _check_routes(manifest, chosen)
    _check_output(source, output)
    aside = output.with_name(f".{output.name}.{os.getpid()}.reordering")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        report = _reorder(source, aside, manifest, chosen)
        if output.is_dir():
            output.rmdir()
        aside.rename(output)
    except OSError as error:
        raise EnvironmentFailure(
            f"{output} cannot be written ({error.strerror or error})",
            field="--output",
            remedy="name a folder on a disk with free space that you may write.",
            stage=STAGE,
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return report


def _check_routes(manifest: dict[str, Any], order: NewOrder) -> None:
    routing = manifest["routing"]
    by_prefix = order.within.startswith("prefix_len") or order.across.startswith("prefix_len")
    if by_prefix and routing["cache_domains"] > 1 and routing["policy"] in SPLITTING:
        raise InputError(
            f"an order by prefix length ({order.within}/{order.across}) with {routing['policy']} routes over "
            f"{routing['cache_domains']} cache domains would move requests between domains by their planned prefixes",
            field="--order",
            remedy="order by input length, or generate the dataset with routing.policy bound or sticky.",
            stage=STAGE,
            dataset_id=manifest["dataset_id"],
        )


def _check_output(source: Path, output: Path) -> None:
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(
            f"{output} exists and is not empty", field="--output", remedy="name a new folder.", stage=STAGE
        )
    if source.resolve() in (output.resolve(), *output.resolve().parents):
        raise InputError(
            f"{output} lies inside the dataset", field="--output", remedy="name a folder elsewhere.", stage=STAGE
        )


def _reorder(source: Path, target: Path, manifest: dict[str, Any], order: NewOrder) -> dict[str, Any]:
    names = sorted(name for name in manifest["files"] if name.startswith("shards/requests-"))
    if not names:
        raise InputError(
            "the dataset was written without its Parquet shards, which hold the canonical rows",
            field="--dataset",
            remedy="generate it again with --formats parquet,jsonl.",
            stage=STAGE,
            dataset_id=manifest["dataset_id"],
        )
    work = target / ".work"
    shards = ShardRows([_proven(source, name, manifest) for name in names], work)
    request_ids = [str(name) for name in shards.column("request_id")]
    kept = [name for name in ("data.jsonl", "request_metadata.jsonl") if has_file(manifest, name)]
    lines = {name: LineRows(source / name) for name in kept}
    try:
        for name, rows in lines.items():
            _check_lines(source, name, rows, request_ids, manifest)
        warmup = ShardRows([_proven(source, "shards/warmup.parquet", manifest)], work) if _has(manifest) else None
        for name in manifest["files"]:
            if not name.startswith("shards/") and name not in lines:
                _proven(source, name, manifest)
        simulated = _simulated(manifest, order, shards, request_ids, warmup)
        if not simulated.holds:
            raise VerdictError(
                "the certificate does not hold: the token ids hit otherwise than the watermarks of the new order say",
                stage=STAGE,
                dataset_id=manifest["dataset_id"],
                remedy="check the dataset with `prefixcache validate`.",
            )
        writer = Rewriter(source, target, manifest, read_json(source / "validation_report.json"))
        report = writer.write(order.to_json(), simulated, shards, warmup, lines, request_ids)
    finally:
        for rows in lines.values():
            rows.close()
    del shards, warmup
    shutil.rmtree(work)
    return report


def _has(manifest: dict[str, Any]) -> bool:
    return "shards/warmup.parquet" in manifest["files"]


def _proven(source: Path, name: str, manifest: dict[str, Any]) -> Path:
    """A file of the dataset that is what the manifest says."""
    path = source / name
    if not path.is_file() or sha256_file(path) != manifest["files"][name]["sha256"]:
        raise _damaged(name, "is missing" if not path.is_file() else "was changed (its SHA-256 differs)", manifest)
    return path


def _check_lines(source: Path, name: str, rows: LineRows, request_ids: list[str], manifest: dict[str, Any]) -> None:
    """The lines in their first order must be the file's first bytes: they may have been sorted, not edited."""
    if sha256_file(source / name) == manifest["files"][name]["sha256"]:
        return
    missing = [request_id for request_id in request_ids if request_id not in rows]
    if missing or len(rows) != len(request_ids):
        raise _damaged(name, f"holds {len(rows)} requests instead of {len(request_ids)}", manifest)
    digest = hashlib.sha256()
    for line in rows.lines(request_ids):
        digest.update(line)
    if digest.hexdigest() != manifest["files"][name]["sha256"]:
        raise _damaged(name, "was edited, not only re-ordered", manifest)


def _damaged(name: str, what: str, manifest: dict[str, Any]) -> InputError:
    return InputError(
        f"{name} {what}",
        field="--dataset",
        remedy="generate the dataset again.",
        stage=STAGE,
        dataset_id=manifest["dataset_id"],
    )


def _simulated(
    manifest: dict[str, Any], order: NewOrder, shards: ShardRows, request_ids: list[str], warmup: ShardRows | None
) -> Simulated:
    """Order and routes as generation would choose them, then the passes."""
    generated = np.argsort(np.array(request_ids))  # ids are numbered with leading zeros
    groups = np.array([str(g) for g in shards.column("prefix_group_id")])
    listed = {str(row["group_id"]): number for number, row in enumerate(manifest["groups"])}
    codes = np.array([listed[name] for name in groups.tolist()], dtype=np.int32)
    lengths, prefixes = (np.array(shards.column(name), dtype=np.int64) for name in ("input_len", "planned_prefix_len"))
    domains = np.array(shards.column("planned_dp_id"), dtype=np.int32)
    moved = send_order(
        codes[generated],
        lengths[generated],
        prefixes[generated],
        within=order.within,
        across=order.across,
        preserve=order.preserve,
        seed=order.seed,
    )
    routing = manifest["routing"]
    if routing["cache_domains"] > 1 and routing["policy"] not in FIXED:
        homes = np.empty_like(domains)
        homes[generated] = route(
            codes[generated],
            lengths[generated],
            moved,
            policy=routing["policy"],
            domains=routing["cache_domains"],
        )
        domains = homes
    return simulate(
        Traits.of(manifest),
        order=generated[moved],
        groups=codes,
        domains=domains,
        lengths=lengths,
        outputs=np.array(shards.column("output_len"), dtype=np.int64),
        prefixes=prefixes,
        ids=shards.ids(),
        warmup=warmup,
        group_ids=list(listed),
    )
