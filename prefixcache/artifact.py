"""What one stage hands to the next: names and hashes of files, never their content."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from prefixcache.files import sha256_file


class FileRef(BaseModel):
    """One file: path relative to the workspace, SHA-256, size."""

    model_config = ConfigDict(frozen=True)
    path: str
    sha256: str
    bytes: int

    @classmethod
    def of(cls, root: Path, path: str) -> FileRef:
        full = root / path
        return cls(path=path, sha256=sha256_file(full), bytes=full.stat().st_size)

    def intact(self, root: Path, *, deep: bool = True) -> bool:
        """The file is there with the recorded size and, if ``deep``, the recorded hash."""
        full = root / self.path
        try:
            if full.stat().st_size != self.bytes:
                return False
        except OSError:
            return False
        return not deep or sha256_file(full) == self.sha256


class Artifact(BaseModel):
    """The result of a stage: its files, how many rows they hold, the version of their layout."""

    model_config = ConfigDict(frozen=True)
    kind: str
    files: tuple[FileRef, ...]
    rows: int
    schema_version: int = 1

    @classmethod
    def of(cls, kind: str, root: Path, paths: list[str], rows: int) -> Artifact:
        return cls(kind=kind, files=tuple(FileRef.of(root, path) for path in paths), rows=rows)

    def path(self, root: Path, suffix: str = "") -> Path:
        """The full path of the only file, or of the one whose name ends with ``suffix``."""
        for file in self.files:
            if file.path.endswith(suffix):
                return root / file.path
        raise KeyError(f"{self.kind} has no file ending with {suffix!r}")

    def intact(self, root: Path, *, deep: bool = True) -> bool:
        return all(file.intact(root, deep=deep) for file in self.files)

    @property
    def content_hash(self) -> str:
        """One hash over the files' hashes; where they lie does not enter it."""
        joined = "\n".join(f"{file.sha256}" for file in self.files)
        return hashlib.sha256(f"{self.kind}\n{self.schema_version}\n{joined}".encode()).hexdigest()
