"""What addresses, stores and runners refuse is told in Chinese too; the errors are those that the code raises."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from prefixcache.errors import PrefixCacheError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.stages.fetch import fetched_dataset
from prefixcache.stages.store import Store
from prefixcache.stages.workspace import output_folder
from prefixcache.storage.address import checked_address
from prefixcache.storage.folder import RemoteFolder
from tasks.engines import Engine


def _foreign(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    Store(f"file://{folder}").begin()


def _lost(folder: Path) -> None:
    fetched_dataset(f"file://{folder}", "--dataset")


def _forged(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"files": {"../x": {}}}')
    _lost(folder)


CASES: dict[str, Callable[[Path], object]] = {
    "credentials": lambda _: checked_address("s3://a:b@c/d", "output"),
    "query": lambda _: checked_address("s3://c/d?x=1", "output"),
    "no folder": lambda _: checked_address("s3://", "output"),
    "lost slash": lambda _: output_folder(Path("s3://bucket/x")),
    "unknown scheme": lambda _: RemoteFolder("nowhere://x/y", "output"),
    "foreign files": _foreign,
    "no dataset": _lost,
    "forged manifest": _forged,
    "unknown runner": lambda _: Engine("slurm"),
    "address of threads": lambda _: Engine("threads", "tcp://a:1"),
    "address of dask": lambda _: Engine("dask", "nonsense"),
}


@pytest.mark.parametrize("case", CASES)
def test_message_and_remedy(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFIXCACHE_SCRATCH", str(tmp_path / "scratch"))
    folder = tmp_path / "store"
    folder.mkdir()
    with pytest.raises(PrefixCacheError) as caught:
        CASES[case](folder)
    for text in (caught.value.message, caught.value.remedy):
        assert re.search("[一-鿿]", chinese_of(text or "")), text
