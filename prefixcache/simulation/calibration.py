"""The pace of a run: its own requests served by the model until the model's times are the run's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from prefixcache.analysis.rundir import RunDirectory
from prefixcache.cache.models.inflight import InflightServed, Pace
from prefixcache.dataset.as_traces import DatasetTraces, read_dataset_traces
from prefixcache.errors import InputError
from prefixcache.simulation.dataset import matching_of
from prefixcache.simulation.engines import VLLM, Engine
from prefixcache.simulation.like import LIMITS, resolve
from prefixcache.simulation.pace import PaceFit, fit_pace
from prefixcache.simulation.passes import Server, serve_in_flight
from prefixcache.simulation.routes import Routing, routing_of

SERVER = ("engine", "block_size", "num_blocks", *LIMITS)
MOST = 1000
"""Requests that are looked at, the first of the pass: hundreds of paces are tried."""


@dataclass(frozen=True)
class RunPace:
    """The fitted pace of a run's pass."""

    fit: PaceFit
    pass_name: str

    @property
    def pace(self) -> Pace:
        return self.fit.pace

    def to_json(self) -> dict[str, Any]:
        return {"pass": self.pass_name, **self.fit.to_json()}


def fit_run(run: RunDirectory, given: Mapping[str, Any]) -> RunPace:
    """Fit the pace to the first pass of a run.

    Args:
        given: options of a simulation; here they stand in only for what the run does not tell.

    Raises:
        InputError: the run's server or client is not modelled, or too few of its answers tell their times.
    """
    of_server = {name: value for name, value in given.items() if name in SERVER}
    options = resolve(run, run.manifest, of_server, run_first=True).options
    if options["engine"] != VLLM or options["num_blocks"] is None:
        raise _cannot("the pace of vLLM's scheduler is fitted, the run's server is another")
    if (run.run.get("options") or {}).get("concurrency") is None:
        raise _cannot("the run sent at given times (open loop), which is not modelled")
    name = run.passes[0]
    answers = run.measured(name)
    if answers.height < run.plan.height:
        raise _cannot("the run sent only a part of its dataset")
    traces = read_dataset_traces(run.path / "dataset", matching_of(VLLM, options["block_size"], run.manifest))
    routes = routing_of(run.manifest, traces.plan, traces.warm_plan, domains=options["domains"], policy=None)
    count = min(MOST, answers.height, len(traces.requests))
    traces, routes = _first(traces, routes, count)
    server = Server(
        Engine.named(VLLM, int(run.manifest.get("hit_drop") or 0)),
        options["num_blocks"],
        options["concurrency"],
        options["gating"],
        {limit: options[limit] for limit in LIMITS},
    )

    def play(pace: Pace) -> InflightServed:
        return serve_in_flight(name, traces, routes, replace(server, pace=pace))

    return RunPace(fit_pace(play, answers.head(count)), name)


def _first(traces: DatasetTraces, routes: Routing, count: int) -> tuple[DatasetTraces, Routing]:
    """The first requests of a pass; warmup prompts stay."""
    part = replace(traces, requests=traces.requests.part(0, count), plan=traces.plan.head(count))
    return part, replace(routes, domains=routes.domains[:count])


def _cannot(why: str) -> InputError:
    return InputError(why, field="--calibrate", remedy="leave it out: the default pace is taken.")
