"""Stage publish: the JSONL files and, last of all, the manifest that makes the folder a dataset.

Each shard's rows are rendered by a worker into a piece of its own and appended in order; a piece is gone before the
disk has seen it. The hashes of shards are those they were built with: whether the files still have them is asked
elsewhere.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from prefixcache.artifact import Artifact, FileRef
from prefixcache.dataset.manifest import build_manifest, order_digest
from prefixcache.dataset.rows import RowLayout
from prefixcache.files import read_json, replacing_hashed, write_bytes, write_json
from prefixcache.stages.construction import check_kept
from prefixcache.stages.job import Job
from prefixcache.stages.owned import remove_stale
from prefixcache.stages.pool import largest_pool
from prefixcache.stages.stage import Stage
from prefixcache.stages.workspace import MANIFEST, WORK
from prefixcache.tables import read_parquet

DATA, METADATA, WARMUP, TOKENIZER = "data.jsonl", "request_metadata.jsonl", "warmup.jsonl", "tokenizer.json"
PIECES = f"{WORK}/pieces"


def publish(
    root: Path, job: Job, corpus: Artifact, masters: Artifact, shards: list[Artifact], report: Artifact
) -> Artifact:
    """request_metadata.jsonl, tokenizer.json and manifest.json; data.jsonl and warmup.jsonl if they are asked for."""
    requests = [shard for shard in shards if shard.path(root).stem != "warmup"]
    warmup = [shard for shard in shards if shard.path(root).stem == "warmup"]
    facts = read_json(corpus.path(root, "corpus.json"))
    check_kept(job.config, facts["construction"])
    layout, count = RowLayout.of(job.config), sum(shard.rows for shard in requests)
    formats = job.config.output.formats
    files = _join(root, layout, requests, sent="jsonl" in formats)
    rows = dict.fromkeys(files, count)
    if warmup and "jsonl" in formats:
        with replacing_hashed(root / WARMUP) as file:
            for line in layout.warmup(warmup[0].path(root)):
                file.write(line)
        files[WARMUP] = FileRef.of(root, WARMUP, file.sha256)
        rows[WARMUP] = warmup[0].rows
    if not facts["embedded"]:  # so that whoever has the dataset can prove its texts
        write_bytes(root / TOKENIZER, corpus.path(root, TOKENIZER).read_bytes())
        files[TOKENIZER], rows[TOKENIZER] = FileRef.of(root, TOKENIZER), 1
    for part in (*(shards if "parquet" in formats else ()), report):
        files[part.files[0].path], rows[part.files[0].path] = part.files[0], part.rows
    rows[report.files[0].path] = 1
    remove_stale(root, rows)
    listed = {
        name: {"sha256": ref.sha256, "bytes": ref.bytes, "rows": rows[name]} for name, ref in sorted(files.items())
    }
    order = order_digest(name for shard in requests for name in _request_ids(shard.path(root)))
    units = read_json(masters.path(root, "masters.json"))["valid_hit_units"]
    manifest = build_manifest(job.config, job.identity, read_json(report.path(root)), facts, listed, order, units)
    write_json(root / MANIFEST, manifest)
    refs = (FileRef.of(root, MANIFEST), *(files[name] for name in sorted(files)))
    return Artifact(kind="dataset", files=refs, rows=count)


def _join(root: Path, layout: RowLayout, shards: list[Artifact], *, sent: bool) -> dict[str, FileRef]:
    """request_metadata.jsonl and, if ``sent``, data.jsonl, piece by piece."""
    shutil.rmtree(root / PIECES, ignore_errors=True)
    (root / PIECES).mkdir(parents=True)
    try:
        with ExitStack() as stack:
            names = (METADATA, *((DATA,) if sent else ()))
            joined = {name: stack.enter_context(replacing_hashed(root / name)) for name in names}
            for pieces in _pieces(root, layout, shards, sent):
                for name, piece in pieces.items():
                    joined[name].append(piece)
                    piece.unlink()
    finally:
        shutil.rmtree(root / PIECES, ignore_errors=True)
    return {name: FileRef.of(root, name, file.sha256) for name, file in joined.items()}


def _pieces(root: Path, layout: RowLayout, shards: list[Artifact], sent: bool) -> Iterator[dict[str, Path]]:
    calls: list[tuple[Any, ...]] = [(layout, shard.path(root), root / PIECES, sent) for shard in shards]
    yield from largest_pool().map(render_piece, calls)


def render_piece(layout: RowLayout, shard: Path, folder: Path, sent: bool) -> dict[str, Path]:
    """One shard's lines of request_metadata.jsonl and data.jsonl; not synced, since they do not stay."""
    metadata, data = folder / f"{shard.stem}.metadata.jsonl", folder / f"{shard.stem}.data.jsonl"
    if not sent:
        with open(metadata, "wb") as told:
            told.writelines(layout.plans(shard))
        return {METADATA: metadata}
    with open(metadata, "wb") as told, open(data, "wb") as prompts:
        for line, about in layout.requests(shard):
            prompts.write(line)
            told.write(about)
    return {METADATA: metadata, DATA: data}


def _request_ids(shard: Path) -> list[str]:
    names: list[str] = read_parquet(shard, columns=["request_id"])["request_id"].to_list()
    return names


PUBLISH = Stage("publish", 4, publish, content_only=False)
