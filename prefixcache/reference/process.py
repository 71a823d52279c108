"""The reference engine as a child process."""

from __future__ import annotations

import dataclasses
import os
import queue
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import IO

from prefixcache.errors import EnvironmentFailure
from prefixcache.reference.options import EngineOptions

READY = "listening on "
STDERR_SHOWN = 2000
END_S = 5.0


class EngineProcess:
    """Runs an engine in a process of its own for the length of a ``with`` block.

    The child ends with the block, and by itself soon after this process dies in any way.

    Args:
        options: the engine.
        deadline: seconds it may take to accept requests, imports and tokenizer included.

    Attributes:
        url: ``http://127.0.0.1:PORT`` (``https`` with a certificate), inside the block.
        pid: the child's process id, inside the block.

    Raises (on entering):
        EnvironmentFailure: it ended or was not ready in time; the message carries the end of its stderr.
    """

    def __init__(self, options: EngineOptions, deadline: float = 120.0) -> None:
        self.options = options
        self.deadline = deadline
        self.url = ""
        self._child: subprocess.Popen[str] | None = None
        self._stderr: IO[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._child is not None, "outside of the with block"
        return self._child.pid

    def __enter__(self) -> EngineProcess:
        # A file, not a pipe: nobody reads it while the engine runs, and a full pipe would stop the engine.
        self._stderr = tempfile.TemporaryFile()
        self._child = subprocess.Popen(
            self._command(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            env={**os.environ, "PYTHONPATH": _python_path()},
        )
        try:
            self.url = self._await_ready(self._child)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _command(self) -> list[str]:
        command = [sys.executable, "-m", "prefixcache.reference", "--port", "0", "--end-with", str(os.getpid())]
        for field in dataclasses.fields(self.options):
            flag, value = f"--{field.name.replace('_', '-')}", getattr(self.options, field.name)
            if not isinstance(value, bool):
                command.append(f"{flag}={value}")
            elif value != field.default:
                command.append(flag if value else f"--no-{flag.removeprefix('--')}")
        return command

    def _await_ready(self, child: subprocess.Popen[str]) -> str:
        lines: queue.Queue[str] = queue.Queue()
        assert child.stdout is not None
        threading.Thread(target=_forward, args=(child.stdout, lines), daemon=True).start()
        try:
            line = lines.get(timeout=self.deadline)
        except queue.Empty:
            raise self._failure(f"is not ready after {self.deadline:g} s") from None
        if not line.startswith(READY):
            # An empty line is the end of its output: it has ended, or is about to.
            raise self._failure(f"printed {line!r}" if line else f"ended with exit code {child.wait(END_S)}")
        return line.removeprefix(READY).strip()

    def _failure(self, what: str) -> EnvironmentFailure:
        assert self._stderr is not None
        self._stderr.seek(0)
        said = self._stderr.read().decode(errors="replace").strip()[-STDERR_SHOWN:]
        return EnvironmentFailure(
            f"the reference engine {what}; its stderr: {said or '(empty)'}",
            stage="reference engine",
            remedy="run python -m prefixcache.reference by hand to see more",
        )

    def _end(self) -> None:
        child, self._child, self.url = self._child, None, ""
        if child is not None:
            child.terminate()
            try:
                child.wait(END_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdout is not None:
                child.stdout.close()
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None


def _forward(stdout: IO[str], lines: queue.Queue[str]) -> None:
    lines.put(stdout.readline())


def _python_path() -> str:
    """The child finds this very package, wherever it runs and however this process found it."""
    here = str(Path(__file__).resolve().parents[2])
    return os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
