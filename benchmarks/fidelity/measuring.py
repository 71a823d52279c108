"""One section played: rows of designed, simulated and measured tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.fidelity.sections import Section
from prefixcache.analysis.kv_clock import clock_of, read_events
from prefixcache.cache.models.inflight import InflightModel, SchedulerSettings
from prefixcache.cache.models.inflight.clocked import serve_clocked
from prefixcache.load.run import run_benchmark
from prefixcache.simulation.dataset import simulate_dataset
from tests.real.environment.server import RealServer, Vllm
from tests.real.playing import Played, of_both_tiers, play
from tests.real.scenarios import Scenario
from tests.real.traces import sent_by

Row = dict[str, Any]


def rows_of(section: Section, server: RealServer, folder: Path, tell: Callable[[str], None]) -> Iterator[Row]:
    """Play every scenario of the section; one row a pass."""
    events = server.events_url if section.kind == "flight" else None
    for number, scenario in enumerate(section.scenarios):
        tell(f"{section.key}: {scenario.name}, {scenario.concurrency} at a time")
        played = play(scenario, folder / str(number), section.unit, server.url, events)
        if played.summary.status != "complete":
            raise SystemExit(f"error: {scenario.name} on {section.key}: the run is {played.summary.status}")
        for name in played.passes:
            row = _row(section, scenario, played, name)
            match section.kind:
                case "flight":
                    row |= _in_flight(section, scenario, played, name)
                case "tier":
                    yield row | {"external_expected": 0, "external_measured": _external_hits(played, name)}
                    row = _both_tiers(section, scenario, server, played, folder / f"{number}-again")
            yield row


def _row(section: Section, scenario: Scenario, played: Played, name: str) -> Row:
    figures, requests = played.passes[name], played.requests[name]
    simulated = _simulated(section, played.dataset, name)
    claimed = [row["expected_hit_len"] for row in requests] if section.kind in ("design", "tier") else simulated
    answered = [row["cached_tokens"] for row in requests]
    return {
        "scenario": scenario.name,
        "pass": name,
        "concurrency": scenario.concurrency,
        "gating": scenario.gating,
        "requests": len(requests),
        "input_tokens": figures["planned_input_tokens"],
        "designed": sum(row["expected_hit_len"] for row in requests),
        "simulated": sum(simulated),
        "measured": figures["measured_hit_tokens"],
        "queries": figures["measured_query_tokens"],
        "order_free": scenario.order_free,
        "requests_off": sum(one != other for one, other in zip(claimed, answered, strict=True)),
    }


def _simulated(section: Section, dataset: Path, name: str, **flight: Any) -> list[int]:
    """Hits request by request as `prefixcache simulate --dataset` says."""
    told = simulate_dataset(dataset, engine=section.engine, num_blocks=section.blocks, only_pass=name, **flight)
    return [row["hit_tokens"] for row in told["passes"][0]["requests"]]


def _in_flight(section: Section, scenario: Scenario, played: Played, name: str) -> Row:
    """The model of requests in flight from the send order alone, and led by the recorded KV events."""
    server = section.server
    assert isinstance(server, Vllm) and server.budget is not None and server.sequences is not None
    limits: dict[str, Any] = {"max_num_batched_tokens": server.budget, "max_num_seqs": server.sequences}
    alone = _simulated(
        section, played.dataset, name, concurrency=scenario.concurrency, gating=scenario.gating, **limits
    )
    sent, requests = sent_by(played.dataset, section.unit), played.requests[name]
    times = pl.DataFrame({key: [row[key] for row in requests] for key in ("sent_s", "last_token_s")})
    recorded = read_events(played.run / "runtime" / "kv_events.jsonl", name)
    clock = clock_of(sent.measured, sent.keys, recorded, times)
    settings = SchedulerSettings(section.blocks, section.unit, **limits)
    led = serve_clocked(InflightModel(settings), sent.measured, clock.steps, concurrency=scenario.concurrency)
    answered = [row["cached_tokens"] for row in requests]
    return {
        "in_flight": sum(alone),
        "clocked": int(led.hits.sum()),
        "from_events": sum(
            blocks * section.unit if blocks >= 0 else hit
            for blocks, hit in zip(clock.hit_blocks.tolist(), led.hits.tolist(), strict=True)
        ),
        "clocked_requests_off": sum(a != b for a, b in zip(led.hits.tolist(), answered, strict=True)),
        "events_told": int((clock.hit_blocks >= 0).sum()),
        "events_off": sum(
            blocks >= 0 and blocks * section.unit != hit
            for blocks, hit in zip(clock.hit_blocks.tolist(), answered, strict=True)
        ),
    }


def _external_hits(played: Played, name: str) -> int:
    counter = played.passes[name]["global"]["counters"]["external_hits"]
    return round(counter["delta"] or 0)


def _both_tiers(section: Section, scenario: Scenario, server: RealServer, played: Played, folder: Path) -> Row:
    """The same prompts again: the local cache was emptied, the tier was not; it holds each prompt's full blocks."""
    run_benchmark(played.dataset, folder, replace(scenario.options(server.url), allow_residue=True))
    runtime = folder / "runtime"
    [figures] = json.loads((runtime / "prefix_cache_metrics.json").read_text())["passes"]
    rows = [json.loads(line) for line in (runtime / "request_results.jsonl").read_text().splitlines()]
    whole = [of_both_tiers(row, section.unit) for row in rows]
    designed = sum(row["expected_hit_len"] for row in rows)
    return {
        **_row(section, scenario, played, "cold"),
        "scenario": "the same prompts again",
        "measured": figures["measured_hit_tokens"],
        "queries": figures["measured_query_tokens"],
        "requests_off": sum(row["cached_tokens"] != hit for row, hit in zip(rows, whole, strict=True)),
        "external_expected": sum(whole) - designed,
        "external_measured": round(figures["global"]["counters"]["external_hits"]["delta"]),
    }
