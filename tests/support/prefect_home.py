"""A throw-away folder for Prefect's records of one test run, gone when the run ends, and swept when it could not."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
import threading
from pathlib import Path

PREFIX = "prefixcache-prefect-"
OWNER = "owner.pid"


def throw_away_home(parent: Path | None = None) -> Path:
    """A new folder that this process owns; it is removed at exit, on SIGTERM too."""
    parent = parent or Path(tempfile.gettempdir())
    sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    (folder / OWNER).write_text(str(os.getpid()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    untouched = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if untouched and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    return folder


def sweep(parent: Path) -> None:
    """Remove folders whose owner is dead: of runs that ended by kill -9."""
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            owner = int((folder / OWNER).read_text())
        except (OSError, ValueError):
            continue  # just made, or not ours
        if not _alive(owner):
            shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
