"""A scenario played against a real server, and what came of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefixcache.load.options import RunSummary
from prefixcache.load.run import run_benchmark
from tests.real.scenarios import Scenario, make


@dataclass(frozen=True)
class Played:
    """A finished run beside its dataset.

    Attributes:
        passes: per pass the entry of ``prefix_cache_metrics.json``.
        requests: per pass the measured requests' rows in send order.
    """

    dataset: Path
    run: Path
    summary: RunSummary
    passes: dict[str, dict[str, Any]]
    requests: dict[str, list[dict[str, Any]]]

    def designed(self, name: str) -> list[int]:
        return [row["expected_hit_len"] for row in self.requests[name]]

    def answered(self, name: str) -> list[int | None]:
        """Hit tokens request by request, as the answers' usage states them."""
        return [row["cached_tokens"] for row in self.requests[name]]


def play(scenario: Scenario, folder: Path, unit: int, url: str, events: str | None = None) -> Played:
    """Make the dataset in the folder and run it."""
    return run(scenario, make(scenario, folder / "dataset", unit), folder / "run", url, events)


def run(scenario: Scenario, dataset: Path, folder: Path, url: str, events: str | None = None) -> Played:
    summary = run_benchmark(dataset, folder, scenario.options(url, events))
    runtime = folder / "runtime"
    metrics = json.loads((runtime / "prefix_cache_metrics.json").read_text())
    rows = [json.loads(line) for line in (runtime / "request_results.jsonl").read_text().splitlines()]
    passes = {entry["pass"]: entry for entry in metrics["passes"]}
    requests = {
        name: sorted(
            (row for row in rows if row["pass"] == name and row["phase"] == "measured"), key=lambda r: r["order_index"]
        )
        for name in passes
    }
    return Played(dataset, folder, summary, passes, requests)


def check_exact(played: Played, scenario: Scenario) -> None:
    """Designed hits are the server's own counters, token for token, and the answers' request by request."""
    assert (played.summary.status, played.summary.failed_requests) == ("complete", 0)
    for name, figures in played.passes.items():
        designed = played.designed(name)
        found = (figures["measured_query_tokens"], figures["measured_hit_tokens"])
        assert found == (figures["planned_input_tokens"], sum(designed)), name
        assert sum(designed) > 0
        answered = played.answered(name)
        if scenario.order_free:
            assert sum(hit or 0 for hit in answered) == sum(designed)
        else:
            assert answered == designed, name
        assert not any(row["gate_broken"] for row in played.requests[name])


def of_both_tiers(row: dict[str, Any], unit: int) -> int:
    """Hits of a prompt that vLLM's ExampleConnector has stored, local and external ones together.

    It stores the full blocks before a prompt's last token and looks for those before the last but one: a prompt of one
    token more than whole blocks is not found again (its ``align_to_block_size``, asked for n and for n - 1 tokens).
    """
    before = int(row["input_len"]) - 1
    return before // unit * unit if before % unit else int(row["expected_hit_len"])
