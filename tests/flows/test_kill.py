"""kill -9 at random moments, then the same command again: the result of an undisturbed run, and no orphans.

Three kills find the command with a Prefect server of its own, which must not be left behind; seventeen share a server,
so that time goes into the stages: some wait until a file is about to be renamed, keys are written, or rows are joined.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.datasets import digest_of

pytestmark = [pytest.mark.prefect, pytest.mark.xdist_group("prefect")]

CONFIG = """
dataset_id: killed
seed: 11
request_count: 1500
block_size: 16
input_length: {mode: uniform, min: 500, max: 6000}
target: {hit_ratio: 0.6}
prefix: {group_count: 3}
execution: {mode: compare}
"""
KILLS = 3


def command(config: Path, output: Path) -> list[str]:
    main = "import sys; from flows.cli import main; sys.exit(main())"
    return [sys.executable, "-c", main, "generate", "-c", str(config), "-o", str(output), "--workers", "2", "--json"]


def children_of(marker: str) -> list[int]:
    """Processes that carry the marker in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if marker.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found through /proc")
def test_killed_and_started_again(tmp_path: Path) -> None:
    config = tmp_path / "killed.yaml"
    config.write_text(CONFIG)
    marker = f"prefixcache-kill-test-{os.getpid()}"
    environment = {**os.environ, "PREFECT_HOME": str(tmp_path / "home"), "KILL_TEST": marker}
    environment.pop("PREFECT_API_URL", None)
    chance = random.Random(5)
    killed = 0
    for _ in range(KILLS):
        process = subprocess.Popen(
            command(config, tmp_path / "out"), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        work = tmp_path / "out" / ".work"
        deadline = time.monotonic() + 120
        while not work.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(chance.uniform(0, 9))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
        gone = time.monotonic() + 15
        while children_of(marker) and time.monotonic() < gone:
            time.sleep(0.2)
        assert children_of(marker) == []
    assert killed >= 1
    done = subprocess.run(command(config, tmp_path / "out"), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    plain = subprocess.run(
        [*command(config, tmp_path / "plain"), "--no-prefect"], env=environment, capture_output=True, text=True
    )
    assert plain.returncode == 0, plain.stderr
    assert digest_of(tmp_path / "out") == digest_of(tmp_path / "plain")
    assert not list((tmp_path / "out").rglob("*.tmp"))


SEVENTEEN = 17
SHARD_NAMES = ("requests-00000.parquet", "requests-00001.parquet", "requests-00002.parquet", "warmup.parquet")


def is_renaming(root: Path) -> bool:
    return any(root.rglob("*.tmp"))


def is_hashing(root: Path) -> bool:
    return (root / ".work" / "keys").is_dir() and any((root / ".work" / "keys").iterdir())


def is_joining(root: Path) -> bool:
    return (root / ".work" / "pieces").is_dir()


def always(root: Path) -> bool:
    return root.is_dir()


MOMENTS = (always, is_renaming, is_hashing, is_joining)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment whose Prefect server outlives the kills."""
    from flows.local_server import LocalServer

    environment = {**os.environ, "PREFECT_HOME": str(tmp_path / "home")}
    environment.pop("PREFECT_API_URL", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_HOME", environment["PREFECT_HOME"])
        patch.delenv("PREFECT_API_URL", raising=False)
        local = LocalServer()
    local.wait()
    yield {**environment, "PREFECT_API_URL": local.api_url}
    local.stop()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found through /proc")
def test_seventeen_more_kills_in_all_phases(tmp_path: Path, server: dict[str, str]) -> None:
    """Before most of them something is damaged, so that there is work to be killed in."""
    config, root = tmp_path / "killed.yaml", tmp_path / "out"
    config.write_text(CONFIG)
    marker = f"prefixcache-kill-test-17-{os.getpid()}"
    environment = {**server, "KILL_TEST": marker}
    chance = random.Random(17)
    killed = 0
    for number in range(SEVENTEEN):
        for name in chance.sample(SHARD_NAMES, 2):
            if (shard := root / "shards" / name).is_file():
                damage(shard, chance)
        (root / "data.jsonl").unlink(missing_ok=True)
        process = subprocess.Popen(
            command(config, root), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if number and number % 4 == 3:
            shutil.rmtree(root / ".work" / "keys", ignore_errors=True)
        moment = MOMENTS[number % len(MOMENTS)]
        deadline = time.monotonic() + 60
        while not moment(root) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        if moment is always:
            time.sleep(chance.uniform(2, 9))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
        gone = time.monotonic() + 15
        while children_of(marker) and time.monotonic() < gone:
            time.sleep(0.1)
        assert children_of(marker) == []
        assert not (root / "manifest.json").exists() or (root / "validation_report.json").exists()
    assert killed >= SEVENTEEN * 2 // 3
    done = subprocess.run(command(config, root), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    plain = subprocess.run(
        [*command(config, tmp_path / "plain"), "--no-prefect"], env=environment, capture_output=True, text=True
    )
    assert plain.returncode == 0, plain.stderr
    assert digest_of(root) == digest_of(tmp_path / "plain")
    assert not list(root.rglob("*.tmp"))


def damage(path: Path, chance: random.Random) -> None:
    """Half of a file, other bytes in it, or none of it."""
    kind = chance.randrange(3)
    data = path.read_bytes()
    if kind == 0:
        path.write_bytes(data[: len(data) // 2])
    elif kind == 1:
        path.write_bytes(data[:100] + bytes(byte ^ 255 for byte in data[100:108]) + data[108:])
    else:
        path.unlink()
