"""A dataset whose home is an address: stages work in a folder of their own machine, and files travel by digest.

Below the address, ``.work/blobs/<sha256>`` holds what one machine made and another needs. The dataset itself is put
together at the very end: first the manifest of an earlier one is taken back, then every file is stored whole, and the
new manifest last of all, so that nothing that lies there ever looks like a dataset and is none.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import orjson

from prefixcache.artifact import Artifact, FileRef
from prefixcache.errors import EnvironmentFailure, InputError, PrefixCacheError, VerdictError
from prefixcache.files import read_json, write_json
from prefixcache.stages.owned import RECORD, is_ours
from prefixcache.stages.record import PARTIAL_MANIFEST
from prefixcache.stages.validate import REPORT
from prefixcache.stages.workspace import MANIFEST, REFUSED, WORK
from prefixcache.storage.address import checked_address, scratch_folder
from prefixcache.storage.folder import RemoteFolder

BLOBS = f"{WORK}/blobs"
UPLOADED = f"{WORK}/uploaded.json"
FIELD = "output"


class Store:
    """The remote home of one dataset.

    Args:
        address: of the folder, with a scheme and without credentials.

    Raises:
        InputError: an address that is refused, or whose package is not installed.
    """

    def __init__(self, address: str) -> None:
        self.address = checked_address(address, FIELD)
        self.root = scratch_folder("made", self.address)
        self._remote = RemoteFolder(self.address, FIELD)

    def begin(self) -> None:
        """Look whether the place can be written to, before anything is built.

        Raises:
            InputError: files that are no dataset of this tool lie there.
            EnvironmentFailure: it cannot be reached or written to.
        """
        names = set(self._remote.names()) - {REPORT, PARTIAL_MANIFEST, REFUSED, WORK}
        if names and self._standing() is None and self._remote.size(RECORD) is None:
            raise InputError(
                f"{self.address} holds files that are no dataset of this tool, e.g. {min(names)}",
                field=FIELD,
                remedy="name an empty or a new folder.",
            )
        self._remote.write(RECORD, orjson.dumps(sorted(self._written())))

    def fetch(self, artifacts: Iterable[Artifact]) -> None:
        """Bring files into the folder of this machine that are not there intact.

        Raises:
            EnvironmentFailure: one that is not in the store, or came damaged.
        """
        files = {file.path: file for artifact in artifacts for file in artifact.files}
        self._remote.for_each(lambda path: self._fetch(files[path]), files)

    def push(self, artifacts: Iterable[Artifact]) -> None:
        """Store files of this machine's folder that are not in the store yet."""
        files = {file.sha256: file for artifact in artifacts for file in artifact.files}
        self._remote.for_each(lambda digest: self._push(files[digest]), files)

    def publish(self) -> None:
        """Store the dataset that was published in the folder of this machine, the manifest last."""
        content = (self.root / MANIFEST).read_bytes()
        listed = orjson.loads(content)["files"]
        known = self._uploaded()
        todo = [name for name, entry in listed.items() if not self._is_there(name, entry["sha256"], known)]
        if todo or self._remote.read(MANIFEST) != content:
            earlier = self._written()
            self._remote.write(RECORD, orjson.dumps(sorted({*earlier, *listed})))
            self._remote.remove(MANIFEST)
            self._upload(todo, listed, known)
            self._remote.remove(*sorted(earlier - set(listed)))
            self._remote.write(MANIFEST, content)
        self._remote.remove(REFUSED, PARTIAL_MANIFEST)
        self._remote.remove_tree(WORK)

    def keep_failure(self, error: Exception) -> None:
        """What a failed generation leaves beside an earlier dataset: its report, or what it had done.

        A folder of this machine may know nothing of an earlier dataset in the store, so that is asked again.
        """
        if isinstance(error, VerdictError):
            report = next((path for name in (REFUSED, REPORT) if (path := self.root / name).is_file()), None)
            if report is not None:
                self._remote.put(report, REPORT if self._standing() is None else REFUSED)
            self._remote.remove_tree(WORK)
        elif (self.root / PARTIAL_MANIFEST).is_file():
            self._remote.put(self.root / PARTIAL_MANIFEST, PARTIAL_MANIFEST)

    def _fetch(self, file: FileRef) -> None:
        if file.intact(self.root):
            return
        path = self.root / file.path
        if not self._remote.get(f"{BLOBS}/{file.sha256}", path):
            raise EnvironmentFailure(f"{file.path} is not in {self.address}", field=FIELD, remedy="start it again.")
        if not file.intact(self.root):
            path.unlink(missing_ok=True)
            raise EnvironmentFailure(
                f"{file.path} came damaged from {self.address}",
                field=FIELD,
                remedy=f"remove {self.address}/{WORK} and start it again.",
            )
        if file.written_ns is not None:  # so that it need not be hashed again
            os.utime(path, ns=(file.written_ns, file.written_ns))

    def _push(self, file: FileRef) -> None:
        blob = f"{BLOBS}/{file.sha256}"
        if self._remote.size(blob) != file.bytes:
            self._remote.put(self.root / file.path, blob)

    def _upload(self, names: list[str], listed: dict[str, Any], known: dict[str, Any]) -> None:
        guard = threading.Lock()

        def upload(name: str) -> None:
            entry = listed[name]
            blob = f"{BLOBS}/{entry['sha256']}"
            if self._remote.size(blob) == entry["bytes"]:
                self._remote.copy(blob, name)
            else:
                self._remote.put(self.root / name, name)
            with guard:
                known[name] = [entry["sha256"], self._remote.identity(name)]
                write_json(self.root / UPLOADED, known)

        self._remote.for_each(upload, names)

    def _is_there(self, name: str, digest: str, known: dict[str, Any]) -> bool:
        """This machine has stored the file and nobody has changed it since."""
        return known.get(name) == [digest, self._remote.identity(name)]

    def _uploaded(self) -> dict[str, Any]:
        try:
            known = read_json(self.root / UPLOADED)
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def _standing(self) -> dict[str, Any] | None:
        """The manifest of the dataset that lies there."""
        content = self._remote.read(MANIFEST)
        try:
            manifest = orjson.loads(content or b"null")
        except ValueError:
            return None
        return manifest if isinstance(manifest, dict) and manifest.get("generator") == "prefixcache" else None

    def _written(self) -> set[str]:
        """Files of ours in the store: those the manifest lists and those an unfinished upload recorded."""
        standing = (self._standing() or {}).get("files")
        try:
            recorded = orjson.loads(self._remote.read(RECORD) or b"[]")
        except ValueError:
            recorded = []
        names = [*(standing if isinstance(standing, dict) else ()), *(recorded if isinstance(recorded, list) else ())]
        return {name for name in names if isinstance(name, str) and is_ours(name)}


@contextmanager
def uploading(store: Store | None) -> Iterator[None]:
    """Around a generation in ``store.root``: its dataset is stored at the end, of a failed one what it tells."""
    if store is None:
        yield
        return
    store.begin()
    try:
        yield
    except Exception as error:
        with suppress(PrefixCacheError):  # the error itself is what matters
            store.keep_failure(error)
        raise
    store.publish()


def artifacts_in(values: Iterable[Any]) -> Iterator[Artifact]:
    """All artifacts among a stage's inputs."""
    for value in values:
        if isinstance(value, Artifact):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from artifacts_in(value)
