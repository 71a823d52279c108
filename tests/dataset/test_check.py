"""validate finds every kind of damage, names it, and does not trust the manifest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prefixcache.dataset.check import check_dataset
from prefixcache.dataset.manifest import dataset_digest, order_digest
from prefixcache.errors import InputError
from prefixcache.files import sha256_file
from tests.support.datasets import made


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    made(folder, execution={"mode": "compare"}, prefix={"group_count": 2})
    return folder


@pytest.fixture
def dataset(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "copy"))


def edit_rows(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows))


def reseal(folder: Path) -> None:
    """Make the manifest claim that the changed files are the right ones."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for name, entry in manifest["files"].items():
        entry |= {"sha256": sha256_file(folder / name), "bytes": (folder / name).stat().st_size}
    manifest["dataset_digest"] = dataset_digest(manifest["files"])
    rows = [json.loads(line) for line in (folder / "request_metadata.jsonl").read_text().splitlines()]
    manifest["order_digest"] = order_digest(row["request_id"] for row in rows)
    path.write_text(json.dumps(manifest))


def failed(folder: Path) -> set[str]:
    result = check_dataset(folder)
    assert result["intact"] is (not any(not check["ok"] for check in result["checks"]))
    if not result["intact"]:
        assert result["validation_status"] == "FAIL"
    return {check["name"] for check in result["checks"] if not check["ok"]}


def test_a_good_dataset_is_intact(dataset: Path) -> None:
    assert failed(dataset) == set()
    result = check_dataset(dataset)
    assert result["validation_status"] == "PASS"
    assert [row["name"] for row in result["passes"]] == ["cold", "hot"]


def test_one_changed_byte(dataset: Path) -> None:
    path = dataset / "data.jsonl"
    data = bytearray(path.read_bytes())
    at = data.index(b"the ")
    data[at] ^= 1
    path.write_bytes(data)
    assert {"digests", "shards", "seams"} <= failed(dataset)


@pytest.mark.parametrize(
    "name", ["data.jsonl", "request_metadata.jsonl", "warmup.jsonl", "shards/requests-00000.parquet"]
)
def test_missing_and_cut_files(dataset: Path, name: str) -> None:
    path = dataset / name
    whole = path.read_bytes()
    path.unlink()
    assert "digests" in failed(dataset)
    path.write_bytes(whole[: len(whole) // 2])
    assert "digests" in failed(dataset)
    path.write_bytes(b"")
    assert "digests" in failed(dataset)


def test_token_ids_that_break_a_prefix(dataset: Path) -> None:
    """A changed id inside a shared prefix, resealed: only the certificate and the re-encoding can know."""

    def change(rows: list[dict[str, Any]]) -> None:
        rows[20]["prompt_token_ids"][0] += 1

    edit_rows(dataset / "data.jsonl", change)
    reseal(dataset)
    assert {"certificate", "seams"} <= failed(dataset)


def test_swapped_order(dataset: Path) -> None:
    def swap(rows: list[dict[str, Any]]) -> None:
        rows[3], rows[11] = rows[11], rows[3]

    for name in ("data.jsonl", "request_metadata.jsonl"):
        edit_rows(dataset / name, swap)
    reseal(dataset)
    assert "order" in failed(dataset)


def test_embellished_hits(dataset: Path) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[5]["expected_hit_len"] += 16

    edit_rows(dataset / "request_metadata.jsonl", change)
    reseal(dataset)
    assert "watermarks" in failed(dataset)


def test_embellished_manifest(dataset: Path) -> None:
    path = dataset / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["theoretical_result"]["expected_hit_tokens"] += 160
    path.write_text(json.dumps(manifest))
    assert failed(dataset) == {"verdict", "claims", "seal"}
    manifest["target"]["hit_ratio"] = 0.9
    path.write_text(json.dumps(manifest))
    assert check_dataset(dataset)["validation_status"] == "FAIL"


def test_a_dropped_request(dataset: Path) -> None:
    edit_rows(dataset / "data.jsonl", lambda rows: rows.pop())
    reseal(dataset)
    assert "readable" in failed(dataset)
    edit_rows(dataset / "request_metadata.jsonl", lambda rows: rows.pop())
    reseal(dataset)
    assert {"counts", "shards"} <= failed(dataset)


@pytest.mark.parametrize("content", [None, "", "{", "[]", "{}", '{"files": 3}'])
def test_no_dataset(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(InputError) as caught:
        check_dataset(tmp_path)
    assert caught.value.remedy


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("")
    with pytest.raises(InputError, match="not a folder"):
        check_dataset(path)


EDITS: list[tuple[str, ...]] = [
    ("theoretical_result", "designed_hit_ratio"),
    ("theoretical_result", "signed_deviation"),
    ("theoretical_result", "absolute_deviation"),
    ("theoretical_result", "max_reachable_hit_ratio"),
    ("theoretical_result", "target_hit_ratio"),
    ("groups", "expected_hit_tokens"),
    ("groups", "input_tokens"),
    ("passes", "expected_hit_tokens"),
    ("domains", "expected_hit_tokens"),
    ("certificate", "holds"),
    ("hit_unit",),
    ("block_size",),
    ("output_tokens",),
    ("seed",),
]


@pytest.mark.parametrize("place", EDITS, ids=".".join)
def test_every_figure_of_the_manifest_is_checked(dataset: Path, place: tuple[str, ...]) -> None:
    path = dataset / "manifest.json"
    manifest = json.loads(path.read_text())
    block = manifest
    for key in place[:-1]:
        block = block[key][0] if isinstance(block[key], list) else block[key]
    value = block[place[-1]]
    block[place[-1]] = (not value) if isinstance(value, bool) else value * 2 + 1
    path.write_text(json.dumps(manifest))
    assert failed(dataset)


@pytest.mark.parametrize("name", ["expected_hit_tokens", "designed_hit_ratio", "input_tokens"])
def test_every_figure_of_the_report_is_checked(dataset: Path, name: str) -> None:
    path = dataset / "validation_report.json"
    report = json.loads(path.read_text())
    report[name] = report[name] / 2 if isinstance(report[name], float) else report[name] * 2 + 1
    path.write_text(json.dumps(report))
    reseal(dataset)
    assert "claims" in failed(dataset)


def test_another_number_of_output_tokens_is_seen(dataset: Path) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[2]["max_tokens"] = 99

    edit_rows(dataset / "data.jsonl", change)
    reseal(dataset)
    assert "lengths" in failed(dataset)


@pytest.mark.parametrize("value", [None, "abc", 1.5, True])
def test_metadata_without_its_numbers_is_a_finding(dataset: Path, value: Any) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[4]["planned_prefix_len"] = value

    edit_rows(dataset / "request_metadata.jsonl", change)
    reseal(dataset)
    assert "readable" in failed(dataset)
