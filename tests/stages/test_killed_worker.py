"""A worker process that is killed ends the build with one clear message; what is whole is kept and used again."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
from pathlib import Path

import pytest

from prefixcache.errors import EnvironmentFailure
from prefixcache.files import read_json
from prefixcache.help.messages import error_text
from prefixcache.pipeline import generate_prefix_cache_dataset
from prefixcache.stages import build_shards, made, pool
from prefixcache.stages.build_shards import BUILD_SHARDS
from prefixcache.stages.job import Job
from prefixcache.stages.made import MADE, note, noted
from prefixcache.stages.pool import end_with_parent, worker_pool
from prefixcache.stages.progress import Progress, observing
from prefixcache.stages.record import PARTIAL_MANIFEST
from prefixcache.stages.stage import InProcess
from tests.support.datasets import config_of, digest_of
from tests.support.datasets import made as generated

SHARD_TOKENS = 4_000
KILLED = "a worker process was killed, e.g. by the system for want of memory"


def small_shards_there(parent: int) -> None:
    build_shards.SHARD_TOKENS = SHARD_TOKENS
    end_with_parent(parent)


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", SHARD_TOKENS)
    monkeypatch.setattr(pool, "end_with_parent", small_shards_there)


def written(root: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (root / "shards").glob("*.parquet")}


def test_one_message_and_the_next_command_builds_only_what_is_missing(tmp_path: Path) -> None:
    root, config = tmp_path / "out", config_of(request_count=900)

    def kill_one(state: Progress) -> None:
        if state.stage == "build_shards" and state.done == 4:
            victim = multiprocessing.active_children()[0]
            assert victim.pid is not None
            os.kill(victim.pid, signal.SIGKILL)

    with observing(kill_one), pytest.raises(EnvironmentFailure) as caught:
        generate_prefix_cache_dataset(config, root, InProcess(2))
    error = caught.value
    found = re.fullmatch(
        rf"{KILLED}; build_shards: (\d+) of (\d+) shards are whole and kept; hash_blocks and what follows is missing",
        error.message,
    )
    assert found, error.message
    whole, total = int(found[1]), int(found[2])
    assert 4 <= whole < total
    assert (error.stage, error.dataset_id, error.exit_code) == ("build_shards", "small", 3)
    assert "--workers" in (error.remedy or "")
    chinese = error_text(error, "zh")
    for part in ("一个工作进程被终止", f"{total} 个分片中 {whole} 个完好", "缺少 hash_blocks", "请释放内存"):
        assert part in chinese
    partial = read_json(root / PARTIAL_MANIFEST)
    assert partial["error"]["dataset_id"] == "small"
    assert "--workers" in partial["error"]["remedy"]
    unfinished = partial["unfinished_stage"]
    assert (unfinished["stage"], unfinished["calls"], unfinished["whole"]) == ("build_shards", total, whole)
    assert partial["missing_stages"][0] == "hash_blocks"
    kept = {Path(file["path"]).name for file in unfinished["files"]} & set(written(root))
    assert len(kept) == whole
    # Two processes ended; each may have had a file without its note, and nothing else may be lost.
    assert len(written(root)) - whole <= 2
    before = written(root)
    generate_prefix_cache_dataset(config, root, InProcess(2))
    after = written(root)
    assert {name for name in before if before[name] == after[name]} >= kept
    assert len(after) == total
    generated(tmp_path / "plain", request_count=900)
    assert digest_of(root) == digest_of(tmp_path / "plain")


def test_a_call_of_the_pool_alone() -> None:
    with worker_pool(1, apart=True) as alone, pytest.raises(EnvironmentFailure, match="a worker process was killed"):
        alone.run(os._exit, 9)


def test_what_a_note_proves(tmp_path: Path) -> None:
    generated(tmp_path)
    config = config_of()
    job = Job.of(config)
    path = tmp_path / MADE / "build_shards-00000.json"
    artifact = made.Note.model_validate_json(path.read_bytes()).artifact
    inputs = ("00000", artifact)
    assert noted(BUILD_SHARDS, tmp_path, job, inputs) is None, "made of other inputs"
    note(BUILD_SHARDS, tmp_path, job, inputs, artifact)
    assert noted(BUILD_SHARDS, tmp_path, job, inputs) == artifact
    assert noted(BUILD_SHARDS, tmp_path, Job.of(config_of(seed=4)), inputs) is None
    shard = tmp_path / "shards" / "requests-00000.parquet"
    content = shard.read_bytes()
    shard.write_bytes(content[:-1])
    assert noted(BUILD_SHARDS, tmp_path, job, inputs) is None
    shard.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    assert noted(BUILD_SHARDS, tmp_path, job, inputs) is None
    shard.write_bytes(content)
    assert noted(BUILD_SHARDS, tmp_path, job, inputs) == artifact
    path.write_bytes(path.read_bytes()[:40])
    assert noted(BUILD_SHARDS, tmp_path, job, inputs) is None


def test_another_configuration_in_the_same_folder_takes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "out"
    generated(root, request_count=120)
    generated(root, request_count=120, seed=4)
    generated(tmp_path / "plain", request_count=120, seed=4)
    assert digest_of(root) == digest_of(tmp_path / "plain")
