"""One pass: empty the cache and prove it, warm it if the pass is hot, measure between two snapshots."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from prefixcache.engines.adapter import Quantity
from prefixcache.engines.aggregate import aggregate
from prefixcache.engines.endpoint import Endpoint
from prefixcache.engines.server import ResetOutcome, reset_cache
from prefixcache.engines.snapshot import Snapshot
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.load.client import CompletionClient
from prefixcache.load.dataset import RunDataset
from prefixcache.load.facts import pass_chain, warm_lanes
from prefixcache.load.figures import pass_figures
from prefixcache.load.gate import Chain, Gates, Gating, Lane
from prefixcache.load.monitor import Monitor
from prefixcache.load.options import Progress, ProgressCallback, RunOptions
from prefixcache.load.preflight import CHECKED_PROMPTS, wrong_token_count
from prefixcache.load.records import RequestRecord
from prefixcache.load.residue import Residue
from prefixcache.load.routes import Router
from prefixcache.load.sender import Sender
from prefixcache.load.store import RunStore


@dataclass(slots=True)
class Bench:
    """Everything a pass needs; one per run. ``metrics_labels`` name the endpoints' metrics pages, in their order."""

    dataset: RunDataset
    options: RunOptions
    http: httpx.AsyncClient
    client: CompletionClient
    endpoints: Sequence[Endpoint]
    metrics_labels: Sequence[str]
    router: Router
    monitor: Monitor
    store: RunStore
    concurrency: int
    gating: Gating
    progress: ProgressCallback | None = None
    warnings: list[dict[str, str]] = field(default_factory=list)
    sent: int = 0
    failed: int = 0

    def warn(self, code: str, message: str, pass_name: str | None = None) -> None:
        """Note something for run.json, once."""
        warning = {"code": code, "message": message} | ({"pass": pass_name} if pass_name else {})
        if warning not in self.warnings:
            self.warnings.append(warning)

    def tell(self, event: Progress) -> None:
        if self.progress is not None:
            self.progress(event)


@dataclass(slots=True)
class PassResult:
    """A measured pass: its records, its entry in prefix_cache_metrics.json, its length in seconds."""

    name: str
    duration_s: float
    records: list[RequestRecord]
    warmup: list[RequestRecord]
    figures: dict[str, Any]
    chain: dict[str, Any]

    @property
    def failed(self) -> int:
        return sum(r.status != "ok" for r in (*self.records, *self.warmup))


