"""A dataset folder read back into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from prefixcache.content.framing import Framing
from prefixcache.dataset.spool import IdSpool, TextSpool
from prefixcache.dataset.stored import DATA, WARMUP, check_prompts_are_here, has_file, rows_with_ids
from prefixcache.errors import InputError
from prefixcache.files import json_place, read_json, read_jsonl
from prefixcache.schemas.versions import check_version

NUMBERS = (
    "order_index",
    "input_len",
    "output_len",
    "planned_prefix_len",
    "cached_watermark_before",
    "expected_hit_len",
    "cached_watermark_after",
    "divergence_len",
    "suffix_len",
    "planned_dp_id",
)
EMBEDDED_TOKENIZER = Path(__file__).parents[1] / "content" / "embedded_tokenizer" / "tokenizer.json"


@dataclass(frozen=True)
class DatasetContents:
    """``readable``: every file could be parsed and the rows of both JSONL files belong together."""

    root: Path
    manifest: dict[str, Any]
    report: dict[str, Any]
    metadata: list[dict[str, Any]]
    prompts: Sequence[str | None]
    ids: Sequence[NDArray[np.int32]]
    warmup: list[dict[str, Any]]
    problems: list[str]
    max_tokens: list[Any] = field(default_factory=list)
    ids_in_rows: bool = True
    """False where the JSONL files leave the token ids to the shards."""

    @property
    def readable(self) -> bool:
        return not self.problems

    @property
    def target_pass(self) -> str:
        """The pass whose hits the target constrains, and the rows' main columns tell of; a replay has only its own."""
        names = [row["name"] for row in self.manifest["passes"]]
        wanted = "hot" if self.manifest["target"]["semantics"] == "static_prefix_ratio" else "cold"
        return wanted if wanted in names else str(names[0])

    def numbers(self, field: str) -> NDArray[np.int64]:
        return np.array([row[field] for row in self.metadata], dtype=np.int64)

    @property
    def framing(self) -> Framing | None:
        """How prompts become token ids; None where there are only ids."""
        prompt, tokenizer = self.manifest.get("prompt") or {}, self.manifest["tokenizer"]
        if prompt.get("form") == "ids":
            return None
        chat = prompt.get("format") == "chat"
        return Framing(
            "chat" if chat else "completion",
            tokenizer.get("head") or [],
            tokenizer.get("tail") or [],
            prompt.get("head_text") or "",
            prompt.get("tail_text") or "",
            add_special=not chat,
        )

    def own_tokenizer(self) -> Any | None:
        """The tokenizer the dataset was made with, if it can be had from the folder or the product."""
        from tokenizers import Tokenizer

        shipped = self.manifest["tokenizer"].get("embedded")
        path = EMBEDDED_TOKENIZER if shipped else self.root / "tokenizer.json"
        return Tokenizer.from_file(str(path)) if path.is_file() else None


def read_contents(root: Path) -> DatasetContents:
    """Read all files; what cannot be read becomes an entry of ``problems``.

    Raises:
        InputError: there is no readable manifest, so this is no dataset.
    """
    manifest = read_manifest(root)
    check_prompts_are_here(root, field="--dataset")
    listed = manifest["files"] if isinstance(manifest["files"], dict) else {}
    told = {**manifest, "files": listed}
    problems: list[str] = []
    report = _try(problems, "validation_report.json", lambda: read_json(root / "validation_report.json"), {})
    metadata = _try(problems, "request_metadata.jsonl", lambda: _metadata(root), [])
    prompts, ids = TextSpool(), IdSpool()
    max_tokens: list[Any] = []

    def read_data() -> None:
        for number, row in enumerate(rows_with_ids(root, told)):
            if number < len(metadata) and row["request_id"] != metadata[number]["request_id"]:
                raise ValueError(f"row {number + 1} is {row['request_id']}, the metadata's is another request")
            prompts.append(row["prompt"])
            ids.append(np.array(row["prompt_token_ids"], dtype=np.int32))
            max_tokens.append(row["max_tokens"])

    _try(problems, "data.jsonl", read_data, None)
    if not problems and len(ids) != len(metadata):
        problems.append(f"data.jsonl has {len(ids)} rows, request_metadata.jsonl has {len(metadata)}")
    warm = WARMUP if WARMUP in listed else "shards/warmup.parquet"
    needed = warm in listed and (root / warm).exists()
    warmup = _try(problems, WARMUP, lambda: list(rows_with_ids(root, told, WARMUP)), []) if needed else []
    own = _try([], DATA, lambda: _first_has_ids(root), True) if has_file(told, DATA) else True
    return DatasetContents(root, manifest, report, metadata, prompts, ids, warmup, problems, max_tokens, own)


def _first_has_ids(root: Path) -> bool:
    return all(row["prompt_token_ids"] is not None for row in islice(read_jsonl(root / DATA), 1))


def _metadata(root: Path) -> list[dict[str, Any]]:
    """Rows whose planned figures are whole numbers and whose names are texts.

    Raises:
        ValueError: a row that lacks one.
    """
    rows = list(read_jsonl(root / "request_metadata.jsonl"))
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise ValueError(f"row {number} is no object")
        for name in NUMBERS:
            if type(row.get(name)) is not int:
                raise ValueError(f"row {number}: {name} is no whole number")
        for name in ("request_id", "prefix_group_id"):
            if not isinstance(row.get(name), str):
                raise ValueError(f"row {number}: {name} is no text")
    return rows


def read_manifest(root: Path) -> dict[str, Any]:
    if not root.is_dir():
        raise InputError(f"{root} is not a folder", field="--dataset", remedy="name the folder `generate` wrote.")
    path = root / "manifest.json"
    if not path.is_file():
        raise InputError(
            f"{root.name} holds no manifest.json: it is no dataset, or its generation did not finish or was refused",
            field="--dataset",
            remedy="run `prefixcache generate` with this --output again and see validation_report.json.",
        )
    try:
        manifest = read_json(path)
        if isinstance(manifest, dict):
            check_version("manifest", manifest, field="--dataset")  # first: another version may have other fields
        for key in ("request_count", "passes", "target", "tokenizer", "files", "hit_unit", "order_digest", "groups"):
            manifest[key]
    except orjson.JSONDecodeError as error:
        raise InputError(
            f"manifest.json is not JSON in {json_place(error)}",
            field="--dataset",
            remedy="generate the dataset again.",
        ) from None
    except (OSError, KeyError, TypeError) as error:
        raise InputError(
            f"manifest.json cannot be read ({type(error).__name__}: {str(error)[:100]})",
            field="--dataset",
            remedy="generate the dataset again.",
        ) from None
    return dict(manifest)


def _try(problems: list[str], name: str, read: Any, default: Any) -> Any:
    try:
        return read()
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)[:150]
        problems.append(f"{name}: {reason or type(error).__name__}")
        return default
