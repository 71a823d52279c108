"""kill -9 at random moments, then the same command again: the result of an undisturbed run, and no orphans."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
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
