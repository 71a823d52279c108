"""`run --live` on a real terminal, and `replay` of the same run: one and the same last frame."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.load.records.series_file import read_series
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.schemas.catalog import schema_of
from prefixcache.schemas.conformance import misfits
from tests.load.handmade import make_dataset
from tests.load.test_run_reference import wishes

pytestmark = pytest.mark.engine
MAIN = [sys.executable, "-c", "import sys; from flows.cli import main; sys.exit(main())"]
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded", prefill_tps=20_000, decode_tps=500)) as process:
        yield process


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("live") / "set", wishes(80))


def run_command(dataset: Path, run_dir: Path, url: str, *more: str) -> list[str]:
    chosen = ["--send", "ids", "--no-prefect", "--load", "poisson:40", *more]
    return ["run", "-d", str(dataset), "-u", url, "-r", str(run_dir), *chosen]


def on_terminal(arguments: list[str], *, stdout: bool) -> str:
    """What a command writes to a terminal of 100 columns that is its stderr (and its stdout)."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    with subprocess.Popen(
        [*MAIN, *arguments], stdin=its, stdout=its if stdout else subprocess.PIPE, stderr=its, env=environment
    ) as process:
        os.close(its)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the last one closed it
                break
            if not part:
                break
            written += part
        if process.stdout is not None:
            process.stdout.read()
    os.close(ours)
    assert process.returncode == 0, written.decode()
    return written.decode()


def frames(written: str) -> list[list[str]]:
    """The frames in what was written, without colours and cursor movements."""
    lines = [line.rstrip() for line in CONTROL.sub("", written).replace("\r", "\n").split("\n")]
    begins = [n for n, line in enumerate(lines) if line.startswith("cold pass, measured")]
    found = []
    for begin in begins:
        end = next(n for n in range(begin, len(lines)) if "1 begin" in lines[n])
        found.append([line for line in lines[begin : end + 1] if line])
    return found


def test_live_and_replay_end_with_one_frame(engine: EngineProcess, dataset: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    live = frames(on_terminal(run_command(dataset, run_dir, engine.url, "--live", "--json"), stdout=False))
    replayed = frames(on_terminal(["replay", "-r", str(run_dir), "--speed", "20"], stdout=True))
    assert len(live) >= 3  # it moved
    assert len(replayed) >= 3
    assert live[-1] == replayed[-1]
    assert "80 of 80" in live[-1][1]
    plain = CliRunner().invoke(app, ["replay", "-r", str(run_dir)])
    assert plain.exit_code == 0
    assert "80 of 80" in plain.stdout
    chinese = CliRunner().invoke(app, ["replay", "-r", str(run_dir), "--lang", "zh"])
    assert chinese.stdout.startswith("冷缓存轮次")
    printed = json.loads(CliRunner().invoke(app, ["replay", "-r", str(run_dir), "--json"]).stdout)
    assert list(misfits(printed, schema_of("run_series"))) == []
    assert printed["samples"] == [sample.to_row() for sample in read_series(run_dir)]


@pytest.mark.parametrize("without_prefect", [True, pytest.param(False, marks=pytest.mark.prefect)])
def test_a_search_shows_a_dashboard_for_each_point(
    engine: EngineProcess, dataset: Path, tmp_path: Path, without_prefect: bool
) -> None:
    folder = tmp_path / "search"
    arguments = [
        "search",
        "-d",
        str(dataset),
        "-u",
        engine.url,
        "-r",
        str(folder),
        "--slo",
        "e2e=50",
        "--live",
        "--json",
    ]
    arguments += ["--over", "rate", "--low", "40", "--high", "80", "--resolution", "40", "--send", "ids"]
    written = on_terminal([*arguments, *["--no-prefect"] * without_prefect], stdout=False)
    lines = [line.strip() for line in CONTROL.sub("", written).replace("\r", "\n").split("\n")]
    assert {"rate 40", "rate 80"} <= set(lines)
    seen = "\n".join(lines)
    assert seen.index("rate 40\n") < seen.index("rate 40: 80 of 80 requests good") < seen.index("rate 80\n")
    drawn = frames(written)
    assert sum("80 of 80" in frame[1] for frame in drawn) >= 2
    for rate in (40, 80):
        assert read_series(folder / "points" / f"rate-{rate}")[-1].mark == "counted"
    # Each frame is of one run: the second point begins afresh.
    counts = [int(re.findall(r"(\d+) of 80", frame[1])[0]) for frame in drawn]
    assert any(later < earlier for earlier, later in pairwise(counts)), counts


def test_without_a_terminal_it_is_ignored_with_a_note(engine: EngineProcess, dataset: Path, tmp_path: Path) -> None:
    arguments = run_command(dataset, tmp_path / "run", engine.url, "--live", "--limit", "10")
    done = subprocess.run([*MAIN, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--live shows nothing: stderr is no terminal" in done.stderr
    assert "all sent" not in done.stdout + done.stderr


def test_a_killed_run_can_be_replayed_and_run_again(engine: EngineProcess, dataset: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    arguments = run_command(dataset, run_dir, engine.url, "--json")
    with subprocess.Popen([*MAIN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        partial = run_dir / "runtime" / "series.jsonl.partial"
        deadline = time.monotonic() + 60
        while not (partial.is_file() and partial.read_bytes().count(b"\n") >= 3) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    samples = read_series(run_dir)
    assert len(samples) >= 3
    assert samples[-1].mark != "counted"
    shown = CliRunner().invoke(app, ["replay", "-r", str(run_dir)])
    assert shown.exit_code == 0
    assert "of 80" in shown.stdout
    again = CliRunner().invoke(app, [*arguments, "--allow-residue"])
    assert again.exit_code == 0, again.output
    assert read_series(run_dir)[-1].mark == "counted"
    assert not partial.exists()


@pytest.mark.parametrize(("arguments", "field"), [(["--speed", "0"], "--speed"), ([], "--run-dir")])
def test_mistakes(arguments: list[str], field: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["replay", "-r", str(tmp_path), *arguments, "--json"])
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["field"] == field
