"""Runs a server's command and ends it, with all of its processes, when told to or when the parent is gone.

usage: keeper.py PARENT_PID COMMAND...

A server of several processes outlives a killed test run unless somebody watches. The command gets a session of its own,
so that its process group is all of it; SIGTERM here ends the group.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

GRACE_S = 20.0
"""From SIGTERM to SIGKILL: an engine removes its shared memory meanwhile."""
LOOK_S = 0.25


def main() -> int:
    parent, command = int(sys.argv[1]), sys.argv[2:]
    told: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: told.append(number))
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    while child.poll() is None and not told and os.getppid() == parent:
        time.sleep(LOOK_S)
    _signal_all(child.pid, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while _signal_all(child.pid, 0) and time.monotonic() < deadline:
        child.poll()
        time.sleep(LOOK_S)
    _signal_all(child.pid, signal.SIGKILL)
    return child.wait()


def _signal_all(group: int, number: int) -> bool:
    """Whether anybody of the group was there to get it."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
