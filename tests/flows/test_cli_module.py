"""The command line as a module."""

from __future__ import annotations

import subprocess
import sys


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "flows.cli", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()[0]) == (0, "prefixcache")
