"""Planted secrets and private texts are found nowhere but where they belong (RFC 3.4.1)."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest

from prefixcache.reference.process import EngineProcess
from prefixcache.reference.server import EngineOptions
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset

pytestmark = [pytest.mark.engine, pytest.mark.prefect, pytest.mark.xdist_group("prefect")]

PRIVATE = "quagmirezebra"
SECRETS = ("hunter2secretpw", "querysecret77", "sk-planted-api-key")
# The prompts themselves: what is sent, and what it is cut from.
HOLDS_TEXT = ("data.jsonl", "warmup.jsonl", "shards", "corpus", "masters", "dataset")
CONFIG = """
dataset_id: private
request_count: 20
block_size: 16
input_length: 200
target: {hit_ratio: 0.4}
suffix: {source: text, path: private.jsonl, fields: [text]}
execution: {mode: compare}
"""


def cli(home: Path, *arguments: str, key: str = SECRETS[2]) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PREFECT_HOME": str(home),
        "PREFIXCACHE_API_KEY": key,
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "DEBUG",
    }
    environment.pop("PREFECT_API_URL", None)
    main = "import sys; from flows.cli import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", main, *arguments], env=environment, capture_output=True, text=True)


def found_in(folder: Path, needle: str) -> list[str]:
    """Files below the folder whose bytes hold the needle."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and needle.encode() in path.read_bytes()
    ]


def test_planted_secrets(tmp_path: Path) -> None:
    words = "The keeper of {} number {} counted pens and paid for every one of them in the morning."
    rows = [f'{{"text": "{words.format(PRIVATE, i)}"}}' for i in range(600)]
    (tmp_path / "private.jsonl").write_text("\n".join(rows))
    config = tmp_path / "private.yaml"
    config.write_text(CONFIG)
    home, data, run = tmp_path / "home", tmp_path / "data", tmp_path / "run"
    made = cli(home, "--verbose", "generate", "-c", str(config), "-o", str(data))
    assert made.returncode == 0, made.stderr
    with EngineProcess(EngineOptions("embedded")) as engine:
        address = engine.url.replace("http://", f"http://user:{SECRETS[0]}@") + f"/v1/completions?key={SECRETS[1]}"
        ran = cli(home, "--verbose", "run", "-d", str(data), "-u", address, "-r", str(run))
        assert ran.returncode == 0, ran.stderr
        failed = cli(home, "run", "-d", str(data), "-u", address, "-r", str(run))  # refused: the folder is in use
        dead = cli(
            home, "run", "-d", str(data), "-u", address.replace(engine.url[-5:], "1"), "-r", str(tmp_path / "r2")
        )
    for done in (made, ran, failed, dead):
        for secret in (*SECRETS, PRIVATE):
            assert secret not in done.stdout + done.stderr
    for secret in SECRETS:
        assert found_in(tmp_path, secret) == []
    leaks = [name for name in found_in(tmp_path, PRIVATE) if not any(part in name for part in HOLDS_TEXT)]
    assert [name for name in leaks if not name.startswith("private.")] == []
    assert found_in(home, PRIVATE) == []
    assert found_in(home, str(data / "data.jsonl")) == []


def test_a_server_that_echoes_addresses_and_headers(tmp_path: Path) -> None:
    """In its error bodies and in its streams: nothing of it reaches a file, the terminal or Prefect's records."""
    ways = {1: "http_400_echo", 2: "echo_event", 3: "http_400_raw"}
    data = make_dataset(tmp_path / "set", [Wish("a", 16)] * 5)
    home, run = tmp_path / "home", tmp_path / "run"
    with FakeServer(behave=lambda n, p: ways.get(n, "ok")) as server:
        address = server.url.replace("http://", "http://user:hunter2%2Fpw@") + "/v1/completions?querysecret77&k=q7z"
        ran = cli(home, "--verbose", "run", "-d", str(data), "-u", address, "-r", str(run), "--json", key="")
        assert server.requests("/v1/completions")[0][0]["authorization"].startswith("Basic ")
    assert ran.returncode == 1, ran.stderr  # requests failed
    assert "asked with" in (run / "runtime" / "request_results.jsonl").read_text()
    token = base64.b64encode(b"user:hunter2/pw").decode()
    for secret in (token[:10], "hunter2", "querysecret77", "q7z"):
        assert secret not in ran.stdout + ran.stderr
        assert found_in(tmp_path, secret) == []
