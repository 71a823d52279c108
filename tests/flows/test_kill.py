"""kill -9 twenty times, then the same command again: the result of an undisturbed run, and no orphans.

Three kills find the command with a Prefect server of its own, which must not be left behind; seventeen share a server,
so that time goes into the stages. Twelve of these come at random within a phase. Five come at a point that the process
is held at: a file `sitecustomize.py` on its path stops it at a chosen rename or removal until it is killed, and what
lies on the disk proves that it was there. A kill that comes too late is not counted but made again.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
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
OWN_SERVER, AT_RANDOM, HELD = 3, 12, 5
assert OWN_SERVER + AT_RANDOM + HELD == 20
MOST_SECONDS = 400.0
"""Until so many kills have landed."""
HOLD = """
import os, time
KIND, _, NAME = os.environ.get("HOLD_AT", "").partition(" ")

def hold(kind, path):
    if kind == KIND and str(path).endswith(NAME):
        with open(os.environ["HELD"] + ".new", "w") as file:
            file.write(str(os.getpid()))
        os.rename(os.environ["HELD"] + ".new", os.environ["HELD"])
        time.sleep(600)

def replace(source, target, _replace=os.replace, **more):
    hold("before", target)
    _replace(source, target, **more)
    hold("after", target)

def unlink(path, _unlink=os.unlink, **more):
    hold("removing", path)
    _unlink(path, **more)

if KIND:
    os.replace, os.unlink = replace, unlink
"""


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


def killed(process: subprocess.Popen[bytes]) -> bool:
    """Kill it; whether it was still running."""
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def no_orphans(marker: str) -> None:
    gone = time.monotonic() + 15
    while children_of(marker) and time.monotonic() < gone:
        time.sleep(0.1)
    assert children_of(marker) == []


def complete(config: Path, root: Path, environment: dict[str, str], plain: dict[str, str]) -> None:
    """The same command to its end: the bytes of an undisturbed run, and nothing half-written."""
    done = subprocess.run(command(config, root), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert digest_of(root) == plain
    assert not list(root.rglob("*.tmp"))


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "killed.yaml"
    path.write_text(CONFIG)
    return path


@pytest.fixture(scope="module")
def plain(config: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Digests of an undisturbed run."""
    root = tmp_path_factory.mktemp("plain") / "out"
    ended = subprocess.run([*command(config, root), "--no-prefect"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return digest_of(root)


pytestmark.append(pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found through /proc"))


def test_killed_and_started_again(tmp_path: Path, config: Path, plain: dict[str, str]) -> None:
    marker = f"prefixcache-kill-test-{os.getpid()}"
    environment = {**os.environ, "PREFECT_HOME": str(tmp_path / "home"), "KILL_TEST": marker}
    environment.pop("PREFECT_API_URL", None)
    chance = random.Random(5)
    landed, began = 0, time.monotonic()
    while landed < OWN_SERVER:
        assert time.monotonic() - began < MOST_SECONDS
        process = subprocess.Popen(
            command(config, tmp_path / "out"), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        work = tmp_path / "out" / ".work"
        deadline = time.monotonic() + 120
        while not work.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(chance.uniform(0, 7))
        landed += killed(process)
        no_orphans(marker)
    complete(config, tmp_path / "out", environment, plain)


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


def test_seventeen_more_kills_in_all_phases(
    tmp_path: Path, server: dict[str, str], config: Path, plain: dict[str, str]
) -> None:
    """Before most of them something is damaged, so that there is work to be killed in."""
    root = tmp_path / "out"
    marker = f"prefixcache-kill-test-17-{os.getpid()}"
    environment = {**server, "KILL_TEST": marker}
    kill_at_random(config, root, environment, marker)
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(HOLD)
    path = os.pathsep.join([str(hook), *filter(None, [os.environ.get("PYTHONPATH")])])
    held = Held(config, root, {**environment, "PYTHONPATH": path}, marker)

    held.kill("before requests-00001.parquet")
    assert asides(root / "shards", "requests-00001.parquet")
    assert not (root / "shards" / "requests-00001.parquet").exists()
    complete(config, root, environment, plain)

    held.kill("removing pieces/requests-00001.data.jsonl")
    (half,) = asides(root, "data.jsonl")
    assert is_joining(root)
    assert not (root / "data.jsonl").exists()
    assert half.stat().st_size > 0
    complete(config, root, environment, plain)

    held.kill("before manifest.json")
    assert asides(root, "manifest.json")
    assert not (root / "manifest.json").exists()

    held.kill("after manifest.json", removing=())  # what the kill before left is whole again when this one comes
    assert digest_of(root) == plain

    told = held.kill("after requests-00001.parquet", worker_alone=True)
    error = told["error"]
    assert (told["exit_code"], error["type"], error["stage"]) == (3, "EnvironmentFailure", "build_shards")
    assert error["dataset_id"] == "killed"
    assert error["message"].startswith("a worker process was killed")
    assert "--workers" in error["remedy"]
    assert orjson.loads((root / "partial_manifest.json").read_bytes())["unfinished_stage"]["calls"] == len(SHARD_NAMES)
    assert not (root / "manifest.json").exists()
    complete(config, root, environment, plain)
    assert held.landed == HELD


def kill_at_random(config: Path, root: Path, environment: dict[str, str], marker: str) -> None:
    chance = random.Random(17)
    number, landed, began = 0, 0, time.monotonic()
    while landed < AT_RANDOM:
        assert time.monotonic() - began < MOST_SECONDS
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
            time.sleep(chance.uniform(2, 6))
        landed += killed(process)
        number += 1
        no_orphans(marker)
        assert not (root / "manifest.json").exists() or (root / "validation_report.json").exists()


TO_BE_MADE = ("shards/requests-00001.parquet", "data.jsonl", "manifest.json")


@dataclass
class Held:
    """Kills of a command that is held at a point; without one shard, the rows and the manifest it has to go there."""

    config: Path
    root: Path
    environment: dict[str, str]
    marker: str
    landed: int = 0

    def kill(self, point: str, *, worker_alone: bool = False, removing: tuple[str, ...] = TO_BE_MADE) -> Any:
        """Kill it there, or only the worker that is there; returns what the command then prints."""
        for name in removing:
            (self.root / name).unlink(missing_ok=True)
        mark = self.config.with_name(f"held-{self.landed}")
        environment = {**self.environment, "HOLD_AT": point, "HELD": str(mark)}
        process = subprocess.Popen(
            command(self.config, self.root), env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 120
        while not mark.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert mark.exists(), f"{point}: it was never there"
        if worker_alone:
            victim = int(mark.read_text())
            assert victim != process.pid
            os.kill(victim, signal.SIGKILL)
            said = orjson.loads(process.communicate(timeout=60)[0])
        else:
            assert killed(process)
            said = None
        self.landed += 1
        no_orphans(self.marker)
        return said


def asides(folder: Path, name: str) -> list[Path]:
    """Files that were to take the place of ``name``."""
    return list(folder.glob(f".{name}.*.tmp"))


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
