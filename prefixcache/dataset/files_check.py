"""The files of a dataset against the hashes, sizes and rows in its manifest, and the shards against the JSONL files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from prefixcache.dataset.contents import DatasetContents
from prefixcache.dataset.manifest import dataset_digest
from prefixcache.dataset.stored import DATA
from prefixcache.files import sha256_file

if TYPE_CHECKING:
    from prefixcache.dataset.check import Findings


def check_files(root: Path, contents: DatasetContents, findings: Findings) -> None:
    """Presence, size and hash of every file; readability; shards equal to the JSONL files."""
    manifest = contents.manifest
    problems = []
    for name, entry in manifest["files"].items():
        path = root / name
        if not path.is_file():
            problems.append(f"{name} is missing")
        elif path.stat().st_size != entry["bytes"]:
            problems.append(f"{name} has {path.stat().st_size} bytes, the manifest says {entry['bytes']}")
        elif sha256_file(path) != entry["sha256"]:
            problems.append(f"{name} was changed: its SHA-256 is not the manifest's")
    if dataset_digest(manifest["files"]) != manifest.get("dataset_digest"):
        problems.append("dataset_digest does not match the list of files")
    findings.add("digests", problems)
    findings.add("readable", contents.problems)
    if contents.readable:
        findings.add("shards", _compare_shards(root, contents))


def _compare_shards(root: Path, contents: DatasetContents) -> list[str]:
    """The canonical Parquet rows are the rows of the two JSONL files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from prefixcache.dataset.shards import token_ids

    names = sorted(name for name in contents.manifest["files"] if name.startswith("shards/requests-"))
    if not names and DATA in contents.manifest["files"]:
        return []  # output.formats: jsonl
    at = 0
    problems = []
    for name in names:
        try:
            table = pq.read_table(root / name)
        except (OSError, pa.ArrowException) as error:
            problems.append(f"{name} cannot be read: {str(error)[:100]}")
            return problems
        rows = contents.metadata[at : at + len(table)]
        if len(rows) != len(table):
            return [*problems, f"{name} has more rows than request_metadata.jsonl"]
        for column in [column for column in table.column_names if rows and column in rows[0]]:
            if table[column].to_pylist() != [row[column] for row in rows]:
                problems.append(f"{name}: column {column} differs from request_metadata.jsonl")
        if table["prompt"].to_pylist() != list(contents.prompts[at : at + len(table)]):
            problems.append(f"{name}: prompts differ from data.jsonl")
        pairs = zip(token_ids(table), contents.ids[at : at + len(table)], strict=True)
        if not all(np.array_equal(a, b) for a, b in pairs):
            problems.append(f"{name}: token ids differ from data.jsonl")
        at += len(table)
    if at != len(contents.metadata):
        problems.append(f"the shards hold {at} requests, request_metadata.jsonl {len(contents.metadata)}")
    return problems
