"""Prompts as a dataset keeps them: a row without token ids has them in its shard, a run may hold no prompts at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from prefixcache.dataset.rows import RowLayout
from prefixcache.dataset.shards import read_rows
from prefixcache.errors import InputError
from prefixcache.files import read_json, read_jsonl

DATA, WARMUP = "data.jsonl", "warmup.jsonl"
LEFT_OUT = "without_prompts"
"""Option of a run whose own dataset folder holds no prompts, as run.json has it."""


def has_file(manifest: dict[str, Any], name: str) -> bool:
    """Whether the dataset was written with this file: what holds its prompts is chosen (``output.formats``)."""
    files = manifest["files"]
    return name in files or not any(part.startswith("shards/") for part in files)


def sent_lines(root: Path, manifest: dict[str, Any], name: str = DATA) -> Iterator[bytes]:
    """Lines of data.jsonl or warmup.jsonl; rendered from the shards where the dataset has no such file.

    Raises:
        OSError: a file that cannot be read.
        ValueError: a shard that cannot be read.
    """
    if has_file(manifest, name):
        with open(root / name, "rb") as file:
            yield from file
        return
    layout = RowLayout.of_manifest(manifest)
    for part in _shards(manifest["files"], name):
        with _told(part):
            yield from layout.warmup(root / part) if name == WARMUP else layout.sent(root / part)


def rows_with_ids(root: Path, manifest: dict[str, Any], name: str = DATA) -> Iterator[dict[str, Any]]:
    """Rows of data.jsonl or warmup.jsonl, each with its token ids, from whichever files hold them.

    Raises:
        ValueError: ids that neither the row nor a shard has; some rows with ids and some without.
        OSError: a file that cannot be read.
    """
    files = manifest["files"]
    rows = read_jsonl(root / name) if has_file(manifest, name) else map(orjson.loads, sent_lines(root, manifest, name))
    shards: Iterator[dict[str, Any]] | None = None
    for number, row in enumerate(rows):
        if number == 0 and row["prompt_token_ids"] is None:
            shards = _ids_in_shards(root, files, name)
        if (shards is None) != (row["prompt_token_ids"] is not None):
            raise ValueError(f"row {number + 1}: prompt_token_ids are there in some rows and not in others")
        if shards is not None:
            found = next(shards, None)
            if found is None or found["request_id"] != row["request_id"]:
                raise ValueError(f"row {number + 1} is {row['request_id']}, which has no token ids in the shards")
            row = {**row, "prompt_token_ids": found["prompt_token_ids"].tolist()}
        yield row


def _shards(files: dict[str, Any], name: str) -> list[str]:
    """The shards with the rows of a JSONL file, in their order."""
    warm = "shards/warmup.parquet"
    if name == WARMUP:
        return [warm] if warm in files else []
    return sorted(part for part in files if part.startswith("shards/requests-"))


@contextmanager
def _told(part: str) -> Iterator[None]:
    """Arrow's own errors are of several kinds."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, KeyError) as error:
        raise ValueError(f"{part} cannot be read: {str(error)[:100]}") from None


def _ids_in_shards(root: Path, files: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Request ids and token ids in the order of the JSONL file."""
    for part in _shards(files, name):
        with _told(part):
            yield from read_rows(root / part, ("request_id", "prompt_token_ids"))


def row_of_request(root: Path, manifest: dict[str, Any], row: int) -> dict[str, Any] | None:
    """What is sent in place ``row`` of the send order, as data.jsonl or else the shards have it; None without."""
    try:
        if has_file(manifest, DATA):
            with open(root / DATA, "rb") as file:
                line = next(islice(file, row, None), None)
        else:
            line = None
            for part in _shards(manifest["files"], DATA):
                if row < manifest["files"][part]["rows"]:
                    line = next(islice(RowLayout.of_manifest(manifest).sent(root / part), row, None), None)
                    break
                row -= manifest["files"][part]["rows"]
        found = orjson.loads(line) if line else None
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def ids_of_request(root: Path, files: dict[str, Any], row: int, request_id: str) -> list[int] | None:
    """Token ids of the request in place ``row`` of the send order, from its shard; None if they are not there."""
    import pyarrow as pa

    for name in sorted(name for name in files if name.startswith("shards/requests-")):
        if row < files[name]["rows"]:
            try:
                found = next(islice(read_rows(root / name, ("request_id", "prompt_token_ids")), row, None), None)
            except (OSError, pa.ArrowException):
                return None
            mine = found is not None and found["request_id"] == request_id
            return found["prompt_token_ids"].tolist() if found is not None and mine else None
        row -= files[name]["rows"]
    return None


def holds_no_prompts(root: Path) -> bool:
    """The dataset folder of a run that was made with ``--without-prompts``."""
    run_json = root.resolve().parent / "runtime" / "run.json"
    if (root / DATA).exists() or not run_json.is_file():
        return False
    try:
        run = read_json(run_json)
    except ValueError:
        return False
    options = run.get("options") if isinstance(run, dict) else None
    return isinstance(options, dict) and options.get(LEFT_OUT) is True


def check_prompts_are_here(root: Path, *, field: str, stage: str | None = None) -> None:
    """What needs prompts says plainly that this folder was asked to have none.

    Raises:
        InputError: :func:`holds_no_prompts`.
    """
    if holds_no_prompts(root):
        raise InputError(
            f"{root} is the dataset folder of a run made with --without-prompts: prompts are not stored in it",
            field=field,
            remedy="name the folder that `prefixcache generate` wrote.",
            stage=stage,
        )
