"""One run in a process of its own: its seconds, what it went over, and the peak RSS of the largest process.

The parent imports nothing heavy: a child's recorded peak would begin at its parent's.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KIB = 1 if sys.platform != "darwin" else 1024  # ru_maxrss: KiB on Linux, bytes on macOS


@dataclass(frozen=True)
class Run:
    """``count``: of the case's unit. ``peak_mib``: of the process or of the largest of those it started. ``whole``:
    seconds of what these are a part of."""

    seconds: float
    count: int
    peak_mib: float
    whole: float | None = None


@dataclass(frozen=True)
class Ended:
    """A process that ended: what it printed, its wall time from start to end, its peak."""

    printed: str
    wall: float
    peak_mib: float
    code: int

    def answer(self) -> dict[str, Any]:
        """The JSON object in its last line."""
        found: dict[str, Any] = json.loads(self.printed.strip().splitlines()[-1])
        return found


def run_process(
    command: Sequence[str | Path], environment: Mapping[str, str] | None = None, errors: Path | None = None
) -> Ended:
    """Run a command from the repository's folder; ``errors``: where its stderr goes, else to ours.

    The peak is what the kernel recorded for it and for every process below it that was waited for, as each pool's and
    command's is.
    """
    began = time.perf_counter()
    with (errors or Path(os.devnull)).open("wb") as log:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            env=None if environment is None else dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log if errors else None,
            text=True,
        )
        assert process.stdout is not None
        with process.stdout:
            printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    return Ended(printed, wall, usage.ru_maxrss / KIB / 1024, process.returncode)


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Median, least, most and all values, rounded to what a clock is good for."""
    rounded = [round(value, 4) for value in values]
    return {
        "median": round(statistics.median(values), 4),
        "least": min(rounded),
        "most": max(rounded),
        "all": rounded,
    }


def machine() -> dict[str, Any]:
    """What figures depend on; the load is that of the last minute before."""
    return {
        "cpus": os.cpu_count(),
        "cpu": _cpu_name(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "prefixcache": _version("prefixcache"),
        "gigatoken": _version("gigatoken"),
        "load": round(os.getloadavg()[0], 1),
    }


def _cpu_name() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
