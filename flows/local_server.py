"""A Prefect server of our own for one process, started in parallel with Prefect's slow imports.

Used only where no server is configured. It keeps its records in PREFECT_HOME like any local Prefect server, so
`prefect server start` shows the runs later. It ends when its parent does, even after kill -9.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

from prefixcache.errors import EnvironmentFailure

STARTUP_SECONDS = 420.0  # an idle machine takes 10 to 30; under heavy load more than 180 were seen
POLL_SECONDS = 0.05


def configured_api_url() -> str | None:
    """The server the user has configured: PREFECT_API_URL, or the active profile's."""
    if url := os.environ.get("PREFECT_API_URL"):
        return url
    home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    path = Path(os.environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml")
    try:
        profiles = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError):
        return None
    name = os.environ.get("PREFECT_PROFILE") or profiles.get("active")
    profile = profiles.get("profiles", {}).get(name, {})
    url = profile.get("PREFECT_API_URL") or profile.get("api", {}).get("url") if isinstance(profile, dict) else None
    return str(url) if url else None


class LocalServer:
    """The child process and its address."""

    def __init__(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process it belongs to
        self._start()

    def _start(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        environment = {
            **os.environ,
            "PREFECT_UI_ENABLED": "0",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "0",
            "PREFECT_LOGGING_LEVEL": "ERROR",
            "PREFECT__SERVER_EPHEMERAL": "1",
            "PREFECT__SERVER_FINAL": "1",
        }
        environment.pop("PREFECT_API_URL", None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "flows.server_child", str(self.port), str(os.getpid())],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
        )

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    def wait(self) -> None:
        """Return when the server answers.

        Raises:
            EnvironmentFailure: it does not start, with what it said.
        """
        deadline = time.monotonic() + STARTUP_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.api_url}/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(POLL_SECONDS)
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip().splitlines()
        raise EnvironmentFailure(
            f"the local Prefect server did not start: {said[-1] if said else self._silence()}",
            remedy="use --no-prefect, or set PREFECT_API_URL to a running server.",
        )

    def _silence(self) -> str:
        ended = self.process.poll()
        return f"no answer within {STARTUP_SECONDS:.0f} s" if ended is None else f"it ended with code {ended}"

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()


_server: LocalServer | None = None


def ready_prefect(*, quiet: bool = True) -> None:
    """Make Prefect ready to run flows in this process: the configured server, or one of our own until it ends.

    Prefect should not have been imported before: it sets up its logs by the environment at import. Later calls cost
    nothing.

    Raises:
        EnvironmentFailure: our server does not start.
    """
    global _server
    if quiet:
        # Logs go to the server, where the UI shows them; the terminal has our own progress.
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    os.environ.setdefault("PREFECT_LOGGING_EXTRA_LOGGERS", "prefixcache")
    os.environ.setdefault("PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW", "ignore")
    if configured_api_url():
        return
    _server = LocalServer()
    atexit.register(_server.stop)
    os.environ["PREFECT_API_URL"] = _server.api_url
    import prefect.main  # noqa: F401 - slow: meanwhile the server starts
    from prefect.context import refresh_global_settings_context

    # Whoever imported Prefect before has made it read the settings without our address.
    refresh_global_settings_context()
    _server.wait()
