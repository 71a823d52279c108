"""Paths in flow parameters."""

from __future__ import annotations

from pathlib import Path

from prefect import runtime

from prefixcache.errors import InputError
from prefixcache.stages.fetch import fetched_dataset
from prefixcache.storage.address import checked_address, is_address


def dataset_place(value: str, field: str) -> Path | str:
    """Where a dataset is to be: an address as text, or a folder.

    Raises:
        InputError: an address with credentials; otherwise as :func:`local_path`.
    """
    return checked_address(value, field) if is_address(value) else local_path(value, field)


def dataset_folder(value: str, field: str) -> Path:
    """Where a dataset is on this machine: one behind an address is fetched first.

    Raises:
        InputError, EnvironmentFailure: no dataset there; otherwise as :func:`local_path`.
    """
    return fetched_dataset(value, field) if is_address(value) else local_path(value, field)


def local_path(value: str, field: str) -> Path:
    """The path as it is.

    Raises:
        InputError: no name, or a relative path in a deployment's run: a worker works in a folder of its own and
            deletes it.
    """
    if not value.strip():
        raise InputError("no path is named", field=field, remedy="name one, or `.` for the current folder.")
    path = Path(value).expanduser()
    if not path.is_absolute() and runtime.deployment.id:
        raise InputError(
            f"{value} is a relative path, and the worker's folder is deleted after the run",
            field=field,
            remedy="give an absolute path on the worker's machine.",
        )
    return path
