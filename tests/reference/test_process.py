"""The engine as a child process: ready when it says so, gone when it should be."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.reference.__main__ import main
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.reference.server import _bound

pytestmark = pytest.mark.engine
HAN = re.compile(r"[\u4e00-\u9fff]")

ORPHANING = """
import os, sys
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
engine = EngineProcess(EngineOptions(sys.argv[1])).__enter__()
print(engine.pid, engine.url, flush=True)
os._exit(0)  # as a killed process would: nothing is cleaned up
"""


def test_it_serves_with_its_options_and_ends_with_the_block(toy: str) -> None:
    with EngineProcess(EngineOptions(toy, block_size=8, num_blocks=50, dp=2, decode_tps=5.5, model="m")) as engine:
        child = engine._child
        assert child is not None
        url = engine.url
        info = httpx.get(f"{engine.url}/server_info").json()
        assert (info["block_size"], info["num_blocks"], info["dp"], info["decode_tps"]) == (8, 50, 2, 5.5)
        assert httpx.get(f"{engine.url}/v1/models").json()["data"][0]["id"] == "m"
    assert child.returncode == 0  # a clean end on SIGTERM
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health")


def test_an_engine_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailure, match=r"exit code 2.*no tokenizer folder"):
        EngineProcess(EngineOptions(str(tmp_path / "nothing"))).__enter__()


def test_an_engine_that_is_not_ready_in_time_is_ended(toy: str) -> None:
    process = EngineProcess(EngineOptions(toy), deadline=0.01)
    with pytest.raises(EnvironmentFailure, match="not ready"):
        process.__enter__()
    assert process._child is None


def test_an_orphan_ends_by_itself(toy: str) -> None:
    parent = subprocess.run([sys.executable, "-c", ORPHANING, toy], capture_output=True, text=True, check=True)
    pid, url = parent.stdout.split()
    deadline = time.monotonic() + 20
    while True:
        try:
            httpx.get(f"{url}/health")
        except httpx.TransportError:
            break
        assert time.monotonic() < deadline, f"process {pid} still serves"
        time.sleep(0.05)


def test_an_interrupt_ends_it_while_a_stream_runs(toy: str) -> None:
    with EngineProcess(EngineOptions(toy, decode_tps=5)) as engine:
        child = engine._child
        assert child is not None
        body = {"prompt": [11, 12, 13], "max_tokens": 1000, "stream": True}
        with httpx.stream("POST", f"{engine.url}/v1/completions", json=body) as answer:
            lines = answer.iter_lines()
            next(lines)
            os.kill(engine.pid, signal.SIGINT)
            with pytest.raises(httpx.TransportError):
                list(lines)
        assert child.wait(20) == 0


def test_mistakes_are_one_line_and_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--block-size", "0"]) == 2
    assert main(["--tokenizer", "nowhere"]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 2
    assert all(line.startswith("error: ") for line in lines)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"num_blocks": 10**30}, "num_blocks"),
        ({"dp": 9_999_999}, "dp"),
        ({"dp": 1000, "num_blocks": 1_000_000}, "num_blocks"),
        ({"block_size": 1 << 40}, "block_size"),
        ({"block_size": 1 << 20, "hit_unit": 1}, "num_blocks"),
        ({"hit_unit": 1 << 60}, "hit_unit"),
        ({"max_model_len": 1 << 64}, "max_model_len"),
        ({"seed": 1 << 64}, "seed"),
    ],
)
def test_sizes_that_no_machine_has_are_refused(wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        EngineOptions("embedded", **wrong)
    assert caught.value.field == field and caught.value.remedy
    assert all(HAN.search(chinese_of(text)) for text in (caught.value.message, caught.value.remedy))


@pytest.mark.parametrize("host", ["", " "])
def test_no_address_is_not_every_address(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--host", host]) == 2
    assert "host: is empty" in capsys.readouterr().err


def test_an_address_of_events_that_is_none_ends_it() -> None:
    """A socket left open would keep the process from ending after its message."""
    command = [sys.executable, "-m", "prefixcache.reference", "--kv-events", "foo"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 3
    assert "kv_events: KV events cannot be published at foo" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_taken_port_is_the_worlds_fault(toy: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["--tokenizer", toy, "--port", str(taken.getsockname()[1])]) == 3
    assert "cannot listen" in capsys.readouterr().err


def test_small_writes_are_not_held_back() -> None:
    with _bound("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP  # what asyncio looks at before it sets TCP_NODELAY


def test_a_fault_plan_goes_with_it(toy: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("- requests: 2\n  status: 503\n")
    with EngineProcess(EngineOptions(toy, faults=str(plan))) as engine:
        child = engine._child
        assert child is not None
        body = {"prompt": [11, 12, 13], "max_tokens": 1}
        found = [httpx.post(f"{engine.url}/v1/completions", json=body).status_code for _ in range(3)]
        assert found == [200, 503, 200]
    assert child.returncode == 0


def test_a_fault_plan_with_a_mistake_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("- requests: 2\n  statu: 503\n")
    assert main(["--faults", str(plan)]) == 2
    assert capsys.readouterr().err == "error: [stage fault plan] rules[0].statu: unknown key. Remedy: write `status`.\n"
