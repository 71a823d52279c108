"""What one stage hands to the next: names and hashes of files, never their content."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from prefixcache.files import sha256_file


class FileRef(BaseModel):
    """One file: path relative to the workspace, SHA-256, size, and when it was written in nanoseconds."""

    model_config = ConfigDict(frozen=True)
    path: str
    sha256: str
    bytes: int
    written_ns: int | None = None

    @classmethod
    def of(cls, root: Path, path: str, sha256: str | None = None) -> FileRef:
        """``sha256``: where it is known already."""
        full = root / path
        found = full.stat()
        digest = sha256 or sha256_file(full)
        return cls(path=path, sha256=digest, bytes=found.st_size, written_ns=found.st_mtime_ns)

    def intact(self, root: Path) -> bool:
        """The file is there with the recorded size and hash.

        One that was not written since it was hashed is not read again, as build tools do it.
        """
        full = root / self.path
        try:
            found = full.stat()
        except OSError:
            return False
        if found.st_size != self.bytes:
            return False
        return found.st_mtime_ns == self.written_ns or sha256_file(full) == self.sha256


class Artifact(BaseModel):
    """The result of a stage: its files, how many rows they hold, the version of their layout.

    ``tokens``: of the prompts that a stage made, for the rate that is shown while it runs.
    """

    model_config = ConfigDict(frozen=True)
    kind: str
    files: tuple[FileRef, ...]
    rows: int
    schema_version: int = 1
    tokens: int | None = None

    @classmethod
    def of(cls, kind: str, root: Path, paths: list[str], rows: int, tokens: int | None = None) -> Artifact:
        return cls(kind=kind, files=tuple(FileRef.of(root, path) for path in paths), rows=rows, tokens=tokens)

    def path(self, root: Path, suffix: str = "") -> Path:
        """The full path of the only file, or of the one whose name ends with ``suffix``."""
        for file in self.files:
            if file.path.endswith(suffix):
                return root / file.path
        raise KeyError(f"{self.kind} has no file ending with {suffix!r}")

    def intact(self, root: Path) -> bool:
        return all(file.intact(root) for file in self.files)

    @property
    def content_hash(self) -> str:
        """One hash over the files' hashes; where they lie does not enter it."""
        joined = "\n".join(f"{file.sha256}" for file in self.files)
        return hashlib.sha256(f"{self.kind}\n{self.schema_version}\n{joined}".encode()).hexdigest()
