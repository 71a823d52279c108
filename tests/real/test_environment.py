"""The scripts around real engines, without one: what is built once, what is ended surely, and reasons to skip."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from transformers import AutoConfig, AutoTokenizer

from tests.real.environment import keeper, venvs
from tests.real.environment.model import tiny_model
from tests.real.environment.server import Ports, RealServer, ServerFailed

PARENT = """
import os, subprocess, sys
keeper, marks = sys.argv[1:]
grandchild = f"import os, time; open('{marks}/' + str(os.getpid()), 'w').close(); time.sleep(600)"
child = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {grandchild!r}]); exec({grandchild!r})"
subprocess.Popen([sys.executable, keeper, str(os.getpid()), sys.executable, "-c", child])
import time; time.sleep(600)
"""
LONG = 60.0


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are watched in /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_all_of_a_server_ends_with_its_parent(tmp_path: Path, how: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, keeper.__file__, str(tmp_path)])
    deadline = time.monotonic() + LONG
    while len(pids := [int(mark.name) for mark in tmp_path.iterdir()]) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(pids) == 2
    assert all(alive(pid) for pid in pids)
    parent.send_signal(how)
    parent.wait(LONG)
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in pids)


@dataclass(frozen=True)
class Broken:
    code: str

    def command(self, ports: Ports, scratch: Path) -> list[str]:
        return [sys.executable, "-c", self.code]

    def environment(self, scratch: Path) -> dict[str, str]:
        return {}


def test_a_server_that_ends_is_told_with_its_last_words() -> None:
    with pytest.raises(ServerFailed, match="no such device"), RealServer(Broken("raise SystemExit('no such device')")):
        pass


def test_a_server_is_there_once_it_is_healthy() -> None:
    code = """
import http.server, sys
class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == '/health' else 404)
        self.end_headers()
http.server.HTTPServer(('127.0.0.1', PORT), Healthy).serve_forever()
"""

    class Engine(Broken):
        def command(self, ports: Ports, scratch: Path) -> list[str]:
            return [sys.executable, "-c", self.code.replace("PORT", str(ports.http))]

    with RealServer(Engine(code)) as server:
        assert server.url.startswith("http://127.0.0.1:")
        keeper_process = server._keeper
        assert keeper_process is not None
    assert keeper_process.poll() is not None


def test_an_environment_is_built_once_and_never_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(venvs.VARIABLE, str(tmp_path))
    built = []

    def fail(root: Path) -> None:
        (root / "bin").mkdir(parents=True)
        raise venvs.Unavailable("no network")

    def build(root: Path) -> None:
        (root / "bin").mkdir(parents=True)
        built.append(root)

    root = venvs.home() / "engine"
    with pytest.raises(venvs.Unavailable, match="no network"):
        venvs._ready(root, 0, fail)
    assert not root.exists()
    assert venvs._ready(root, 0, build) == venvs._ready(root, 0, build) == root / "bin" / "python"
    assert built == [root]


def test_too_small_a_disk_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(venvs.VARIABLE, str(tmp_path))
    with pytest.raises(venvs.Unavailable, match=venvs.VARIABLE):
        venvs._ready(venvs.home() / "engine", 1 << 62, lambda root: None)


def test_an_installer_that_fails_is_a_reason(tmp_path: Path) -> None:
    with pytest.raises(venvs.Unavailable, match="nothing fits"):
        venvs._run([sys.executable, "-c", "import sys; print('ERROR: nothing fits', file=sys.stderr); sys.exit(1)"])


def test_the_tiny_model_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(venvs.VARIABLE, str(tmp_path))
    folder = tiny_model()
    assert folder == tiny_model()
    assert folder.parent == tmp_path
    assert list(tmp_path.iterdir()) == [folder]
    config = AutoConfig.from_pretrained(folder)
    assert config.model_type == "qwen2"
    assert len(AutoTokenizer.from_pretrained(folder)) <= config.vocab_size
    with open(folder / "model.safetensors", "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.tell()
        size = file.seek(0, os.SEEK_END) - data
    assert max(entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__") == size
    assert header["model.embed_tokens.weight"]["shape"] == [config.vocab_size, config.hidden_size]
