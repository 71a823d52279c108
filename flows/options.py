"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from prefixcache.storage.address import is_address


def named_folder(text: str) -> Path:
    """An empty name would mean the current folder, and its files be taken for a dataset's."""
    if not text.strip():
        raise typer.BadParameter("no folder is named; name one, or `.` for the current one")
    if is_address(text):
        raise typer.BadParameter("is an address, and this takes a folder of this machine")
    return Path(text)


def named_place(text: str) -> Path | str:
    """A folder, or an address such as s3://bucket/path, which stays a text: a path would lose a slash of it."""
    return text.strip() if is_address(text) else named_folder(text)


def named_file(text: str) -> Path:
    """An empty name would mean the current folder."""
    if not text.strip():
        raise typer.BadParameter("no file is named.")
    return Path(text)


Config = Annotated[
    Path,
    typer.Option("--config", "-c", help="YAML file that describes the dataset.", parser=named_file, metavar="PATH"),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Folder of the dataset.", parser=named_folder, metavar="PATH")
]
OutputPlace = Annotated[
    Any,
    typer.Option(
        "--output", "-o", help="Folder of the dataset, or an address, s3://bucket/path.", parser=named_place,
        metavar="PATH",
    ),
]  # fmt: skip
TokenizerOption = Annotated[
    str | None, typer.Option("--tokenizer", help="Folder or hub name; replaces tokenizer.path of the file.")
]
Sources = Annotated[
    list[str] | None,
    typer.Option("--source", help="Text source NAME or NAME=PATH, e.g. gsm8k=/data/gsm8k. Repeatable."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change a key of the file, e.g. target.hit_ratio=0.6. Repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
Live = Annotated[bool, typer.Option("--live", help="Show a dashboard while requests are sent; only on a terminal.")]
NoPrefect = Annotated[bool, typer.Option("--no-prefect", help="Run the same stages in this process, without cache.")]
DatasetFolder = Annotated[
    Path,
    typer.Option("--dataset", "-d", help="Folder that `generate` wrote.", parser=named_folder, metavar="PATH"),
]
DatasetPlace = Annotated[
    Any,
    typer.Option(
        "--dataset", "-d", help="Folder or address that `generate` wrote.", parser=named_place, metavar="PATH"
    ),
]
RunFolder = Annotated[Path, typer.Option("--run-dir", "-r", help="Folder of the run.")]
Slo = Annotated[
    str | None,
    typer.Option(
        "--slo",
        metavar="LIMITS",
        help="Thresholds for goodput, seconds or ms: ttft=0.5,tpot=50ms,e2e=3; any of the three.",
    ),
]
Language = Annotated[
    str,
    typer.Option(
        "--lang", envvar="PREFIXCACHE_LANG", show_envvar=True, metavar="en|zh", help="Language of the output: en or zh."
    ),
]
