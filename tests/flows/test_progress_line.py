"""The live list of stages fits a terminal of 80 columns with everything it tells."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from flows.console import stage_progress
from prefixcache.stages.progress import Progress

STATES = (
    Progress("probe_tokenizer", 1, 1, seconds=3.0),
    Progress("build_shards", 4_121, 4_883, 9_800_000, 8_200_000_000, 790.0, pace=(4_120, 780.0)),
    Progress("check_collisions", 1, 1, seconds=3.0),
    Progress("hash_blocks", 3, 205, 1_200, 6_000_000, 0.9, pace=(2, 1.2)),
)


@pytest.mark.parametrize("width", [80, 100, 160])
def test_nothing_is_cut_off(width: int) -> None:
    screen = io.StringIO()
    console = Console(file=screen, width=width, force_terminal=True, highlight=False)
    with stage_progress(quiet=False, console=console) as observe:
        for state in STATES:
            observe(state)
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue()).replace("\r", "\n").splitlines()
    assert max(len(line.rstrip()) for line in lines) <= width
    last = {line.split()[1]: line for line in lines if len(line.split()) > 2}
    assert "…" not in "".join(lines)
    for state in STATES:
        line = last[state.stage]
        assert f"{state.done}/{state.total}" in line
        assert re.search(r"\d:\d\d:\d\d", line)
        assert line.rstrip().endswith(state.rates)
    assert ("━" in screen.getvalue()) == (width >= 100)
    assert STATES[1].rates == "12,405 req/s, 10.4 M tok/s, 144 s to go"
