"""Rows of samples out of files and hub data sets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from prefixcache.content.hub import quiet_hub
from prefixcache.errors import EnvironmentFailure, InputError

FOLDER_FILES = ("train.jsonl", "train.parquet")
KINDS = ".jsonl, .parquet, .csv or .txt"
_BLANK_LINES = re.compile(r"\n[ \t]*\n")


def read_rows(path: Path, *, where: str = "suffix", gsm8k: bool = False) -> Iterable[Any]:
    """Rows of a file: objects of .jsonl, rows of .parquet and .csv, paragraphs (or lines) of .txt.

    Args:
        where: configuration path of the source, for messages.

    Raises:
        InputError: a file that is not what its name says.
        EnvironmentFailure: it is not there.
    """
    if path.is_dir():
        found = [path / name for name in FOLDER_FILES if (path / name).is_file()]
        if not found:
            raise _unreachable(f"the folder {path.name} holds no {FOLDER_FILES[0]}", where, gsm8k)
        path = found[0]
    if not path.is_file():
        raise _unreachable(f"{path.name} does not exist", where, gsm8k)
    try:
        return _parsed(path)
    except OSError as error:
        raise _unreachable(f"{path.name}: {error.strerror}", where, gsm8k) from None
    except (orjson.JSONDecodeError, pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        kind = {".parquet": "Parquet", ".csv": "CSV", ".txt": "UTF-8 text"}.get(path.suffix.lower(), "JSON Lines")
        raise InputError(
            f"{path.name} is not {kind}: {_place(error)}",
            field=f"{where}.path",
            remedy=f"give a {KINDS} file.",
            stage="tokenize_sources",
        ) from None


def _parsed(path: Path) -> Iterable[Any]:
    kind = path.suffix.lower()
    if kind == ".parquet":
        return pl.read_parquet(path).to_dicts()
    if kind == ".csv":
        return pl.read_csv(path, infer_schema=False).to_dicts()
    if kind == ".txt":
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").strip()
        parts = _BLANK_LINES.split(text)
        return parts if len(parts) > 1 else text.splitlines()
    return [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def _place(error: Exception) -> str:
    """Where it went wrong, without the text that stands there: it may be private."""
    if isinstance(error, orjson.JSONDecodeError):
        return f"{error.msg.splitlines()[0][:100]} (column {error.colno})"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    return type(error).__name__


def hub_rows(
    name: str, subset: str | None, split: str, revision: str | None, *, where: str, gsm8k: bool
) -> Iterable[Any]:
    """Rows of a hub data set, by the `datasets` library.

    Raises:
        EnvironmentFailure: the hub, the data set or the split cannot be had.
    """
    quiet_hub()
    try:
        from datasets import load_dataset

        return list(load_dataset(name, subset, split=split, revision=revision))
    except Exception as error:  # the hub's client raises many kinds for one cause
        reason = str(error).strip().splitlines()[0][:160] if str(error).strip() else type(error).__name__
        raise _unreachable(f"the hub's {name} ({reason})", where, gsm8k) from None


def _unreachable(what: str, where: str, gsm8k: bool) -> EnvironmentFailure:
    asked = "GSM8K is asked for and" if gsm8k else "the text source"
    local = "gsm8k=PATH (a .jsonl file or a folder with train.jsonl)" if gsm8k else "text=PATH"
    return EnvironmentFailure(
        f"{asked} cannot be reached: {what}",
        field=f"{where}.source",
        remedy=f"name a local copy with --source {local}, or use --source synthetic.",
        stage="tokenize_sources",
    )
