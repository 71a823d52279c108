"""Paths in flow parameters."""

from __future__ import annotations

from pathlib import Path

from prefect import runtime

from prefixcache.errors import InputError


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
