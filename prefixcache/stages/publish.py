"""Stage publish: the JSONL files and, last of all, the manifest that makes the folder a dataset.

Each shard's rows are rendered by a worker into a piece of its own and appended in order; a piece is gone before the
disk has seen it. The hashes of shards are those they were built with: whether the files still have them is asked
elsewhere.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
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
    """data.jsonl, request_metadata.jsonl, warmup.jsonl, tokenizer.json and manifest.json beside the shards."""
    requests = [shard for shard in shards if shard.path(root).stem != "warmup"]
    warmup = [shard for shard in shards if shard.path(root).stem == "warmup"]
    facts = read_json(corpus.path(root, "corpus.json"))
    check_kept(job.config, facts["construction"])
    layout, count = RowLayout.of(job.config), sum(shard.rows for shard in requests)
    files = dict(zip((DATA, METADATA), _join(root, layout, requests), strict=True))
    rows = {DATA: count, METADATA: count}
    if warmup:
        with replacing_hashed(root / WARMUP) as file:
            for line in layout.warmup(warmup[0].path(root)):
                file.write(line)
        files[WARMUP] = FileRef.of(root, WARMUP, file.sha256)
        rows[WARMUP] = warmup[0].rows
    if not facts["embedded"]:  # so that whoever has the dataset can prove its texts
        write_bytes(root / TOKENIZER, corpus.path(root, TOKENIZER).read_bytes())
        files[TOKENIZER], rows[TOKENIZER] = FileRef.of(root, TOKENIZER), 1
    for part in (*shards, report):
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


def _join(root: Path, layout: RowLayout, shards: list[Artifact]) -> tuple[FileRef, FileRef]:
    """data.jsonl and request_metadata.jsonl, piece by piece."""
    shutil.rmtree(root / PIECES, ignore_errors=True)
    (root / PIECES).mkdir(parents=True)
    try:
        with replacing_hashed(root / DATA) as data, replacing_hashed(root / METADATA) as metadata:
            for piece, told in _pieces(root, layout, shards):
                data.append(piece)
                metadata.append(told)
                piece.unlink()
                told.unlink()
    finally:
        shutil.rmtree(root / PIECES, ignore_errors=True)
    return FileRef.of(root, DATA, data.sha256), FileRef.of(root, METADATA, metadata.sha256)


def _pieces(root: Path, layout: RowLayout, shards: list[Artifact]) -> Iterator[tuple[Path, Path]]:
    calls: list[tuple[Any, ...]] = [(layout, shard.path(root), root / PIECES) for shard in shards]
    yield from largest_pool().map(render_piece, calls)


def render_piece(layout: RowLayout, shard: Path, folder: Path) -> tuple[Path, Path]:
    """One shard's lines of data.jsonl and of request_metadata.jsonl; not synced, since they do not stay."""
    data, metadata = folder / f"{shard.stem}.data.jsonl", folder / f"{shard.stem}.metadata.jsonl"
    with open(data, "wb") as sent, open(metadata, "wb") as told:
        for line, about in layout.requests(shard):
            sent.write(line)
            told.write(about)
    return data, metadata


def _request_ids(shard: Path) -> list[str]:
    names: list[str] = read_parquet(shard, columns=["request_id"])["request_id"].to_list()
    return names


PUBLISH = Stage("publish", 3, publish, content_only=False)
