"""Datasets behind an address: the same bytes, whole or not at all, and what is checked is what the store holds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from prefixcache.artifact import Artifact
from prefixcache.dataset.check import check_dataset
from prefixcache.errors import EnvironmentFailure, InputError, VerdictError
from prefixcache.files import read_json
from prefixcache.pipeline import generate_prefix_cache_dataset
from prefixcache.stages.away import run_away
from prefixcache.stages.fetch import fetched_dataset
from prefixcache.stages.job import Job
from prefixcache.stages.probe_tokenizer import PROBE_TOKENIZER
from prefixcache.stages.store import Store
from prefixcache.storage.folder import RemoteFolder
from prefixcache.version import GENERATOR_VERSION
from tests.support.datasets import config_of, digest_of, made
from tests.support.s3_server import BUCKET, s3_server


@pytest.fixture(params=["file", "s3"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An address, and the folder on disk that its files are kept in."""
    monkeypatch.setenv("PREFIXCACHE_SCRATCH", str(tmp_path / "scratch"))
    if request.param == "file":
        yield f"file://{tmp_path}/remote/data", tmp_path / "remote" / "data"
        return
    with s3_server(tmp_path / "objects", monkeypatch) as bucket:
        yield f"s3://{BUCKET}/data", bucket / "data"


@pytest.fixture
def s3_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PREFIXCACHE_SCRATCH", str(tmp_path / "scratch"))
    with s3_server(tmp_path / "objects", monkeypatch) as bucket:
        yield f"s3://{BUCKET}/data", bucket / "data"


def stored(address: str, **changes: Any) -> Any:
    return generate_prefix_cache_dataset(config_of(**changes), address)


def test_the_same_bytes_as_in_a_folder(home: tuple[str, Path], tmp_path: Path) -> None:
    address, folder = home
    assert stored(address).address == address
    made(tmp_path / "plain")
    assert digest_of(folder) == digest_of(tmp_path / "plain")
    assert not (folder / ".work").exists(), "what machines hand to each other is gone"
    fetched = fetched_dataset(address)
    assert check_dataset(fetched)["intact"]
    text = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"secret-of-the-test" not in text
    assert address.encode() not in text


def test_again_with_nothing_changed_stores_nothing_again(home: tuple[str, Path]) -> None:
    address, folder = home
    stored(address)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    stored(address)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()} == before


def test_another_dataset_takes_the_place_of_the_first(s3_home: tuple[str, Path], tmp_path: Path) -> None:
    address, folder = s3_home
    stored(address, execution={"mode": "compare"})
    assert (folder / "warmup.jsonl").is_file()
    stored(address, seed=9)
    made(tmp_path / "plain", seed=9)
    assert digest_of(folder) == digest_of(tmp_path / "plain")


def test_an_upload_that_breaks_leaves_nothing_that_looks_whole(
    s3_home: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address, folder = s3_home
    stored(address)
    whole = RemoteFolder.put

    def breaks(self: RemoteFolder, path: Path, name: str) -> None:
        if name == "request_metadata.jsonl":
            raise EnvironmentFailure("the line is cut")
        whole(self, path, name)

    monkeypatch.setattr(RemoteFolder, "put", breaks)
    with pytest.raises(EnvironmentFailure, match="the line is cut"):
        stored(address, seed=9)
    assert not (folder / "manifest.json").exists()
    with pytest.raises(InputError, match="holds no dataset"):
        fetched_dataset(address)
    monkeypatch.setattr(RemoteFolder, "put", whole)
    stored(address, seed=9)
    made(tmp_path / "plain", seed=9)
    assert digest_of(folder) == digest_of(tmp_path / "plain")


def test_a_damaged_object_is_found_and_fetched_again_when_mended(home: tuple[str, Path]) -> None:
    address, folder = home
    stored(address)
    assert check_dataset(fetched_dataset(address))["intact"]
    content = (folder / "data.jsonl").read_bytes()
    (folder / "data.jsonl").write_bytes(content[:-9] + b"X" + content[-8:])
    assert not check_dataset(fetched_dataset(address))["intact"]
    (folder / "data.jsonl").unlink()
    assert not check_dataset(fetched_dataset(address))["intact"]
    (folder / "data.jsonl").write_bytes(content)
    assert check_dataset(fetched_dataset(address))["intact"]


def test_files_of_others_are_refused(s3_home: tuple[str, Path]) -> None:
    address, folder = s3_home
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match=r"thesis\.txt"):
        stored(address)
    assert (folder / "thesis.txt").read_text() == "mine"


