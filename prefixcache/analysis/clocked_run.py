"""A run with recorded KV events, replayed in the model of requests in flight, and beside what the server answered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from prefixcache.analysis.kv_clock import KvClock, clock_of, read_events
from prefixcache.analysis.rundir import load_run
from prefixcache.cache.matching.semantics import CHAINED, Matching
from prefixcache.cache.models.inflight import InflightModel, InflightServed, SchedulerSettings
from prefixcache.cache.models.inflight.clocked import serve_clocked
from prefixcache.cache.models.trace import Counts, Numbers, Trace
from prefixcache.dataset.as_traces import DatasetTraces, read_dataset_traces
from prefixcache.errors import InputError

EVENTS = Path("runtime") / "kv_events.jsonl"


@dataclass(frozen=True)
class ClockedPass:
    """One pass; rows in send order, hits in tokens.

    Attributes:
        served: the model, led by the recorded steps.
        told: what the events themselves tell that each request hit, -1 where they do not, shape (n,).
        measured: what the server answered, -1 where it did not say, shape (n,).
        input_tokens: shape (n,).
        clock: the record.
        answers: the plan's rows beside what was answered, one a request.
    """

    served: InflightServed
    told: Counts
    measured: Counts
    input_tokens: Counts
    clock: KvClock
    answers: pl.DataFrame

    @property
    def hits(self) -> Counts:
        """Hits clocked by the recorded events: what they tell, and of requests that store nothing, of which they are
        silent, the model led by their steps, shape (n,)."""
        return np.where(self.told >= 0, self.told, self.served.hits)

    @property
    def deviation(self) -> float | None:
        """Hit ratio of the model led by the recorded steps minus the measured one, 0-1; None if an answer does not
        tell its cached tokens."""
        if (self.measured < 0).any() or not len(self.measured):
            return None
        return float((self.served.hits.sum() - self.measured.sum()) / self.input_tokens.sum())


def clocked_pass(run_dir: Path, pass_name: str, settings: SchedulerSettings | None = None) -> ClockedPass:
    """Replay a pass from an empty cache on, the prompts sent before the measured interval included.

    Args:
        run_dir: of a run with ``--kv-events`` and with the dataset's prompts.
        settings: of the server; None: what it told, else vLLM's defaults.

    Raises:
        InputError: no such run, no events, or sizes that are not known.
    """
    run = load_run(run_dir)
    measured_rows = read_events(run_dir / EVENTS, pass_name)
    if not measured_rows:
        raise InputError(
            f"no KV events were recorded in the pass {pass_name}", field="run_dir", remedy="run again with --kv-events."
        )
    if settings is None:
        servers = run.run.get("servers") or [{}]
        settings = SchedulerSettings.of_server(servers[0])
    traces = read_dataset_traces(run_dir / "dataset", Matching(CHAINED, settings.block_size), with_keys=True)
    assert traces.keys is not None
    domains = 1 + max(int(traces.plan["planned_dp_id"].max() or 0), *(int(row["domain"]) for row in measured_rows))  # type: ignore[arg-type]
    # Null: an open loop without a bound, whose requests may all be in flight.
    stated = (run.run.get("options") or {}).get("concurrency", 1)
    concurrency = max(run.plan.height, 1) if stated is None else int(stated)
    model = InflightModel(settings, domains)
    before = read_events(run_dir / EVENTS, pass_name, "warmup")
    if before:
        trace, homes = _sent_before(traces, pass_name, (run.run.get("options") or {}).get("limit"))
        steps = clock_of(trace, traces.keys, before).steps
        serve_clocked(model, trace, steps, concurrency=concurrency, domains=homes)
    answers = run.measured(pass_name)
    requests, homes = traces.requests, _homes(traces.plan)
    if answers.height < len(requests):  # a bound of the load kept the others back
        sent = np.flatnonzero(run.plan["request_id"].is_in(answers["request_id"].implode()).to_numpy())
        requests, homes = requests.take(sent), homes[sent]
    clock = clock_of(requests, traces.keys, measured_rows, answers.select("sent_s", "last_token_s"))
    served = serve_clocked(model, requests, clock.steps, concurrency=concurrency, domains=homes)
    told = np.where(clock.hit_blocks >= 0, clock.hit_blocks * settings.block_size, -1)
    return ClockedPass(served, told, _measured(answers), requests.input_tokens, clock, answers)


def _sent_before(traces: DatasetTraces, pass_name: str, limit: int | None) -> tuple[Trace, Numbers]:
    """The warmup prompts, in all rounds, or the requests themselves (the first ``limit``) before a replay."""
    if pass_name == "replay":
        first = np.arange(len(traces.requests))[:limit]
        return traces.requests.take(first), _homes(traces.plan)[first]
    rounds = int((traces.manifest.get("execution") or {}).get("warmup_rounds") or 1)
    rows = np.tile(np.arange(len(traces.warmup)), rounds)
    return traces.warmup.take(rows), np.tile(_homes(traces.warm_plan), rounds)


def _homes(plan: pl.DataFrame) -> Numbers:
    homes: Numbers = plan["planned_dp_id"].to_numpy().astype(np.int32)
    return homes


def _measured(answers: pl.DataFrame) -> Counts:
    found: Counts = answers["cached_tokens"].cast(pl.Int64).fill_null(-1).to_numpy()
    return found
