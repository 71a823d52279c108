"""One pass: keep it apart from what was cached before, send what its mode sends first, measure between snapshots."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from prefixcache.engines.aggregate import aggregate
from prefixcache.engines.endpoint import Endpoint, redact
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.snapshot import Snapshot
from prefixcache.errors import PLACES, EnvironmentFailure
from prefixcache.load.counters.figures import pass_figures
from prefixcache.load.counters.kv_recorder import KvRecorder
from prefixcache.load.counters.monitor import Monitor, UsageStats
from prefixcache.load.counters.residue import Residue
from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.findings.load_figures import load_figures, sending_figures
from prefixcache.load.findings.load_troubles import warn_of_load
from prefixcache.load.findings.sender_troubles import warn_of_sending
from prefixcache.load.findings.stage_figures import stage_figures
from prefixcache.load.findings.troubles import warn_of_pass
from prefixcache.load.isolation import Isolator, PassIsolation
from prefixcache.load.options import Progress, ProgressCallback, RunOptions
from prefixcache.load.preflight.checks import CHECKED_PROMPTS, wrong_token_count
from prefixcache.load.preflight.facts import pass_chain, pass_gating, warm_lanes
from prefixcache.load.records.rows import Phase, RequestRecord
from prefixcache.load.records.sampler import Sampler, counted
from prefixcache.load.records.series import Mark, Sample
from prefixcache.load.records.store import RunStore
from prefixcache.load.request.client import CompletionClient
from prefixcache.load.sending.carrier import Carrier, Sends
from prefixcache.load.sending.gate import Chain, Gates, Gating, Lane
from prefixcache.load.sending.order_proof import order_proof
from prefixcache.load.sending.pace import Pace, Unsent, steady
from prefixcache.load.sending.routes import Router
from prefixcache.load.sending.sender import Sender
from prefixcache.load.sending.waiting import InFlight, noted


@dataclass(slots=True)
class Bench:
    """Everything a pass needs; one per run. ``metrics_labels`` name the endpoints' metrics pages, in their order.

    ``pace`` is that of the measured requests; what is sent unmeasured goes through ``concurrency`` slots.
    """

    dataset: RunDataset
    options: RunOptions
    http: httpx.AsyncClient
    client: CompletionClient
    endpoints: Sequence[Endpoint]
    metrics_labels: Sequence[str]
    router: Router
    carrier: Carrier
    monitor: Monitor
    store: RunStore
    concurrency: int
    pace: Pace
    gating: Gating
    progress: ProgressCallback | None = None
    recorder: KvRecorder | None = None
    warnings: list[dict[str, str]] = field(default_factory=list)
    sent: int = 0
    failed: int = 0
    began: float = field(default_factory=time.perf_counter)

    def warn(self, code: str, message: str, pass_name: str | None = None, **places: Any) -> None:
        """Note something for run.json, once; ``places``: those of an error, where somebody has to act (RFC 3.4.3)."""
        warning: dict[str, Any] = {"code": code, "message": message} | ({"pass": pass_name} if pass_name else {})
        if places:
            warning |= dict.fromkeys(PLACES) | {"dataset_id": self.dataset.dataset_id} | places
        if warning not in self.warnings:
            self.warnings.append(warning)

    def mark_events(self, pass_name: str, phase: Phase, began: float) -> None:
        """KV events from now on belong there."""
        if self.recorder is not None:
            self.recorder.mark(pass_name, phase, began)

    def tell(self, event: Progress) -> None:
        if self.progress is not None:
            self.progress(event)


@dataclass(slots=True)
class PassResult:
    """A measured pass: its records, its entry in prefix_cache_metrics.json, its length in seconds.

    ``sending``: how many requests of how many were sent, and why the others were not; ``load``: how it was loaded;
    ``order``: the proof of the order sent.
    """

    name: str
    duration_s: float
    records: list[RequestRecord]
    warmup: list[RequestRecord]
    figures: dict[str, Any]
    chain: dict[str, Any]
    sending: dict[str, Any]
    load: dict[str, Any]
    order: dict[str, Any]

    @property
    def counted(self) -> bool:
        """The counters tell the whole interval of the whole service."""
        check = self.figures["prompt_token_check"]
        queries = check["server_query_tokens"]
        known = self.figures["status"] == "complete" and self.figures["actual_hit_rate"] is not None
        return known and (queries is None or queries >= check["sent_tokens"])

    @property
    def failed(self) -> int:
        return sum(r.status != "ok" for r in (*self.records, *self.warmup))


class PassRunner:
    """Runs one pass of a bench."""

    def __init__(self, bench: Bench, name: str, isolator: Isolator) -> None:
        self.bench = bench
        self.name = name
        self.isolator = isolator
        self.client: Sends = bench.carrier.client(bench.client)
        self.contents = isolator.contents_of(name)
        self.gating = pass_gating(bench.dataset, name, bench.gating)
        self.records: list[RequestRecord] = []
        self.warmup: list[RequestRecord] = []
        self.in_flight = InFlight()
        self.sampler = Sampler(name, bench.began, self._on_sample)
        self.unsent: dict[int, Unsent] = {}
        self._failed = 0
        self._total = 0
        self._load_s = 0.0  # when the load begins, behind the request that a cold pass sends alone
        self.residue = Residue(bench.dataset.requests if name == "cold" else ())
        self.links = pass_chain(bench.dataset, name, bench.gating)

    async def run(self) -> PassResult:
        """Isolate, prepare, measure.

        Raises:
            InputError: the pass cannot be isolated, or the server counts other tokens than planned.
            EnvironmentFailure: the server is gone.
        """
        bench = self.bench
        await self._idle("before the pass")
        isolation = await self.isolator.prepare(self.name)
        self.client = bench.carrier.client(replace(bench.client, salt=isolation.salt))
        idle = bench.options.timeouts.idle
        async with self.in_flight.watched(idle, lambda note: self._waiting("warmup", note)):
            warm = await self._prepare()
        before = await bench.monitor.snapshot()
        began = time.perf_counter()
        bench.mark_events(self.name, "measured", began)
        watched = self.in_flight.watched(idle, lambda note: self._waiting("measured", note))
        self.sampler.begin("measured", len(bench.dataset.requests), began)

        def see(now: Snapshot, usage: UsageStats, mark: Mark | None = None) -> None:
            self.sampler.saw(counted(bench.monitor.adapter, now, bench.monitor.between(before, now, usage)), mark)

        polling = bench.monitor.polling(self.name, began, see)
        async with watched, self.sampler.ticking(), polling as usage:
            await bench.carrier.health()  # what was before is of no concern
            await self._measure(began, warm, before)
            health = await bench.carrier.health()
            duration = time.perf_counter() - began
        self.sampler.mark("end")
        if usage.error is not None:
            bench.warn("polling_stopped", redact(usage.error, bench.client.secrets), self.name)
        await self._idle("after the pass")
        after = await bench.monitor.snapshot(usage)
        see(after, usage, "counted")
        for text in (*before.warnings, *after.warnings):
            bench.warn("metrics", text, self.name)
        aggregation = bench.monitor.between(before, after, usage)
        sent = [request for number, request in enumerate(bench.dataset.requests) if number not in self.unsent]
        figures = pass_figures(
            bench.dataset, self.name, aggregation, self.records, bench.router, bench.metrics_labels, sent
        )
        self.residue.total(figures["measured_hit_tokens"], figures["expected_hit_tokens"])
        figures |= {"kv_usage": usage.to_json(), "residue": self.residue.to_json(), **self._isolation(isolation)}
        warn_of_pass(bench, self.name, figures, self.records, self.residue)
        load = load_figures(bench.pace, self.records)
        load |= {"processes": bench.carrier.processes, "sender": health.to_json()}
        load["stages"] = stage_figures(bench.pace, self.records, self._load_s)
        warn_of_load(bench, self.name, load, self.records)
        warn_of_sending(bench, self.name, self.records, health)
        chain = {"longest": self.links.longest, "permitted_mean_concurrency": self.links.mean_concurrency}
        planned, within = bench.dataset.planned_requests, len(bench.dataset.requests)
        sending = sending_figures(planned, len(sent), self.unsent, within)
        order = order_proof(bench.dataset.requests, self.records)
        return PassResult(self.name, duration, self.records, self.warmup, figures, chain, sending, load, order)

    def _waiting(self, phase: str, note: str) -> None:
        done = len(self.warmup if phase == "warmup" else self.records)
        self.bench.tell(Progress(self.name, phase, done, self._total, self._failed, note))

    def _isolation(self, isolation: PassIsolation) -> dict[str, Any]:
        """For prefix_cache_metrics.json. ``verified``: by measurement; null for a pass that is not cold."""
        detected = self.residue.detected
        verified = None if self.name != "cold" or detected is None else not detected
        return {
            "isolation": {**isolation.to_json(), "verified": verified},
            "reset": [r.to_json() for r in isolation.resets],
        }

    async def _prepare(self) -> dict[Lane, int] | None:
        """Send what stands before the measured interval; returns the lanes that are warm, None for a cold start."""
        match self.bench.dataset.prepared_by(self.name):
            case "warmup":
                return await self._warm()
            case "replay":
                await self._unmeasured(self.bench.dataset.requests, "requests of the replayed set")
                return {}
            case _:
                return None

    async def _warm(self) -> dict[Lane, int]:
        """Send each lane's warmup prompt; returns the lanes that are really warm."""
        lanes = warm_lanes(self.bench.dataset)
        cold = {p.item.lane for p in await self._unmeasured(self.bench.dataset.warmup, "warmup prompts")}
        return {lane: prefix for lane, prefix in lanes.items() if lane not in cold}

    async def _unmeasured(self, prompts: Sequence[Planned], what: str) -> list[Planned]:
        """Send all, in as many rounds as the mode has; returns those that never got an answer."""
        bench = self.bench
        rounds = bench.dataset.warmup_rounds if bench.dataset.prepared_by(self.name) == "warmup" else 1
        self._total = len(prompts) * rounds
        began = time.perf_counter()
        bench.mark_events(self.name, "warmup", began)
        sender = self._sender(began, steady(bench.concurrency))
        self.sampler.begin("warmup", self._total, began)
        async with self.sampler.ticking(1.0):
            for _ in range(rounds):
                gates = Gates([p.item for p in prompts], "none")
                await sender.send(prompts, "warmup", gates)
        self.sampler.mark("end")
        await self._idle("after the warmup")
        answered = {r.request_id for r in self.warmup if r.status == "ok"}
        missing = [p for p in prompts if p.request_id not in answered]
        if missing:
            bench.warn("warmup_failed", f"{len(missing):,} of {len(prompts):,} {what} failed", self.name)
        return missing

    async def _measure(self, began: float, warm: dict[Lane, int] | None, before: Snapshot) -> None:
        bench = self.bench
        requests = bench.dataset.requests
        self._total, self._failed = len(requests), 0
        gates = Gates([r.item for r in requests], self.gating, head=bench.dataset.head, warm=warm)
        bench.tell(Progress(self.name, "measured", 0, self._total, note=_chain_note(self.gating, self.links)))
        sender = self._sender(began, bench.pace)
        if self.name == "cold":
            # Sent alone, so that the counters after it are its own: they must show no hit. The load begins after it.
            alone = self._sender(began, steady(1))
            await alone.send(requests[:1], "measured", Gates([requests[0].item], "none"))
            if self.records[0].status == "ok":
                await self._first_by_counters(before)
            self._stop_at_residue()
            if self.records[0].first_token_s is not None:
                gates.first_token(0)
            gates.ended(0)
            self.sampler.mark("load")
            self._load_s = time.perf_counter() - began
            self.unsent = await sender.send(requests, "measured", gates, start=1)
        else:
            self._load_s = time.perf_counter() - began
            self.unsent = await sender.send(requests, "measured", gates)

    async def _first_by_counters(self, before: Snapshot) -> None:
        after = await self.bench.monitor.snapshot()
        aggregation = aggregate(self.bench.monitor.adapter, before, after)
        self.residue.first_alone(aggregation.total.delta(Quantity.HITS))

    def _stop_at_residue(self) -> None:
        """A long run over a cache that is not empty is of no use, whatever the server answered to the reset."""
        if not self.residue.evidence or self.bench.options.allow_residue:
            return
        raise EnvironmentFailure(
            f"the cache was not empty when the pass {self.name} began: {self.residue.evidence[0]}; the run was stopped",
            field="isolation",
            remedy="Restart the server or empty its cache and let nobody else use it, choose --isolation salt, or "
            "measure anyway with --allow-residue.",
            stage="run_benchmark",
            dataset_id=self.bench.dataset.dataset_id,
        )

    def _sender(self, began: float, pace: Pace) -> Sender:
        bench = self.bench
        return Sender(
            self.contents,
            self.client,
            bench.router,
            pace,
            self.name,
            began,
            self._on_record,
            self.in_flight,
            self.sampler,
        )

    def _on_record(self, record: RequestRecord) -> None:
        bench = self.bench
        bench.store.token_times.append(record.pass_name, record.phase, record.request_id, record.token_times)
        record = replace(record, token_times=())  # thousands of long answers are kept on disk, not here
        kept = self.warmup if record.phase == "warmup" else self.records
        kept.append(record)
        self.sampler.ended(record)
        bench.store.results.append(record.to_row())
        bad = record.status != "ok"
        self._failed += bad
        bench.sent += 1
        bench.failed += bad
        bench.tell(Progress(self.name, record.phase, len(kept), self._total, self._failed))
        if record.phase == "measured":
            self._check_tokens(record)
            if self.name == "cold":
                self.residue.see(record)
                # Behind its gate the first request of a domain is overtaken by none from which it could hit.
                if self.bench.dataset.domains > 1 and (self.bench.pace.in_flight == 1 or self.gating == "watermark"):
                    self._stop_at_residue()

    def _on_sample(self, sample: Sample) -> None:
        self.bench.store.series.append(sample)
        self.bench.tell(Progress(self.name, sample.phase, sample.ended, sample.planned, sample.failed, sample=sample))

    def _check_tokens(self, record: RequestRecord) -> None:
        if len(self.records) > CHECKED_PROMPTS or record.status != "ok" or record.prompt_tokens is None:
            return
        if record.prompt_tokens != record.input_len:
            planned = next(r for r in self.bench.dataset.requests if r.request_id == record.request_id)
            raise wrong_token_count(self.bench.dataset, planned, record.prompt_tokens, record.endpoint)

    async def _idle(self, when: str) -> None:
        self.bench.tell(Progress(self.name, "quiesce", 0, 1))
        longest = self.bench.options.quiesce_timeout
        note = (
            f"waiting up to {longest:g} s for the servers to fall idle: requests that are not this run's may be "
            "running there"
        )
        reason = await noted(self.bench.monitor.idle(longest), lambda: self._waiting("quiesce", note))
        if reason is not None:
            self.bench.warn("not_idle", f"{reason} {when}", self.name)


def _chain_note(gating: Gating, links: Chain) -> str:
    return (
        f"gating {gating}: the longest chain is {links.longest:,} of {links.requests:,} requests, which permits a mean "
        f"concurrency of {links.mean_concurrency:.1f}"
    )