def test_a_good_dataset_outlives_a_target_that_cannot_be_reached(s3_home: tuple[str, Path]) -> None:
    address, folder = s3_home
    stored(address)
    before = digest_of(folder)
    with pytest.raises(VerdictError):
        stored(address, target={"hit_ratio": 0.99})
    after = digest_of(folder)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"refused_validation_report.json"}


def test_a_bucket_that_is_not_there_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFIXCACHE_SCRATCH", str(tmp_path / "scratch"))
    with s3_server(tmp_path / "objects", monkeypatch):
        with pytest.raises(EnvironmentFailure, match="s3://nowhere/x") as caught:
            stored("s3://nowhere/x")
        assert "secret-of-the-test" not in str(caught.value)


def test_a_manifest_that_lists_foreign_names_is_refused(s3_home: tuple[str, Path], tmp_path: Path) -> None:
    address, folder = s3_home
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text('{"generator": "prefixcache", "files": {"../../evil": {}}}')
    with pytest.raises(InputError, match="none of this tool"):
        fetched_dataset(address)


def test_artifacts_travel_by_digest(home: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two machines: another scratch folder each."""
    address, folder = home
    job = Job.of(config_of())
    here = Store(address)
    here.root.mkdir(parents=True)
    (here.root / "a.txt").write_text("content")
    (here.root / "b.txt").write_text("content")
    artifact = Artifact.of("lengths", here.root, ["a.txt", "b.txt"], 1)
    here.push([artifact])
    assert len(list((folder / ".work" / "blobs").iterdir())) == 1
    monkeypatch.setenv("PREFIXCACHE_SCRATCH", str(tmp_path / "elsewhere"))
    there = Store(address)
    assert there.root != here.root
    there.fetch([artifact])
    assert artifact.intact(there.root)
    (there.root / "a.txt").write_text("CONTENT")
    there.fetch([artifact])
    assert (there.root / "a.txt").read_text() == "content"
    blob = next((folder / ".work" / "blobs").iterdir())
    blob.write_text("damaged")
    (there.root / "a.txt").unlink()
    with pytest.raises(EnvironmentFailure, match="came damaged"):
        there.fetch([artifact])
    made_there = run_away("probe_tokenizer", PROBE_TOKENIZER.version, GENERATOR_VERSION, address, Path("/no"), job)
    here.fetch([made_there])
    assert made_there.intact(here.root)


def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    job = Job.of(config_of())
    with pytest.raises(EnvironmentFailure, match="another version"):
        run_away("probe_tokenizer", PROBE_TOKENIZER.version, "0.0", None, tmp_path, job)


def test_a_worker_that_does_not_see_the_folder_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefixcache.stages.away.VISIBLE_SECONDS", 0.2)
    job = Job.of(config_of())
    (tmp_path / "x.json").write_text("{}")
    artifact = Artifact.of("frame", tmp_path, ["x.json"], 1)
    with pytest.raises(EnvironmentFailure, match="does not see"):
        run_away("plan_lengths", 3, GENERATOR_VERSION, None, tmp_path / "no", job, artifact)


SLOW_UPLOAD = """
import sys, time
from prefixcache.storage.folder import RemoteFolder
whole = RemoteFolder.put
def slow(self, path, name):
    whole(self, path, name)
    print("stored", name, flush=True)
    time.sleep(30)
RemoteFolder.put = slow
from prefixcache.pipeline import generate_prefix_cache_dataset
from tests.support.datasets import config_of
generate_prefix_cache_dataset(config_of(seed=9), sys.argv[1])
"""


def test_killed_while_uploading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """kill -9 after the first object: no manifest; the same command again ends with the bytes of an undisturbed one."""
    monkeypatch.setenv("PREFIXCACHE_SCRATCH", str(tmp_path / "scratch"))
    with s3_server(tmp_path / "objects", monkeypatch) as bucket:
        address, folder = f"s3://{BUCKET}/data", bucket / "data"
        stored(address)
        assert (folder / "manifest.json").is_file()
        process = subprocess.Popen(
            [sys.executable, "-c", SLOW_UPLOAD, address], stdout=subprocess.PIPE, env={**os.environ}, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline().startswith("stored ")
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.2)
        assert not (folder / "manifest.json").exists()
        stored(address, seed=9)
        made(tmp_path / "plain", seed=9)
        assert digest_of(folder) == digest_of(tmp_path / "plain")
        assert read_json(folder / "manifest.json")["generator"] == "prefixcache"
