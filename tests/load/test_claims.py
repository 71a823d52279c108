"""What a run refuses to believe of a dataset whose manifest was edited and sealed anew, or has no seal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prefixcache.dataset.manifest import manifest_digest
from prefixcache.errors import InputError
from prefixcache.load.dataset import load_dataset
from tests.load.handmade import Wish, make_dataset, sign
from tests.support.datasets import made


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made(folder := tmp_path_factory.mktemp("claims") / "set")
    return folder


@pytest.fixture
def copy(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "copy"))


def edit(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    if "manifest_digest" in manifest:
        manifest["manifest_digest"] = manifest_digest(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def unsealed(manifest: dict[str, Any]) -> None:
    manifest["schema_version"] = 1
    del manifest["manifest_digest"]


def test_a_manifest_of_the_first_version_is_held_to_its_report(copy: Path) -> None:
    edit(copy, unsealed)
    load_dataset(copy).close()  # the older form itself is fine

    def other_target(manifest: dict[str, Any]) -> None:
        manifest["target"]["hit_ratio"] = 0.7
        manifest["theoretical_result"]["target_hit_ratio"] = 0.7
        manifest["config"]["target"]["hit_ratio"] = 0.7

    edit(copy, other_target)
    with pytest.raises(InputError, match=r"hit_ratio is 0\.7, it should be 0\.5"):
        load_dataset(copy)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", 4),
        ("request_count", -1),
        ("block_size", "16"),
        ("block_size", 0),
        ("hit_unit", 8),
        ("passes", []),
        ("groups", None),
        ("dataset_id", "../../x"),
        ("extra", "x"),
        ("execution", [1]),
        ("execution_mode", ["cold"]),
        ("schema_version", "2"),
        ("schema_version", None),
        ("input_tokens", 1),
    ],
)
def test_a_manifest_sealed_anew_with_what_cannot_be(copy: Path, name: str, value: Any) -> None:
    edit(copy, lambda manifest: manifest.update({name: value}))
    with pytest.raises(InputError) as caught:
        load_dataset(copy)
    assert name in str(caught.value) or name == "execution_mode"
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("content", [b"[]\n", b"5\n", bytes(range(256)) * 9, b"[" * 100_000, b'{"request_id": "r'])
@pytest.mark.parametrize("name", ["request_metadata.jsonl", "warmup.jsonl", "data.jsonl"])
@pytest.mark.parametrize("signed", [False, True])
def test_files_that_are_no_rows(tmp_path: Path, name: str, content: bytes, signed: bool) -> None:
    folder = make_dataset(tmp_path / "set", [Wish("a", 16), Wish("a", 32)], mode="hot")
    (folder / name).write_bytes(content)
    if signed:
        sign(folder)
    with pytest.raises(InputError, match="no requests|of the plan" if signed else "was changed after"):
        load_dataset(folder)


def test_totals_are_those_of_the_rows(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "set", [Wish("a", 16), Wish("a", 32)])
    path = folder / "request_metadata.jsonl"
    path.write_text(path.read_text().replace('"expected_hit_len":16', '"expected_hit_len":0'))
    with pytest.raises(InputError, match=r"expected_hit_tokens of pass cold is 16, it should be 0"):
        load_dataset(sign(folder))
