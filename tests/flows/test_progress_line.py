"""The live list of stages fits a terminal of 80 columns with everything it tells."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pytest
from rich.cells import cell_len
from rich.console import Console

from flows.console import begin, language_now, stage_progress
from prefixcache.help.messages import say
from prefixcache.stages.progress import Progress

STATES = (
    Progress("probe_tokenizer", 1, 1, seconds=3.0),
    Progress("build_shards", 4_121, 4_883, 9_800_000, 8_200_000_000, 790.0, pace=(4_120, 780.0)),
    Progress("check_collisions", 1, 1, seconds=3.0),
    Progress("hash_blocks", 3, 205, 1_200, 6_000_000, 0.9, pace=(2, 1.2)),
)


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    begin("en")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [80, 100, 160])
def test_nothing_is_cut_off(width: int, lang: str) -> None:
    begin(lang)
    screen = io.StringIO()
    console = Console(file=screen, width=width, force_terminal=True, highlight=False)
    with stage_progress(quiet=False, console=console) as observe:
        for state in STATES:
            observe(state)
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue()).replace("\r", "\n").splitlines()
    assert max(cell_len(line.rstrip()) for line in lines) <= width
    names = {say(f"stage.{state.stage}", language_now()): state.stage for state in STATES}
    last = {stage: line for line in lines for name, stage in names.items() if f" {name} " in line}
    assert "…" not in "".join(lines)
    for state in STATES:
        line = last[state.stage]
        assert f"{state.done}/{state.total}" in line
        assert re.search(r"\d:\d\d:\d\d", line)
        assert line.rstrip().endswith(state.rates)
    assert ("━" in screen.getvalue()) == (width >= 100)
    assert STATES[1].rates == "12,405 req/s, 10.4 M tok/s, 144 s to go"
