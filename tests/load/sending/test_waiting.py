"""A request that hangs is not met with silence."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.commands.run import run as command
from prefixcache.engines.http import Timeouts
from prefixcache.errors import InputError
from prefixcache.load.options import Progress, RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.load.sending import waiting
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset


def test_what_is_waited_for_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prefixcache.load.sending.waiting.FIRST_NOTE_S", 0.2)
    dataset = make_dataset(tmp_path / "set", [Wish("a", 16)] * 3)
    steps: list[Progress] = []
    with FakeServer(behave=lambda n, p: "silent" if n == 1 else "ok") as server:
        chosen = RunOptions(urls=(server.url,), poll_interval=0.05, timeouts=Timeouts.of(1.5))
        summary = run_benchmark(dataset, tmp_path / "run", chosen, steps.append)
        url = server.url
    notes = [s.note for s in steps if s.note.startswith("waiting")]
    assert 2 <= len(notes) <= 4  # at 0.2, 0.4, 0.8 s: the pauses grow
    assert notes[0].startswith(f"waiting for {url} to answer request r1, ")
    assert "after 1.5 s without a byte (--timeout)" in notes[0]
    assert summary.failed_requests == 1


def test_the_default_is_stated_in_the_help_and_is_the_librarys() -> None:
    assert command.__defaults__ is not None
    assert Timeouts.of(300.0) == Timeouts()
    shown = CliRunner().invoke(app, ["run", "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).stdout
    line = shown[shown.index("--timeout") :]
    assert "300.0" in line[: line.index("--dry-run")]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_times_that_nobody_can_wait(seconds: float) -> None:
    with pytest.raises(InputError, match="no time to wait"):
        Timeouts.of(seconds)


async def _later(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "done"


@pytest.mark.parametrize(("seconds", "notes"), [(0.0, 0), (0.3, 1)])
def test_what_takes_long_is_told_once(monkeypatch: pytest.MonkeyPatch, seconds: float, notes: int) -> None:
    monkeypatch.setattr(waiting, "FIRST_NOTE_S", 0.1)
    told: list[int] = []
    assert asyncio.run(waiting.noted(_later(seconds), lambda: told.append(1))) == "done"
    assert len(told) == notes
