"""What a generation may replace in its output folder: its own files, once the new ones can be built; nothing else."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prefixcache.api.execution import _copy
from prefixcache.dataset.check import check_dataset
from prefixcache.errors import EnvironmentFailure, InputError, VerdictError
from prefixcache.files import read_json
from prefixcache.pipeline import generate_prefix_cache_dataset
from prefixcache.stages import build_shards
from prefixcache.stages.workspace import REFUSED
from tests.support.datasets import config_of, digest_of, made

NOTES = ("notes.txt", "shards/mine.parquet", "shards/notes.txt", ".work/mine.txt")


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    """A whole dataset with a user's own files in it."""
    made(tmp_path, request_count=8, execution={"mode": "compare"})
    for name in NOTES:
        (tmp_path / name).write_text("mine")
    return tmp_path


def notes_stand(folder: Path) -> bool:
    return all((folder / name).read_text() == "mine" for name in NOTES)


@pytest.mark.parametrize("output", ["", "  "])
def test_an_empty_name_is_no_folder(output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        generate_prefix_cache_dataset(config_of(), output)
    assert (caught.value.field, bool(caught.value.remedy)) == ("output", True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("below", ["", "/deeper"])
def test_a_file_is_no_folder(below: str, tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("mine")
    with pytest.raises(InputError, match=r"data\.txt is a file") as caught:
        generate_prefix_cache_dataset(config_of(), f"{tmp_path}/data.txt{below}")
    assert caught.value.field == "output"
    assert (tmp_path / "data.txt").read_text() == "mine"


def test_a_refused_target_leaves_an_earlier_dataset_whole(annotated: Path) -> None:
    before = digest_of(annotated)
    with pytest.raises(VerdictError, match="at most"):
        made(annotated, target={"hit_ratio": 0.99})
    after = digest_of(annotated)
    assert after.pop(REFUSED)
    assert after == before
    assert read_json(annotated / REFUSED)["validation_status"] == "FAIL"
    assert check_dataset(annotated)["intact"]
    assert notes_stand(annotated)
    made(annotated, request_count=8)
    assert not (annotated / REFUSED).exists()


def failing_source(folder: Path) -> dict[str, Any]:
    path = folder / "few.jsonl"
    path.write_text('{"question": "How many?", "answer": "2."}\n')
    return {"suffix": {"source": "gsm8k", "path": str(path)}}


def test_a_source_too_small_leaves_an_earlier_dataset_whole(
    annotated: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.raises(EnvironmentFailure):
        made(annotated, **failing_source(tmp_path_factory.mktemp("source")))
    assert check_dataset(annotated)["intact"]
    assert notes_stand(annotated)


def test_own_files_survive_another_dataset(annotated: Path) -> None:
    made(annotated, request_count=5)
    assert not (annotated / "warmup.jsonl").exists()
    assert not (annotated / "shards/warmup.parquet").exists()
    assert check_dataset(annotated)["intact"]
    assert notes_stand(annotated)


def test_own_files_survive_the_apis_copy(annotated: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    made(other, request_count=5)
    _copy(other, annotated)
    assert not (annotated / "warmup.jsonl").exists()
    assert check_dataset(annotated)["intact"]
    assert notes_stand(annotated)


def test_a_manifest_cannot_name_files_elsewhere(annotated: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    victim = tmp_path_factory.mktemp("elsewhere") / "data.jsonl"
    victim.write_text("mine")
    manifest = json.loads((annotated / "manifest.json").read_text())
    manifest["files"] |= {str(victim): {}, f"../{victim.parent.name}/data.jsonl": {}, "notes.txt": {}}
    (annotated / "manifest.json").write_text(json.dumps(manifest))
    made(annotated, request_count=5)
    assert victim.read_text() == "mine"
    assert notes_stand(annotated)


def test_a_build_broken_off_is_known_to_the_next(annotated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its shards are ours although no manifest ever listed them."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("no")

    with monkeypatch.context() as patch:
        patch.setattr(build_shards, "SHARD_TOKENS", 2_000)
        patch.setattr("prefixcache.stages.simulate.certify", broken)
        with pytest.raises(ZeroDivisionError):
            made(annotated, seed=99)
        assert not (annotated / "manifest.json").exists()
        assert len(list((annotated / "shards").glob("requests-*.parquet"))) > 1
    made(annotated, request_count=5)
    assert [path.name for path in (annotated / "shards").glob("requests-*.parquet")] == ["requests-00000.parquet"]
    assert not (annotated / "warmup.jsonl").exists()
    assert notes_stand(annotated)


LIMITED = """
import resource, sys
from pathlib import Path
from tests.support.datasets import made
from prefixcache.errors import EnvironmentFailure
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    made(Path(sys.argv[1]), request_count=60)
except EnvironmentFailure as error:
    print(error)
    raise SystemExit(3)
"""


@pytest.mark.parametrize(
    ("most", "file", "stage", "cause"),
    [
        (1_000, ".work/lengths.parquet", "plan_lengths", "File too large"),
        (100_000, ".work/corpus/0/ids.npy", "tokenize_sources", "written in full"),
    ],
)
def test_a_full_disk_names_file_stage_and_cause(most: int, file: str, stage: str, cause: str, tmp_path: Path) -> None:
    """A limit on the size of files refuses a write as a full disk does."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "out"), str(most)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 3, ended.stderr
    for part in (file, f"stage {stage}", cause, "Remedy:", "dataset_id small"):
        assert part in ended.stdout
    assert str(tmp_path) not in ended.stdout
    made(tmp_path / "out", request_count=60)
    assert check_dataset(tmp_path / "out")["intact"]


@pytest.mark.parametrize("ratio", [0.02, 0.9])
def test_a_source_too_small_is_told_before_any_shard(ratio: float, tmp_path: Path) -> None:
    """Enough for the masters or not: available and needed tokens are known before anything is built."""
    path = tmp_path / "few.jsonl"
    path.write_text("".join(f'{{"question": "How many pens are {i}?", "answer": "{i} pens."}}\n' for i in range(12)))
    told = r"GSM8K数据不足.* has \d+ tokens, too few for a stretch of \d+"
    with pytest.raises(EnvironmentFailure, match=told) as caught:
        made(
            tmp_path / "out",
            suffix={"source": "gsm8k", "path": str(path)},
            input_length=2_000,
            target={"hit_ratio": ratio},
        )
    assert (caught.value.stage, caught.value.exit_code) == ("build_masters", 3)
    assert not list((tmp_path / "out").glob("shards/*"))
