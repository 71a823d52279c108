"""One remote folder through fsspec: whole files in, whole files out; what goes wrong is one message without secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prefixcache.errors import EnvironmentFailure, InputError, PrefixCacheError
from prefixcache.files import whose
from prefixcache.storage.address import checked_address

# A PUT there shows the whole object or the one before; elsewhere a file is written aside and moved.
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "memory"}
AT_ONCE = 8
_USERINFO = re.compile(r"//[^/@\s]+@")
_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID", "FSSPEC_S3_SECRET", "FSSPEC_S3_KEY")


class RemoteFolder:
    """A folder behind an address.

    Args:
        address: with a scheme, without credentials; those are the environment's.
        field: flag or parameter that errors name.

    Raises:
        InputError: an address that is refused, a scheme that is unknown or whose package is not installed.
    """

    def __init__(self, address: str, field: str = "output") -> None:
        self.address = checked_address(address, field)
        self.field = field
        self.scheme = self.address.partition("://")[0]
        self.atomic = self.scheme in OBJECT_STORES
        self._fs, self._root = _opened(self.address, self.scheme, field)

    def identity(self, name: str) -> str | None:
        """What changes when the file does (entity tag, time, size); None if it is not there."""
        with self._told(name):
            self._fs.invalidate_cache()
            try:
                info = self._fs.info(self._path(name))
            except FileNotFoundError:
                return None
            if info.get("type") == "directory":
                return None
            tags = {key: str(info.get(key)) for key in ("size", "ETag", "etag", "mtime", "LastModified", "created")}
            return repr(sorted(tags.items()))

    def size(self, name: str) -> int | None:
        """Bytes; None if it is not there."""
        with self._told(name):
            self._fs.invalidate_cache()
            try:
                return int(self._fs.size(self._path(name)) or 0)
            except FileNotFoundError:
                return None

    def read(self, name: str) -> bytes | None:
        """Content of a small file; None if it is not there."""
        with self._told(name):
            self._fs.invalidate_cache()
            try:
                content: bytes = self._fs.cat_file(self._path(name))
            except FileNotFoundError:
                return None
            return content

    def names(self) -> list[str]:
        """What lies directly in the folder."""
        with self._told(""):
            self._fs.invalidate_cache()
            try:
                listed = self._fs.ls(self._root, detail=False)
            except FileNotFoundError:
                return []
            return sorted({str(entry).rstrip("/").rpartition("/")[2] for entry in listed} - {""})

    def get(self, name: str, path: Path) -> bool:
        """Fetch a file aside and rename it over ``path``; False if it is not there."""
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.{whose()}.tmp")
        try:
            with self._told(name):
                try:
                    self._fs.get_file(self._path(name), str(aside))
                except FileNotFoundError:
                    return False
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
        return True

    def put(self, path: Path, name: str) -> None:
        """Store a file under ``name``; nobody ever sees a part of it."""
        with self._told(name):
            self._shown_whole(name, lambda target: self._fs.put_file(str(path), target))

    def write(self, name: str, content: bytes) -> None:
        with self._told(name):
            self._shown_whole(name, lambda target: self._fs.pipe_file(target, content))

    def copy(self, name: str, other: str) -> None:
        """Within the folder, without passing through this machine where the store can do that."""
        with self._told(other):
            self._shown_whole(other, lambda target: self._fs.cp_file(self._path(name), target))

    def remove(self, *names: str) -> None:
        """Remove files; those that are not there are no error."""
        for name in names:
            with self._told(name):
                try:
                    self._fs.rm_file(self._path(name))
                except FileNotFoundError:
                    continue

    def remove_tree(self, name: str) -> None:
        """A folder with all that is in it. Object by object: not every S3 server can delete many at once."""
        with self._told(name):
            self._fs.invalidate_cache()
            if self.atomic:
                found = [str(path)[len(self._root) + 1 :] for path in self._fs.find(self._path(name))]
                self.for_each(self.remove, found)
            elif self._fs.exists(self._path(name)):
                self._fs.rm(self._path(name), recursive=True)

    def for_each(self, function: Callable[[str], None], names: Iterable[str]) -> None:
        """Call a function for every name, several at once where the store is known to stand that."""
        if not self.atomic:
            for name in names:
                function(name)
            return
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for _ in threads.map(function, names):
                pass

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _shown_whole(self, name: str, write: Callable[[str], object]) -> None:
        target = self._path(name)
        if self.atomic:
            write(target)
            return
        folder, _, last = target.rpartition("/")
        aside = f"{folder}/.{last}.{whose()}.tmp"
        self._fs.makedirs(folder, exist_ok=True)
        try:
            write(aside)
            self._fs.mv(aside, target)
        except BaseException:
            self._fs.invalidate_cache()
            if self._fs.exists(aside):
                self._fs.rm_file(aside)
            raise

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Whatever the store refuses, as one message; a store's own errors have no common base."""
        try:
            yield
        except PrefixCacheError:
            raise
        except Exception as error:
            where = f"{self.address}/{name}" if name else self.address
            raise EnvironmentFailure(
                f"{where}: {_said(error)}",
                field=self.field,
                remedy="check that the bucket or folder exists, the endpoint (e.g. AWS_ENDPOINT_URL) and the "
                "credentials in the environment; the same command again goes on from what is whole.",
            ) from None  # a cause of the client's may hold signed addresses


def _opened(address: str, scheme: str, field: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise _missing(scheme, field) from None
    try:
        fs, root = fsspec.core.url_to_fs(address, skip_instance_cache=True)  # the environment may have changed
    except ImportError:
        raise _missing(scheme, field) from None
    except ValueError:
        raise InputError(
            f"addresses that begin with {scheme}:// are unknown", field=field, remedy="write a folder, or s3://…"
        ) from None
    return fs, str(root).rstrip("/")


def _missing(scheme: str, field: str) -> InputError:
    extra = "s3" if scheme in ("s3", "s3a") else None
    how = "install prefixcache[s3]." if extra else f"install fsspec and its package for {scheme}://."
    return InputError(f"addresses that begin with {scheme}:// need a package more", field=field, remedy=how)


def _said(error: Exception) -> str:
    """First line of an error, without what it may know of credentials."""
    text = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
    for value in filter(None, map(os.environ.get, _SECRETS)):
        text = text.replace(value, "***")
    return f"{_USERINFO.sub('//', text)[:200]} ({type(error).__name__})"
