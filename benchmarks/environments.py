"""Throw-away environments for the peers, made from the package index by uv."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

INSTALLED = ".installed"  # written last, so that a half-made environment is made again
LONGEST = 3600


class NotInstalled(Exception):
    """Why a peer is not there, in one line."""


@dataclass(frozen=True)
class Environment:
    """``alone``: the first package without what it asks for, where the generator needs little of it."""

    name: str
    packages: tuple[str, ...]
    alone: bool = False


def python_of(environment: Environment, folder: Path, base: Path) -> Path:
    """The interpreter of the environment in the folder, made first if it is not there.

    Args:
        base: the interpreter that environments are made from.

    Raises:
        NotInstalled: with what the installer said.
    """
    root = folder / environment.name
    python = root / "bin" / "python"
    if (root / INSTALLED).is_file():
        return python
    uv = _uv()
    _run([uv, "venv", "--quiet", "--clear", "--python", base, root])
    install: list[str | Path] = [uv, "pip", "install", "--quiet", "--python", python]
    if environment.alone:
        _run([*install, "--no-deps", environment.packages[0]])
        _run([*install, *environment.packages[1:]])
    else:
        _run([*install, *environment.packages])
    (root / INSTALLED).touch()
    return python


def _uv() -> Path:
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.is_file() else shutil.which("uv")
    if found is None:
        raise NotInstalled("uv is not there; `make env` installs it")
    return Path(found)


def _run(command: Sequence[str | Path]) -> None:
    words = [str(word) for word in command]
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LONGEST)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(str(error)) from None
    if done.returncode:
        raise NotInstalled(last_words(done.stderr) or f"the installer ended with code {done.returncode}")


def last_words(text: str) -> str:
    """What an installer or a script said at its end, in one line."""
    return " ".join(line.strip() for line in text.strip().splitlines()[-2:])[-400:]
