"""Which files of an output folder this tool wrote. Only those are ever removed; a user's own files beside them stay.

A name counts as ours if it is one that a dataset can have, and the folder's manifest lists it or the record of a build
that began there does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prefixcache.files import read_json, write_json
from prefixcache.stages.workspace import MANIFEST, WORK, is_dataset

RECORD = f"{WORK}/written.json"
# Whatever a manifest lists: never a path that leads out of the folder, nor a name that no dataset has.
_OURS = re.compile(
    r"data\.jsonl|request_metadata\.jsonl|warmup\.jsonl|tokenizer\.json|shards/(requests-\d+|warmup)\.parquet"
)
_WORK = re.compile(
    r"lock|reserve|written\.json|(frame|plan|certificate|collisions|uploaded)\.json|(masters|corpus|keys|pieces|joints|shards|made)/[\w.-]+|corpus/\d+/[\w.-]+"
    r"|(lengths|plan|plan_warmup|simulated_hits|colliding)\.parquet"
)


def is_ours(name: str) -> bool:
    """A name that a file of a dataset can have."""
    return _OURS.fullmatch(name) is not None


def written(root: Path) -> set[str]:
    """Names of our files, relative to the folder; validation_report.json and manifest.json are not among them."""
    listed: Iterable[Any] = ()
    if is_dataset(root):
        files = read_json(root / MANIFEST).get("files")
        listed = files if isinstance(files, dict) else ()
    try:
        recorded = read_json(root / RECORD)
    except (OSError, ValueError):
        recorded = ()
    names = [*listed, *(recorded if isinstance(recorded, list) else ())]
    return {name for name in names if isinstance(name, str) and is_ours(name)}


def other_dataset(root: Path, dataset_id: str) -> str | None:
    """The dataset_id of a whole dataset in this folder, where it is another one's than ``dataset_id``."""
    if not is_dataset(root):
        return None
    there = str(read_json(root / MANIFEST).get("dataset_id"))
    return None if there == dataset_id else there


def take_over(root: Path, coming: Iterable[str]) -> None:
    """Before files of another dataset are replaced: take back its manifest, since half of each must not look whole.

    Args:
        coming: names that are about to be written. With those of the earlier dataset they are recorded, so that whoever
            comes next, after whatever end, knows them.
    """
    write_json(root / RECORD, sorted({*written(root), *coming}))
    (root / MANIFEST).unlink(missing_ok=True)


def remove_stale(root: Path, keep: Iterable[str]) -> None:
    """Files of an earlier dataset in this folder that the new one does not have."""
    for name in written(root) - set(keep):
        (root / name).unlink(missing_ok=True)
    (root / RECORD).unlink(missing_ok=True)
    _remove_empty(root / "shards")


def withdraw(root: Path) -> None:
    """Leave nothing of ours in the folder but the report."""
    remove_stale(root, ())
    (root / MANIFEST).unlink(missing_ok=True)
    sweep_work(root)


def sweep_work(root: Path) -> None:
    """Remove what the stages hand to each other."""
    work = root / WORK
    for path in sorted(work.rglob("*"), reverse=True):  # what is in a folder comes before the folder
        if path.is_dir() and not path.is_symlink():
            _remove_empty(path)
        elif _WORK.fullmatch(path.relative_to(work).as_posix()):
            path.unlink(missing_ok=True)
    _remove_empty(work)


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
