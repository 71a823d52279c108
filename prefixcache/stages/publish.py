"""Stage publish: the JSONL files and, last of all, the manifest that makes the folder a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prefixcache.artifact import Artifact
from prefixcache.content.tokenizer import chat_messages
from prefixcache.dataset.manifest import build_manifest, order_digest
from prefixcache.dataset.shards import COMPARE_FIELDS, DATA_FIELDS, METADATA_FIELDS, WARMUP_FIELDS, read_rows
from prefixcache.files import read_json, sha256_file, write_bytes, write_json, write_jsonl
from prefixcache.stages.job import Job
from prefixcache.stages.owned import remove_stale
from prefixcache.stages.stage import Stage
from prefixcache.stages.workspace import MANIFEST

DATA, METADATA, WARMUP, TOKENIZER = "data.jsonl", "request_metadata.jsonl", "warmup.jsonl", "tokenizer.json"


def publish(
    root: Path, job: Job, corpus: Artifact, masters: Artifact, shards: list[Artifact], report: Artifact
) -> Artifact:
    """data.jsonl, request_metadata.jsonl, warmup.jsonl, tokenizer.json and manifest.json beside the shards."""
    requests = [shard for shard in shards if shard.path(root).stem != "warmup"]
    warmup = [shard for shard in shards if shard.path(root).stem == "warmup"]
    fields = METADATA_FIELDS + (COMPARE_FIELDS if len(job.config.passes) > 1 else ())
    facts = read_json(corpus.path(root, "corpus.json"))
    rows = {
        DATA: write_jsonl(root / DATA, _sent(job, _rows(root, requests, DATA_FIELDS))),
        METADATA: write_jsonl(root / METADATA, _rows(root, requests, fields)),
    }
    if warmup:
        rows[WARMUP] = write_jsonl(root / WARMUP, _sent(job, _rows(root, warmup, WARMUP_FIELDS)))
    if not facts["embedded"]:  # so that whoever has the dataset can prove its texts
        write_bytes(root / TOKENIZER, corpus.path(root, "tokenizer.json").read_bytes())
        rows[TOKENIZER] = 1
    for shard in shards:
        rows[shard.files[0].path] = shard.rows
    rows[report.files[0].path] = 1
    remove_stale(root, rows)
    files = {
        name: {"sha256": sha256_file(root / name), "bytes": (root / name).stat().st_size, "rows": count}
        for name, count in sorted(rows.items())
    }
    order = order_digest(row["request_id"] for row in _rows(root, requests, ("request_id",)))
    units = read_json(masters.path(root, "masters.json"))["valid_hit_units"]
    manifest = build_manifest(job.config, job.identity, read_json(report.path(root)), facts, files, order, units)
    write_json(root / MANIFEST, manifest)
    return Artifact.of("dataset", root, [MANIFEST, *sorted(rows)], rows[DATA])


def _rows(root: Path, shards: list[Artifact], fields: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for shard in shards:
        yield from read_rows(shard.path(root), fields)


def _sent(job: Job, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows of prompts; with chat each carries its messages."""
    prompt = job.config.prompt
    for row in rows:
        yield {**row, "messages": chat_messages(row["prompt"], prompt.system)} if prompt.format == "chat" else row


PUBLISH = Stage("publish", 3, publish, content_only=False)
