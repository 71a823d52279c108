"""Addresses of remote folders: what counts as one, and which are refused before anybody writes them down."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from prefixcache.errors import InputError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_LOST = re.compile(r"([a-z][a-z0-9+.-]+):/+[^/]")
SCRATCH_VARIABLE = "PREFIXCACHE_SCRATCH"


def is_address(place: object) -> bool:
    """``s3://bucket/path`` and its like; a folder's name never looks so."""
    return isinstance(place, str) and _SCHEME.match(place.strip()) is not None


def checked_address(address: str, field: str) -> str:
    """The address without a final slash.

    Raises:
        InputError: credentials in it, which would end up in records and logs, or parts that no folder has. The address
            is not quoted.
    """
    address = address.strip()
    parts = urlsplit(address)
    if "@" in parts.netloc or "@" in parts.path.split("/", 1)[0]:
        raise InputError(
            "holds a user name or a password",
            field=field,
            remedy="leave them out; credentials come from the environment, e.g. AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY.",
        )
    if parts.query or parts.fragment or "?" in address or "::" in address:
        raise InputError(
            "has a query, a fragment or a chain of addresses",
            field=field,
            remedy="name a folder alone, e.g. s3://bucket/datasets/one.",
        )
    address = address.rstrip("/")
    scheme, _, rest = address.partition("://")
    if not rest or ".." in rest.split("/"):
        raise InputError("names no folder", field=field, remedy="name one, e.g. s3://bucket/datasets/one.")
    return f"{scheme.lower()}://{rest}"


def refuse_lost_address(path: Path, field: str) -> None:
    """``Path("s3://bucket/x")`` has lost a slash and would become a folder called ``s3:``.

    Raises:
        InputError
    """
    if _LOST.match(path.as_posix()):
        raise InputError(
            f"{path} looks like an address that was made a path", field=field, remedy="pass an address as text."
        )


def scratch_folder(kind: str, address: str) -> Path:
    """Where this machine keeps the files of an address: in PREFIXCACHE_SCRATCH, or in the user's cache folder.

    Args:
        kind: ``made`` for datasets under construction, ``fetched`` for those that are read.
    """
    given = os.environ.get(SCRATCH_VARIABLE)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "prefixcache"
    name = hashlib.sha256(address.encode()).hexdigest()[:20]
    return (Path(given).expanduser() if given else cache).resolve() / kind / name
