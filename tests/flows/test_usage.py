"""Wrong usage and interruptions of every command: one message, one JSON object with --json, exit codes of domain 7."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from flows.cli import app

MAIN = "import sys; from flows.cli import main; sys.exit(main())"
COMMANDS = [info.callback.__name__ for info in app.registered_commands if info.callback]
WITH_REQUIRED = [name for name in COMMANDS if name not in ("init", "serve", "demo", "explain")]
LONG = """
dataset_id: long
request_count: 40000
block_size: 16
tokenizer: embedded
input_length: {mode: uniform, min: 500, max: 6000}
target: {hit_ratio: 0.6}
"""


def call(*arguments: str | Path, **options: Any) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_the_short_form_of_help(name: str | None) -> None:
    command = [name] if name else []
    assert call(*command, "-h").stdout == call(*command, "--help").stdout != ""


def error_of(result: Result, exit_code: int = 2) -> dict[str, Any]:
    """Stdout is exactly one JSON object that tells the error which stderr tells too."""
    assert result.exit_code == exit_code, result.output
    told = json.loads(result.stdout)
    assert told["exit_code"] == exit_code
    error = told["error"]
    assert {"type", "message", "field", "remedy", "stage", "dataset_id", "request_id", "group"} <= set(error)
    assert error["message"] in result.stderr
    assert "Traceback" not in result.stderr
    assert isinstance(error, dict)
    return error


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["before", "behind"])
def test_an_unknown_option(command: str, place: str) -> None:
    arguments = ["--json", "--no-such-thing"] if place == "before" else ["--no-such-thing", "--json"]
    error = error_of(call(command, *arguments))
    assert error["type"] == "InputError"
    assert error["field"] in ("--no-such-thing", "--json")  # serve has no --json: then that one is found first
    assert f"prefixcache {command} --help" in error["remedy"]


@pytest.mark.parametrize("command", WITH_REQUIRED)
def test_a_missing_option(command: str) -> None:
    error = error_of(call(command, "--json"))
    if command == "simulate":  # which takes one of two
        assert (error["field"], error["message"]) == ("--trace, --dataset", "neither a trace nor a dataset is given")
        return
    if command == "metrics":  # which takes pages, or a run of Prometheus
        assert (error["field"], error["message"]) == ("--before", "no pages are given")
        return
    assert error["field"] in ("--config", "--dataset", "--run-dir", "--run", "--url")
    assert error["message"] == "is missing"


@pytest.mark.parametrize(
    ("arguments", "field", "message", "remedy"),
    [
        (["plan", "-c", "x", "--json", "--set"], "--set", "no value", "behind it"),
        (["inspect", "-d", "x", "--limit", "a"], "--limit", "'a'", "whole number"),
        (["inspect", "-d", "x", "--limit=0"], "--limit", "'0'", "at least 1"),
        (["run", "-d", "x", "-u", "y", "--prefill-tps", "fast"], "--prefill-tps", "'fast'", "a number"),
        (["run", "-d", "x", "-u", "y", "--concurency", "3"], "--concurency", "no option", "--concurrency"),
        (["reorder", "-d", "x", "-o", "y", "--order", "shuffle", "--seed", "1.5"], "--seed", "'1.5'", "whole number"),
        (["generate", "-c", "x", "-o", "y", "-w", "0"], "--workers", "'0'", "at least 1"),
        (["plan", "-c", "x", "--json=1"], "--json", "does not take a value", "--help"),
        (["explain", "seed", "extra"], None, "extra", "--help"),
        (["genrate"], "COMMAND", "'genrate'", "write generate"),
        (["qqqqqq"], "COMMAND", "'qqqqqq'", "prefixcache --help"),
        (["--json", "plan", "-c", "x"], "--json", "before the command", "behind"),
        (["plan", "-c", "no.yaml", "--lang", "de"], "--lang", "'de'", "en or zh"),
    ],
)
def test_wrong_usage(arguments: list[str], field: str | None, message: str, remedy: str) -> None:
    error = error_of(call(*arguments, *(["--json"] if "--json" not in arguments else [])))
    assert error["field"] == field
    assert message in error["message"]
    assert remedy in error["remedy"]


def test_without_json_stdout_is_empty() -> None:
    result = call("plan", "--nope")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error: --nope" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "field", "remedy"),
    [
        (["--port", "99999"], "--port", "at most 65535"),
        (["--port", "-1"], "--port", "at least 0"),
        (["--block-size", "0"], "--block-size", "at least 1"),
        (["--num-blocks", "-1"], "--num-blocks", "at least 2"),
        (["--dp", "0"], "--dp", "at least 1"),
        (["--max-model-len", "1"], "--max-model-len", "at least 2"),
        (["--prefill-tps", "nan"], "--prefill-tps", "a number"),
        (["--prefill-tps", "inf"], "--prefill-tps", "at most"),
        (["--decode-tps", "-1"], "--decode-tps", "at least 0"),
        (["--model", ""], "--model", "write a name"),
        (["--dialect", "tgi"], "--dialect", "vllm or vllm-v0"),
        (["--hit-unit", "-1"], "--hit-unit", "at least 0"),
    ],
)
def test_serve_refuses_what_no_engine_can_be(arguments: list[str], field: str, remedy: str) -> None:
    result = call("serve", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {field}: ")
    assert remedy in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_port_in_use() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = call("serve", "--port", str(taken.getsockname()[1]))
    assert result.exit_code == 3
    assert "another port" in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_interrupted(number: signal.Signals, lang: str, tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(LONG)
    arguments = ["generate", "-c", "long.yaml", "-o", "out", "--no-prefect", "-w", "1", "--json", "--lang", lang]
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "out" / ".work").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + number, stderr
    told = json.loads(stdout)
    assert told["exit_code"] == 128 + number
    assert told["error"]["type"] == "Interrupted"
    assert number.name in told["error"]["message"]
    assert "starts afresh" in told["error"]["remedy"]
    assert (f"已被 {number.name} 中断；再次执行同一命令" in stderr) == (lang == "zh"), "Chinese marks need no blank"
    assert "Traceback" not in stderr


def test_an_interruption_after_the_result_adds_no_second_object(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    from flows import console

    console.begin("en")
    with pytest.raises(typer.Exit), console.reporting_errors(as_json=True):
        console.emit_json({"status": "PASS"})
        raise KeyboardInterrupt
    assert json.loads(capsysbinary.readouterr().out) == {"status": "PASS"}


EARLY = """
import os, signal
import typer.main
from flows import cli
build = typer.main.get_command
def late(*given):
    os.kill(os.getpid(), signal.{name})
    return build(*given)
typer.main.get_command = late
cli.main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_interrupted_before_the_command_line_is_read(number: signal.Signals, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY.format(name=number.name), "plan", "-c", "none.yaml", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 128 + number, done.stderr
    assert json.loads(done.stdout)["error"]["type"] == "Interrupted"
    assert "Traceback" not in done.stderr
