"""Requests in flight on a tight pool of a real vLLM: what its KV events tell, and how near the models come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.fidelity.measuring import rows_of
from benchmarks.fidelity.sections import SECTIONS
from tests.real.environment.server import Engine, RealServer

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real"), pytest.mark.timeout(3600)]
SECTION = next(section for section in SECTIONS if section.key == "vllm-in-flight-65")
HARDEST = [s for s in SECTION.scenarios if s.name == "six groups" or (s.concurrency == 16 and s.gating == "watermark")]


@pytest.fixture(scope="module")
def vllm(server_of: Callable[[Engine], RealServer]) -> RealServer:
    return server_of(SECTION.server)


@pytest.mark.parametrize("scenario", HARDEST, ids=lambda s: f"{s.name} {s.concurrency} {s.gating}")
def test_events_tell_hits_and_models_come_near(vllm: RealServer, scenario: object, tmp_path: Path) -> None:
    section = replace(SECTION, scenarios=(scenario,))
    [row] = rows_of(section, vllm, tmp_path, print)
    assert (row["events_told"], row["events_off"]) == (row["requests"], 0)
    assert row["queries"] == row["input_tokens"]
    # docs/fidelity.md has what is really reached; time decides, and other tests may run beside this one.
    assert abs(row["clocked"] - row["measured"]) <= 0.01 * row["input_tokens"]
    assert abs(row["in_flight"] - row["measured"]) <= 0.025 * row["input_tokens"]
    assert row["measured"] < row["designed"]
