"""Rows of samples out of files and hub data sets."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from prefixcache.content.hub import quiet_hub
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.tables import read_csv, read_parquet

FOLDER_FILES = ("train.jsonl", "train.parquet")
MOST_NAMED = 5
_UNPACK = "unpack it and name the file inside."
_FORMATS = (
    (b"PAR1", "a Parquet file", "give it the ending .parquet."),
    (b"\x1f\x8b", "packed with gzip", _UNPACK),
    (b"BZh", "packed with bzip2", _UNPACK),
    (b"\xfd7zXZ\x00", "packed with xz", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", _UNPACK),
    (b"PK\x03\x04", "a ZIP or Excel file", "unpack it, or save the table as .csv."),
)
"""First bytes, format, remedy."""
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
            raise _unreachable(f"the folder {path.name} holds {_content(path)}, no {FOLDER_FILES[0]}", where, gsm8k)
        path = found[0]
    if not path.is_file():
        raise _unreachable(f"{path.name} does not exist", where, gsm8k)
    try:
        _refuse_other_format(path, where)
        return _parsed(path)
    except OSError as error:
        raise _unreachable(f"{path.name}: {error.strerror}", where, gsm8k) from None
    except (_BadLine, pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path.name} is not {_kind_of(path)}: {_place(error)}",
            field=f"{where}.path",
            remedy=f"give a {KINDS} file.",
            stage="tokenize_sources",
        ) from None


def _kind_of(path: Path) -> str:
    return {".parquet": "Parquet", ".csv": "CSV", ".txt": "UTF-8 text"}.get(path.suffix.lower(), "JSON Lines")


def _parsed(path: Path) -> Iterable[Any]:
    kind = path.suffix.lower()
    if kind == ".parquet":
        return read_parquet(path).to_dicts()
    if kind == ".csv":
        return read_csv(path, as_text=True).to_dicts()
    if kind == ".txt":
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").strip()
        parts = _BLANK_LINES.split(text)
        return parts if len(parts) > 1 else text.splitlines()
    lines = path.read_bytes().removeprefix(codecs.BOM_UTF8).splitlines()
    return [_loaded(line, number) for number, line in enumerate(lines, 1) if line.strip()]


class _BadLine(ValueError):
    """A line that is no JSON; its message has no text of it."""


def _loaded(line: bytes, number: int) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        reason = error.msg.partition(": line ")[0].splitlines()[0][:100]
        raise _BadLine(f"line {number}, column {error.colno}: {reason}") from None


def _content(folder: Path) -> str:
    names = sorted(path.name + ("/" if path.is_dir() else "") for path in folder.iterdir())
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more if names else "nothing"


def _refuse_other_format(path: Path, where: str) -> None:
    """A file whose first bytes tell another format than its name: packed, or Parquet under another name.

    Raises:
        InputError: with the format and what to do.
    """
    with open(path, "rb") as file:
        begin = file.read(8)
    found = next((entry for magic, *entry in _FORMATS if begin.startswith(magic)), None)
    if found is None or path.suffix.lower() == ".parquet":
        return
    what, remedy = found
    raise InputError(
        f"{path.name} is {what}, not {_kind_of(path)}",
        field=f"{where}.path",
        remedy=remedy,
        stage="tokenize_sources",
    )


def _place(error: Exception) -> str:
    """Where it went wrong, without the text that stands there: it may be private."""
    if isinstance(error, _BadLine):
        return str(error)
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