class PassRunner:
    """Runs one pass of a bench."""

    def __init__(self, bench: Bench, name: str) -> None:
        self.bench = bench
        self.name = name
        self.records: list[RequestRecord] = []
        self.warmup: list[RequestRecord] = []
        self._failed = 0
        self._total = 0
        self.residue = Residue(bench.dataset.requests if name == "cold" else ())
        self.links = pass_chain(bench.dataset, name, bench.gating)

    async def run(self) -> PassResult:
        """Reset, warm up, measure.

        Raises:
            InputError: the cache cannot be proven empty, or the server counts other tokens than planned.
            EnvironmentFailure: the server is gone.
        """
        bench = self.bench
        await self._idle("before the reset")
        resets = await self._reset()
        warm = await self._warm() if self.name == "hot" else None
        before = await bench.monitor.snapshot()
        began = time.perf_counter()
        async with bench.monitor.polling(self.name, began) as usage:
            await self._measure(began, warm, before)
            duration = time.perf_counter() - began
        if usage.error is not None:
            bench.warn("polling_stopped", usage.error, self.name)
        await self._idle("after the pass")
        after = await bench.monitor.snapshot()
        for text in (*before.warnings, *after.warnings):
            bench.warn("metrics", text, self.name)
        aggregation = aggregate(bench.monitor.adapter, before, after)
        figures = pass_figures(bench.dataset, self.name, aggregation, self.records, bench.router, bench.metrics_labels)
        if self.name == "cold":
            self.residue.total(figures["measured_hit_tokens"], figures["expected_hit_tokens"])
        figures |= {
            "kv_usage": usage.to_json(),
            "residue": self.residue.to_json(),
            "reset": [r.to_json() for r in resets],
        }
        self._final_warnings(figures)
        chain = {"longest": self.links.longest, "permitted_mean_concurrency": self.links.mean_concurrency}
        return PassResult(self.name, duration, self.records, self.warmup, figures, chain)

    async def _reset(self) -> list[ResetOutcome]:
        bench = self.bench
        bench.tell(Progress(self.name, "reset", 0, len(bench.endpoints)))
        adapter = bench.monitor.adapter
        pages = (await bench.monitor.snapshot()).pages.values()
        external = any(adapter.value(Quantity.EXTERNAL_QUERIES, page) for page in pages)
        key = bench.client.api_key
        outcomes = await asyncio.gather(
            *(reset_cache(bench.http, e, adapter, external=external, api_key=key) for e in bench.endpoints)
        )
        for outcome in outcomes:
            if outcome.answer == "unconfirmed":
                text = f"{outcome.endpoint} answered HTTP 200 to the reset but does not say whether it was done"
                bench.warn("reset_unconfirmed", text, self.name)
            elif outcome.answer != "done":
                self._not_reset(outcome)
        return list(outcomes)

    def _not_reset(self, outcome: ResetOutcome) -> None:
        bench, route = self.bench, self.bench.monitor.adapter.reset
        what = {
            "absent": f"it has no route {route.path} (HTTP {outcome.http_status})",
            "busy": "requests were still running there",
        }.get(outcome.answer, f"the reset failed ({outcome.http_status or outcome.detail})")
        text = f"the prefix cache of {outcome.endpoint} cannot be proven empty: {what}"
        if outcome.http_status is None:
            raise EnvironmentFailure(
                text, field="url", remedy="Check that the server still runs.", stage="run_benchmark"
            )
        if not bench.options.allow_residue:
            remedy = route.remedy if outcome.answer == "absent" else "wait until no other client uses the server"
            raise InputError(
                text,
                field="url",
                remedy=f"{remedy[0].upper()}{remedy[1:]}; --allow-residue measures anyway.",
                stage="run_benchmark",
                dataset_id=bench.dataset.dataset_id,
            )
        bench.warn("cache_not_reset", text, self.name)

    async def _warm(self) -> dict[Lane, int]:
        """Send each lane's warmup prompt; returns the lanes that are really warm."""
        bench = self.bench
        lanes = warm_lanes(bench.dataset)
        prompts = bench.dataset.warmup
        self._total = len(prompts) * bench.dataset.warmup_rounds
        sender = self._sender(time.perf_counter())
        for _ in range(bench.dataset.warmup_rounds):
            gates = Gates([p.item for p in prompts], "none")
            await sender.send(prompts, "warmup", gates)
        await self._idle("after the warmup")
        warm_ids = {r.request_id for r in self.warmup if r.status == "ok"}
        cold = [p for p in prompts if p.request_id not in warm_ids]
        if cold:
            bench.warn("warmup_failed", f"{len(cold)} of {len(prompts)} warmup prompts failed", self.name)
        return {lane: prefix for lane, prefix in lanes.items() if lane not in {p.item.lane for p in cold}}

    async def _measure(self, began: float, warm: dict[Lane, int] | None, before: Snapshot) -> None:
        bench = self.bench
        requests = bench.dataset.requests
        self._total, self._failed = len(requests), 0
        gates = Gates([r.item for r in requests], bench.gating, head=bench.dataset.head, warm=warm)
        bench.tell(Progress(self.name, "measured", 0, self._total, note=_chain_note(bench.gating, self.links)))
        sender = self._sender(began)
        if bench.concurrency == 1 and self.name == "cold":
            # With one slot the counters after the first request belong to it alone.
            await sender.send(requests[:1], "measured", Gates([requests[0].item], "none"))
            await self._first_by_counters(before)
            if self.records[0].first_token_s is not None:
                gates.first_token(0)
            gates.ended(0)
            await sender.send(requests, "measured", gates, start=1)
        else:
            await sender.send(requests, "measured", gates)

    async def _first_by_counters(self, before: Snapshot) -> None:
        after = await self.bench.monitor.snapshot()
        aggregation = aggregate(self.bench.monitor.adapter, before, after)
        self.residue.first_alone(aggregation.total.delta(Quantity.HITS))

    def _sender(self, began: float) -> Sender:
        bench = self.bench
        return Sender(bench.dataset, bench.client, bench.router, bench.concurrency, self.name, began, self._on_record)

    def _on_record(self, record: RequestRecord) -> None:
        bench = self.bench
        kept = self.warmup if record.phase == "warmup" else self.records
        kept.append(record)
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

    def _check_tokens(self, record: RequestRecord) -> None:
        if len(self.records) > CHECKED_PROMPTS or record.status != "ok" or record.prompt_tokens is None:
            return
        if record.prompt_tokens != record.input_len:
            planned = next(r for r in self.bench.dataset.requests if r.request_id == record.request_id)
            raise wrong_token_count(self.bench.dataset, planned, record.prompt_tokens, record.endpoint)

    def _final_warnings(self, figures: dict[str, Any]) -> None:
        warn = self.bench.warn
        if self.residue.evidence:
            warn("residue", "; ".join(self.residue.evidence), self.name)
        failures = Counter(r.status for r in self.records if r.status != "ok")
        if failures:
            text = ", ".join(f"{n} {status}" for status, n in failures.items())
            warn("requests_failed", f"{text} of {len(self.records)} requests", self.name)
        broken = sum(r.gate_broken for r in self.records)
        if broken:
            warn("gate_broken", f"{broken} requests were sent with nothing before them to hit", self.name)
        for reason in figures["prompt_token_check"]["explanation"]:
            warn("prompt_tokens", reason, self.name)
        for note in figures["global"]["notes"]:
            warn("counters", note, self.name)
        if figures["status"] != "complete":
            warn("counters_incomplete", f"the counters of this pass are {figures['status']}", self.name)
        for row in figures["domains"] if self.bench.router.domains > 1 else ():
            if row["route_confirmed"] is False and not failures:
                text = (
                    f"cache domain {row['domain']} was asked for {row['measured_query_tokens']} tokens, planned are "
                    f"{row['planned_input_tokens']}: requests went elsewhere, or others came"
                )
                warn("route", text, self.name)

    async def _idle(self, when: str) -> None:
        self.bench.tell(Progress(self.name, "quiesce", 0, 1))
        if not await self.bench.monitor.idle(self.bench.options.quiesce_timeout):
            timeout = self.bench.options.quiesce_timeout
            self.bench.warn("not_idle", f"the server was not idle within {timeout:g} s {when}", self.name)


def _chain_note(gating: Gating, links: Chain) -> str:
    return (
        f"gating {gating}: the longest chain is {links.longest} of {links.requests} requests, which permits a mean "
        f"concurrency of {links.mean_concurrency:.1f}"
    )
