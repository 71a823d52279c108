"""Files written so that a reader never sees half of one: aside, synced, renamed."""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import orjson

_OS_ERROR = re.compile(r"\(os error (\d+)\)")
APPEND_BYTES = 1 << 20
JSON_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY


def whose() -> str:
    """Tells writers of one shared folder apart: on two machines, or in two containers, process ids are often equal."""
    return f"{socket.gethostname()[:32]}-{os.getpid()}"


@contextmanager
def replacing(path: Path, *, sync: bool = True) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` for writing; on success it is synced and renamed over ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{whose()}.tmp")
    try:
        with open(aside, "wb") as file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
        os.replace(aside, path)
    except OSError as error:
        # A full disk is noticed by a write, which does not know the name; the one beside it is not the user's.
        if error.filename is None or Path(error.filename) == aside:
            error.filename = str(path)
        raise
    except Exception as error:
        # Polars words a refused write as an error of its own.
        if refused := _OS_ERROR.search(str(error)):
            number = int(refused[1])
            raise OSError(number, os.strerror(number), str(path)) from error
        raise
    finally:
        aside.unlink(missing_ok=True)


class HashedFile:
    """A file under construction whose SHA-256 is computed while it is written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self._hash.update(data)
        self._file.write(data)

    def append(self, path: Path) -> None:
        """All bytes of another file."""
        with open(path, "rb", buffering=0) as source:
            while data := source.read(APPEND_BYTES):
                self.write(data)

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


@contextmanager
def replacing_hashed(path: Path) -> Iterator[HashedFile]:
    """:func:`replacing`, hashed on the way."""
    with replacing(path) as file:
        yield HashedFile(file)


def write_bytes(path: Path, data: bytes) -> None:
    with replacing(path) as file:
        file.write(data)


def json_bytes(value: Any) -> bytes:
    """Indented JSON with a final newline. Numbers are Python's or NumPy's; NaN becomes null."""
    return orjson.dumps(value, option=JSON_OPTIONS) + b"\n"


def write_json(path: Path, value: Any) -> None:
    write_bytes(path, json_bytes(value))


def require_file(path: Path) -> None:
    """Raises OSError for what is there and no file: reading a pipe or a device may never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "it is no regular file", str(path))


def read_json(path: Path) -> Any:
    require_file(path)
    return orjson.loads(path.read_bytes())


def json_place(error: orjson.JSONDecodeError) -> str:
    """Where a text stops being JSON; the library's own words, which may quote the text, are left out."""
    return f"line {error.lineno}, column {error.colno}"


def write_jsonl(path: Path, rows: Iterable[Any]) -> int:
    """Write one JSON object a line; returns the number of rows."""
    count = 0
    with replacing(path) as file:
        for row in rows:
            file.write(orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE))
            count += 1
    return count


def read_jsonl(path: Path) -> Iterator[Any]:
    require_file(path)
    with open(path, "rb") as file:
        for line in file:
            if line.strip():
                yield orjson.loads(line)


def forget_pages(array: Any) -> None:
    """Give back the memory of what was read of a mapped file; the next look at it reads it again."""
    mapped = getattr(array, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def sha256_file(path: Path) -> str:
    require_file(path)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
