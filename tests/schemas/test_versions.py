"""Older forms are read, newer ones are refused with what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.analysis.rundir import load_run
from prefixcache.dataset.contents import read_manifest
from prefixcache.errors import InputError
from prefixcache.files import read_json, write_json
from prefixcache.schemas.versions import VERSIONS, check_version
from tests.support.datasets import made


@pytest.mark.parametrize("kind", sorted(VERSIONS))
def test_known_versions_and_none_are_read(kind: str) -> None:
    assert check_version(kind, {}) == 1
    assert check_version(kind, {"schema_version": VERSIONS[kind]}) == VERSIONS[kind]


@pytest.mark.parametrize("kind", sorted(VERSIONS))
def test_newer_ones_tell_to_update(kind: str) -> None:
    with pytest.raises(InputError, match="this package reads 1") as caught:
        check_version(kind, {"schema_version": VERSIONS[kind] + 1})
    assert "update prefixcache" in str(caught.value)


@pytest.mark.parametrize("version", [0, -1, True, "1", 1.0, None])
def test_what_is_no_version_is_refused(version: Any) -> None:
    with pytest.raises(InputError, match="no whole number"):
        check_version("run", {"schema_version": version})


def test_readers_ask(tmp_path: Path) -> None:
    root = tmp_path / "dataset"
    made(root)
    (tmp_path / "runtime").mkdir()
    manifest = read_json(root / "manifest.json")
    write_json(root / "manifest.json", {k: v for k, v in manifest.items() if k != "schema_version"})
    assert read_manifest(root)["dataset_id"] == "small"
    assert load_run(tmp_path).manifest["dataset_id"] == "small"
    write_json(root / "manifest.json", {**manifest, "schema_version": VERSIONS["manifest"] + 1})
    with pytest.raises(InputError, match="update prefixcache"):
        read_manifest(root)
    with pytest.raises(InputError, match="update prefixcache"):
        load_run(tmp_path)
    write_json(root / "manifest.json", manifest)
    for kind in ("run", "prefix_cache_metrics", "performance_metrics"):
        path = tmp_path / "runtime" / f"{kind}.json"
        write_json(path, {"schema_version": 99})
        with pytest.raises(InputError, match=f"{kind}.json has schema_version 99"):
            load_run(tmp_path)
        path.unlink()
