"""A folder that one process at a time writes to. The lock is the operating system's: it ends with its process, however
that ends."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from prefixcache.errors import EnvironmentFailure


class FolderLock:
    """An exclusive lock, held from its making to ``release``.

    Args:
        path: the lock's file; its folder is made if absent. The file stays: whoever removed it could not know who else
            has opened it.
        refused: what to raise if another process holds the lock.

    Raises:
        EnvironmentFailure: ``refused``.
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path, refused: EnvironmentFailure) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[str] | None = open(path, "w")  # noqa: SIM115
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise refused from None
        except OSError:
            pass  # a file system without locks: the user is trusted not to start two

    def release(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


def refuse_if_held(path: Path, refused: EnvironmentFailure) -> None:
    """Ask without leaving anything behind: for a check before a folder is touched.

    Raises:
        EnvironmentFailure: ``refused``, if a process holds the lock.
    """
    if path.is_file():
        try:
            FolderLock(path, refused).release()
        except OSError:
            return  # it will be said when it is to be written
