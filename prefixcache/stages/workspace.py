"""The output folder while a dataset is made in it: one maker at a time, no leftovers of killed ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.files import read_json
from prefixcache.locks import FolderLock
from prefixcache.storage.address import refuse_lost_address

WORK = ".work"
LOCK = f"{WORK}/lock"
MANIFEST, REFUSED = "manifest.json", "refused_validation_report.json"


def output_folder(output: Path | str) -> Path:
    """The full path of the folder a dataset is to be written to.

    Raises:
        InputError: no name (an empty one would mean the current folder), or a file stands there.
    """
    if isinstance(output, str) and not output.strip():
        raise InputError("no folder is named", field="output", remedy="name a folder, or `.` for the current one.")
    refuse_lost_address(Path(output), "output")
    root = Path(output).expanduser().resolve()
    for path in (root, *root.parents):
        if path.exists() and not path.is_dir():
            raise InputError(
                f"{path} is a file, not a folder", field="output", remedy="name a new folder, or an empty one."
            )
    return root


@contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Hold the folder. The lock is the operating system's, so it ends with the process however that ends.

    Raises:
        EnvironmentFailure: another process is making a dataset in this folder.
    """
    _refuse_foreign(root)
    refused = EnvironmentFailure(
        f"another process is making a dataset in {root.name}",
        field="--output",
        remedy="wait for it, or name another folder.",
    )
    lock = FolderLock(root / LOCK, refused)
    try:
        _sweep(root)
        yield
    finally:
        lock.release()


def _refuse_foreign(root: Path) -> None:
    """Only an empty folder, or one this tool has written, is written to: files there are replaced and removed."""
    for name in (WORK, "shards"):
        place = root / name
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise InputError(
                f"{place} is a {'link' if place.is_symlink() else 'file'}, not a folder of this tool",
                field="--output",
                remedy="remove it, or name another folder.",
            )
    if (root / LOCK).is_dir():
        raise InputError(f"{root / LOCK} is a folder", field="--output", remedy=f"remove {root / WORK}.")
    if not root.is_dir() or (root / WORK).is_dir() or is_dataset(root):
        return
    names = {path.name for path in root.iterdir() if not path.name.endswith(".tmp")}
    if "shards" in names and all(path.name.endswith(".tmp") for path in (root / "shards").iterdir()):
        names.discard("shards")
    if foreign := sorted(names - {"validation_report.json", "partial_manifest.json", REFUSED}):
        raise InputError(
            f"{root} holds files that are no dataset of this tool, e.g. {foreign[0]}",
            field="--output",
            remedy="name an empty or a new folder.",
        )


def is_dataset(root: Path) -> bool:
    """A manifest of ours lies there: the folder holds a whole dataset."""
    try:
        manifest = read_json(root / MANIFEST)
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("generator") == "prefixcache"


def _sweep(root: Path) -> None:
    """Half-written files of processes that were killed: nobody else writes here while the lock is held."""
    for folder in (root, root / "shards", root / WORK, *(root / WORK).glob("*/")):
        for path in folder.glob(".*.tmp"):
            path.unlink(missing_ok=True)
