"""The folder of a test run's Prefect records: gone at every end, swept where the end could not be caught."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.prefect_home import OWNER, PREFIX, sweep

ROOT = Path(__file__).parents[2]
OWN = """
import sys, time
from pathlib import Path
from tests.support.prefect_home import throw_away_home
print(throw_away_home(Path(sys.argv[1])), flush=True)
if sys.argv[2] == "wait":
    time.sleep(60)
"""


def left_by(parent: Path, number: int | None) -> list[str]:
    """Folders that a process leaves which ends by itself, or by a signal."""
    how = "end" if number is None else "wait"
    with subprocess.Popen(
        [sys.executable, "-c", OWN, str(parent), how], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        if number is not None:
            assert folder.is_dir()
            process.send_signal(number)
    return [path.name for path in parent.glob(f"{PREFIX}*")]


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGINT])
def test_removed_at_the_end(number: int | None, tmp_path: Path) -> None:
    assert left_by(tmp_path, number) == []


def test_swept_after_kill_9(tmp_path: Path) -> None:
    assert len(left_by(tmp_path, signal.SIGKILL)) == 1
    mine = tmp_path / f"{PREFIX}mine"
    mine.mkdir()
    (mine / OWNER).write_text(str(os.getpid()))
    stranger = tmp_path / f"{PREFIX}stranger"
    stranger.mkdir()
    sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {mine.name, stranger.name}


def test_the_process_that_made_it_leaves_none_with_a_server_in_it(tmp_path: Path) -> None:
    """The server is stopped before its folder is removed."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    environment.pop("PREFECT_HOME")
    environment.pop("PREFECT_API_URL", None)
    command = "import tests.conftest, flows.local_server as s; s.ready_prefect()"
    done = subprocess.run([sys.executable, "-c", command], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob(f"{PREFIX}*")) == []
