"""Where text comes from: GSM8K (a local file or the `datasets` hub name) and the shipped synthetic problems."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from prefixcache.config.content import SuffixConfig
from prefixcache.content.synthetic import samples
from prefixcache.errors import EnvironmentFailure, InputError

GSM8K_HUB_NAME = "openai/gsm8k"
GSM8K_FIELDS = ["question", "answer"]
# GSM8K's answers carry the calculator's steps as <<48/2=24>>.
_CALCULATOR_MARK = re.compile(r"<<[^<>]*>>")


@dataclass(frozen=True)
class Source:
    """Text samples in the source's order, NFC, without surrounding blanks."""

    name: str
    samples: list[str]


def load_source(config: SuffixConfig, *, count: int, seed: int) -> Source:
    """The samples of the configured source.

    Args:
        config: source, path and fields.
        count: how many samples the synthetic source makes; files give all they have.
        seed: of the synthetic source.

    Raises:
        InputError: a file that is not what it should be.
        EnvironmentFailure: a source that is not reachable; nothing else is ever put in its place.
    """
    if config.source == "synthetic":
        return Source("synthetic", samples(count, seed))
    fields = config.fields or GSM8K_FIELDS
    rows = _read_rows(Path(config.path)) if config.path else _from_hub()
    texts = [_text(row, fields, number) for number, row in enumerate(rows)]
    return Source("gsm8k", [text for text in texts if text])


def _text(row: Any, fields: list[str], number: int) -> str:
    if not isinstance(row, dict):
        raise InputError(
            f"sample {number} is not an object", field="suffix.path", remedy="give one JSON object a line."
        )
    missing = [field for field in fields if not isinstance(row.get(field), str)]
    if missing:
        raise InputError(
            f"sample {number} has no text field {missing[0]!r}; it has: {', '.join(map(str, row))}",
            field="suffix.fields",
            remedy="choose among the sample's fields.",
            stage="tokenize_sources",
        )
    joined = "\n".join(_CALCULATOR_MARK.sub("", row[field]) for field in fields)
    return unicodedata.normalize("NFC", joined.replace("\r\n", "\n")).strip()


def _read_rows(path: Path) -> list[Any]:
    if path.is_dir():
        found = [path / name for name in ("train.jsonl", "train.parquet") if (path / name).is_file()]
        if not found:
            raise _unreachable(f"the folder {path.name} holds no train.jsonl")
        path = found[0]
    if not path.is_file():
        raise _unreachable(f"{path.name} does not exist")
    try:
        if path.suffix == ".parquet":
            return pl.read_parquet(path).to_dicts()
        return [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise _unreachable(f"{path.name}: {error.strerror}") from None
    except (orjson.JSONDecodeError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{path.name} is not JSON Lines: {str(error).splitlines()[0][:120]}",
            field="suffix.path",
            remedy="give a .jsonl or .parquet file.",
            stage="tokenize_sources",
        ) from None


def _from_hub() -> list[Any]:
    try:
        from datasets import load_dataset

        return list(load_dataset(GSM8K_HUB_NAME, "main", split="train"))
    except Exception as error:  # the hub's client raises many kinds for one cause
        reason = str(error).strip().splitlines()[0][:160] if str(error).strip() else type(error).__name__
        raise _unreachable(f"the hub's {GSM8K_HUB_NAME} ({reason})") from None


def _unreachable(what: str) -> EnvironmentFailure:
    return EnvironmentFailure(
        f"GSM8K is asked for and cannot be reached: {what}",
        field="suffix.source",
        remedy="name a local copy with --source gsm8k=PATH (a .jsonl file or a folder with train.jsonl), or use "
        "--source synthetic.",
        stage="tokenize_sources",
    )
