"""A disk that is full in the middle of the shards: what is whole is said, kept, and used by the next command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from prefixcache.help.chinese.text import chinese_of

# A small file system of the child's own mount namespace: gone with the child, however it ends. When three shards are
# there, another file takes all of it but three pages.
CHILD = """
import json, subprocess, sys
from pathlib import Path
disk = Path(sys.argv[1])
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(disk)]).returncode:
    raise SystemExit(77)
from prefixcache.dataset.check import check_dataset
from prefixcache.errors import EnvironmentFailure
from prefixcache.stages import build_shards
from prefixcache.stages.progress import observing
from tests.support.datasets import digest_of, made

build_shards.SHARD_TOKENS = 16_000
root, filler = disk / "out", disk / "filler"
changes = {"dataset_id": "full", "request_count": 800}

def fill(state):
    if (state.stage, state.done) == ("build_shards", 3) and not filler.exists():
        with open(filler, "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)) == 4096:
                    pass
            except OSError:
                pass
            file.truncate(filler.stat().st_size - 12_288)

try:
    with observing(fill):
        made(root, **changes)
    raise SystemExit("not full")
except EnvironmentFailure as failed:
    error = failed
written = {path.name: path.stat().st_mtime_ns for path in (root / "shards").iterdir()}
partial = json.loads((root / "partial_manifest.json").read_text())
filler.unlink()
made(root, **changes)
after = {path.name: path.stat().st_mtime_ns for path in (root / "shards").iterdir()}
made(disk / "plain", **changes)
print(json.dumps({
    "message": error.message, "text": str(error), "partial": partial, "shards": len(after),
    "kept": sorted(name for name in written if after[name] == written[name]),
    "intact": check_dataset(root)["intact"], "equal": digest_of(root) == digest_of(disk / "plain"),
}))
"""


def test_what_is_whole_and_what_is_missing_is_said(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    try:
        ended = subprocess.run(
            [*own, sys.executable, "-c", CHILD, str(disk)], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("no `unshare` here")
    if ended.returncode == 77 or "unshare failed" in ended.stderr:
        pytest.skip("no file system may be mounted here")
    assert ended.returncode == 0, ended.stderr
    told = orjson.loads(ended.stdout)
    total = told["shards"]
    assert total > 5
    whole = f"build_shards: 3 of {total} shards are whole and kept"
    assert told["message"] == (
        f"shards/requests-00003.parquet: No space left on device; {whole}; hash_blocks and what follows is missing"
    )
    for part in ("stage build_shards", "dataset_id full", "free space on the disk", "partial_manifest.json"):
        assert part in told["text"]
    assert str(tmp_path) not in told["text"]
    assert f"{total} 个分片中 3 个完好并已保留；缺少 hash_blocks 及其后的阶段" in chinese_of(told["message"])
    assert "磁盘空间已满" in chinese_of(told["message"])
    partial = told["partial"]
    assert [(row["stage"], row["calls"]) for row in partial["finished_stages"]] == [
        (name, 1) for name in ("probe_tokenizer", "plan_lengths", "plan_prefixes", "tokenize_sources", "build_masters")
    ]
    unfinished = partial["unfinished_stage"]
    assert (unfinished["stage"], unfinished["calls"], unfinished["whole"]) == ("build_shards", total, 3)
    assert {file["path"] for file in unfinished["files"]} >= {f"shards/requests-0000{n}.parquet" for n in range(3)}
    assert partial["missing_stages"] == ["hash_blocks", "check_collisions", "simulate", "validate", "publish"]
    assert told["kept"] == [f"requests-0000{number}.parquet" for number in range(3)]
    assert told["intact"]
    assert told["equal"]
