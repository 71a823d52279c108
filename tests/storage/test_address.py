"""Addresses: what is one, what is refused, and that no secret in one is ever quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixcache.errors import InputError
from prefixcache.stages.workspace import output_folder
from prefixcache.storage.address import checked_address, is_address, scratch_folder
from prefixcache.storage.folder import RemoteFolder


@pytest.mark.parametrize("place", ["s3://bucket/x", "file:///tmp/x", " memory://x", "abfs+x://a/b"])
def test_addresses(place: str) -> None:
    assert is_address(place)


@pytest.mark.parametrize("place", ["out", "./s3", "/tmp/a:b", "C:/x", "s3:/bucket", "", Path("x")])
def test_folders(place: object) -> None:
    assert not is_address(place)


@pytest.mark.parametrize(
    "address",
    [
        "s3://AKIA123:hunter2@bucket/x",
        "s3://hunter2@bucket",
        "sftp://user:hunter2@host/x",
        "s3://bucket/x?X-Amz-Signature=hunter2",
        "s3://bucket/x#hunter2",
        "simplecache::s3://hunter2/x",
        "s3://",
        "s3://bucket/../hunter2",
    ],
)
def test_refused_and_never_quoted(address: str) -> None:
    with pytest.raises(InputError) as caught:
        checked_address(address, "output")
    assert "hunter2" not in str(caught.value)


def test_one_form_of_one_place() -> None:
    assert checked_address(" S3://Bucket/x// ", "output") == "s3://Bucket/x"
    assert scratch_folder("made", "s3://a/x") != scratch_folder("made", "s3://a/y")


def test_scratch_goes_where_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFIXCACHE_SCRATCH", str(tmp_path))
    assert scratch_folder("made", "s3://a/x").is_relative_to(tmp_path)


def test_an_address_made_a_path_is_told() -> None:
    with pytest.raises(InputError, match="address that was made a path"):
        output_folder(Path("s3://bucket/x"))


def test_an_unknown_scheme_is_one_message() -> None:
    with pytest.raises(InputError, match="unknown"):
        RemoteFolder("nonsense://bucket/x")


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    def no_package(*_: object, **__: object) -> None:
        raise ImportError("no s3fs")

    monkeypatch.setattr(fsspec.core, "url_to_fs", no_package)
    with pytest.raises(InputError, match=r"prefixcache\[s3\]"):
        RemoteFolder("s3://bucket/x")
