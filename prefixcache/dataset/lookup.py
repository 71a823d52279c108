"""Finding one request in a dataset folder without reading its prompts into memory."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from prefixcache.dataset.contents import DatasetContents, read_manifest
from prefixcache.dataset.stored import check_prompts_are_here, holds_no_prompts, ids_of_request, row_of_request
from prefixcache.errors import InputError
from prefixcache.files import read_jsonl

MOST_NEAR = 5
MOST_COMPARED = 20_000


@dataclass(frozen=True)
class DatasetFolder:
    """A dataset's manifest and plan; ``run_dir`` is the run it belongs to, if it lies in one."""

    root: Path
    manifest: dict[str, Any]
    rows: list[dict[str, Any]]
    run_dir: Path | None

    @property
    def head(self) -> int:
        """Tokens with which every prompt begins."""
        tokenizer = self.manifest.get("tokenizer")
        return len((tokenizer.get("head") if isinstance(tokenizer, dict) else None) or ())

    @property
    def holds_prompts(self) -> bool:
        """False for the folder of a run that was made with ``--without-prompts``."""
        return not holds_no_prompts(self.root)

    @property
    def contents(self) -> DatasetContents:
        """The dataset without its prompts: for its tokenizer and its framing."""
        return DatasetContents(
            root=self.root, manifest=self.manifest, report={}, metadata=[], prompts=[], ids=[], warmup=[], problems=[]
        )

    def prompt(self, row: int) -> dict[str, Any]:
        """A row of data.jsonl with its token ids, which the shards have where the file leaves them out.

        Raises:
            InputError: the file is missing or shorter than the plan.
        """
        found = row_of_request(self.root, self.manifest, row)
        wanted = str(self.rows[row]["request_id"])
        if found is not None and found.get("request_id") == wanted:
            ids = found.get("prompt_token_ids")
            if ids is None:
                ids = ids_of_request(self.root, self.manifest["files"], row, wanted)
            if ids is not None:
                return {**found, "prompt_token_ids": ids}
        check_prompts_are_here(self.root, field="--dataset", stage="inspect")
        raise InputError(
            "data.jsonl is missing or does not belong to request_metadata.jsonl",
            field="--dataset",
            remedy="`prefixcache validate` says what is damaged.",
            stage="inspect",
        )


def open_dataset(folder: Path) -> DatasetFolder:
    """Read a dataset folder, or the dataset of a run directory.

    Raises:
        InputError: neither of them, or no readable plan in it.
    """
    root = folder / "dataset" if not _is_dataset(folder) and _is_dataset(folder / "dataset") else folder
    manifest = read_manifest(root)
    try:
        rows = list(read_jsonl(root / "request_metadata.jsonl"))
    except (OSError, orjson.JSONDecodeError) as error:
        raise InputError(
            f"request_metadata.jsonl cannot be read ({type(error).__name__})",
            field="--dataset",
            remedy="`prefixcache validate` says what is damaged.",
            stage="inspect",
        ) from None
    home = root.resolve().parent
    in_run = root.name == "dataset" and (home / "runtime").is_dir()
    return DatasetFolder(root, manifest, rows, home if in_run else None)


def _is_dataset(folder: Path) -> bool:
    return (folder / "manifest.json").is_file()


def find_request(rows: Sequence[dict[str, Any]], wanted: str) -> int:
    """The row of a request: its id, `#N` for position N in send order, the number at the id's end, or a unique ending.

    Raises:
        InputError: no such request, or several; near ids are named.
    """
    if found := re.fullmatch(r"#(\d+)", wanted.strip()):
        position = int(found[1])
        if position < len(rows):
            return position
        raise InputError(
            f"{wanted} is beyond the last request, #{len(rows) - 1}",
            field="--request",
            remedy=f"give a position from #0 to #{len(rows) - 1}.",
            stage="inspect",
        )
    ids = [str(row["request_id"]) for row in rows]
    if wanted in ids:
        return ids.index(wanted)
    matches = _numbered(ids, wanted) or [n for n, name in enumerate(ids) if wanted and name.endswith(wanted)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        shown = [ids[n] for n in matches[:MOST_NEAR]]
        more = f" and {len(matches) - len(shown)} more" if len(matches) > len(shown) else ""
        raise InputError(
            f"{len(matches)} requests end with {wanted!r}: {', '.join(shown)}{more}",
            field="--request",
            remedy="give more of the id.",
            stage="inspect",
        )
    near = difflib.get_close_matches(wanted, ids[:MOST_COMPARED], n=MOST_NEAR, cutoff=0.5) or ids[:3]
    raise InputError(
        f"there is no request {wanted!r}",
        field="--request",
        remedy=f"near ones: {', '.join(near)}; or give a position as '#0' to '#{len(rows) - 1}'.",
        stage="inspect",
    )


def _numbered(ids: Sequence[str], wanted: str) -> list[int]:
    """Requests whose number, zeros before it aside, is the one that was typed."""
    if not wanted.isascii() or not wanted.isdigit():
        return []
    number = int(wanted)
    found = ((n, re.search(r"(?<!\d)\d+$", name)) for n, name in enumerate(ids))
    return [n for n, digits in found if digits and int(digits[0]) == number]
