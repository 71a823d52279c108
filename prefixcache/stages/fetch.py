"""A dataset behind an address, fetched to a folder of this machine before anybody reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from prefixcache.errors import InputError
from prefixcache.files import read_json, write_bytes, write_json
from prefixcache.stages.owned import is_ours
from prefixcache.stages.workspace import MANIFEST
from prefixcache.storage.address import checked_address, is_address, scratch_folder
from prefixcache.storage.folder import RemoteFolder

STATE = ".fetched.json"
REPORT = "validation_report.json"


def fetched_dataset(address: str, field: str = "dataset") -> Path:
    """Folder with all files that the dataset's manifest lists, as they are in the store now.

    A file is fetched again when it has changed in the store, or here since it was fetched: what is checked afterwards
    is what the store holds, whole or damaged. One that the store does not have is not there here either.

    Raises:
        InputError: no dataset there, or one that lists names no dataset has.
        EnvironmentFailure: what the store refuses.
    """
    address = checked_address(address, field)
    remote = RemoteFolder(address, field)
    content = remote.read(MANIFEST)
    if content is None:
        raise InputError(
            f"{address} holds no dataset: it has no {MANIFEST}",
            field=field,
            remedy="name the address that `generate --output` was given; a dataset is there once its upload has ended.",
        )
    names = _listed(content, address, field)
    root = scratch_folder("fetched", address)
    known = _state(root)
    state: dict[str, Any] = {}

    def fetch(name: str) -> None:
        identity, path = remote.identity(name), root / name
        if identity is not None and known.get(name) == [identity, *_stamp(path)]:
            state[name] = known[name]
        elif identity is not None and remote.get(name, path):
            state[name] = [identity, *_stamp(path)]
        else:
            path.unlink(missing_ok=True)

    (root / MANIFEST).unlink(missing_ok=True)
    remote.for_each(fetch, names)
    for name in set(known) - set(names):
        if is_ours(name):
            (root / name).unlink(missing_ok=True)
    write_json(root / STATE, state)
    write_bytes(root / MANIFEST, content)
    return root


def here(place: Path | str, field: str) -> Path:
    """The folder itself, or the one that the dataset of an address was fetched to."""
    return fetched_dataset(place, field) if isinstance(place, str) and is_address(place) else Path(place)


def _listed(content: bytes, address: str, field: str) -> list[str]:
    """Names that the manifest lists; a foreign one could lead anywhere."""
    try:
        manifest = orjson.loads(content)
        names = [str(name) for name in manifest["files"]]
    except (ValueError, KeyError, TypeError):
        names = [""]
    if foreign := [name for name in names if not is_ours(name) and name != REPORT]:
        raise InputError(
            f"{address} holds a {MANIFEST} that is none of this tool" + (f": it lists {foreign[0]!r}" * any(foreign)),
            field=field,
            remedy="name the address of a dataset.",
        )
    return names


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns


def _state(root: Path) -> dict[str, Any]:
    try:
        state = read_json(root / STATE)
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}
