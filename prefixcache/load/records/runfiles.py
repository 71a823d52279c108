"""run.json, performance_metrics.json and prefix_cache_metrics.json of a run."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from prefixcache.analysis.performance import summarise, summarise_by
from prefixcache.engines.endpoint import parse_endpoint, redact
from prefixcache.engines.server import ServerFacts
from prefixcache.engines.snapshot import metrics_source
from prefixcache.errors import PrefixCacheError, of_system
from prefixcache.load.dataset import RunDataset
from prefixcache.load.isolation import Isolator
from prefixcache.load.options import RunOptions, RunStatus, RunSummary
from prefixcache.load.passes import Bench, PassResult
from prefixcache.load.preflight.checks import Preflight
from prefixcache.load.preflight.facts import plan_facts
from prefixcache.load.records.store import RunStore
from prefixcache.logs import log

SCHEMA_VERSION = 1


class RunFiles:
    """The files of ``runtime/`` that are written as a whole, again after every step.

    Args:
        dataset, options: of the run; of the options only what may be seen is written.
        store: where they go.
        secrets: strings that are taken out of an error's text.
    """

    def __init__(self, dataset: RunDataset, options: RunOptions, store: RunStore, secrets: tuple[str, ...]) -> None:
        self.dataset = dataset
        self.options = options
        self.store = store
        self.secrets = secrets
        self.started = _now()
        self.results: list[PassResult] = []
        self.bench: Bench | None = None
        self.servers: tuple[ServerFacts, ...] = ()
        self.preflight: dict[str, Any] | None = None
        self.plan: dict[str, Any] | None = None
        self.isolator: Isolator | None = None
        self.kv_events: dict[str, Any] | None = None
        self.engine_warmup: dict[str, Any] | None = None

    def begin(self, bench: Bench, found: Preflight, isolator: Isolator) -> None:
        self.bench, self.isolator = bench, isolator
        self.servers, self.preflight = found.servers, found.to_json()
        self.plan = plan_facts(self.dataset, bench.gating, bench.pace.in_flight, pace=bench.pace)
        self.write("partial")

    def add(self, result: PassResult) -> None:
        self.results.append(result)
        log("metrics").info(
            "dataset %s, pass %s: counters of %d endpoints, %s of %s query tokens hit, %s expected",
            *(self.dataset.dataset_id, result.name, len(self.servers), result.figures["measured_hit_tokens"]),
            *(result.figures["measured_query_tokens"], result.figures["expected_hit_tokens"]),
        )
        self._write_figures()
        self.write("partial")

    def finish(self) -> RunSummary:
        failed = sum(r.failed for r in self.results)
        whole = all(r.counted for r in self.results)
        status: RunStatus = "failed" if failed else "complete" if whole else "partial"
        self._write_figures()
        self.store.close(complete=True)
        self.write(status, finished=True)
        return RunSummary(
            status=status,
            run_dir=self.store.run_dir,
            dataset_id=self.dataset.dataset_id,
            requests=sum(len(r.records) + len(r.warmup) for r in self.results),
            failed_requests=failed,
            passes=tuple(_pass_summary(r) for r in self.results),
            warnings=tuple(self._warnings()),
        )

    def abandon(self, error: BaseException) -> None:
        """A run that stopped half-way: what it has stays, and nothing looks whole."""
        self.store.close(complete=False)
        interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
        if (
            isinstance(error, OSError) and error.errno is not None
        ):  # a full disk, say: with its remedy, as the command line tells it
            error = of_system(error)
        if isinstance(error, PrefixCacheError):
            error.located(stage="run_benchmark", dataset_id=self.dataset.dataset_id)
            what: dict[str, Any] = error.as_json()
        else:
            what = {"message": "interrupted" if interrupted else f"{type(error).__name__}: {error}"}
        what = {k: redact(v, self.secrets) if isinstance(v, str) else v for k, v in what.items()}
        with contextlib.suppress(OSError):  # a disk without room for run.json: the error itself is what matters
            self.write("partial" if interrupted else "failed", what, finished=True)

    def write(self, status: RunStatus, error: dict[str, Any] | None = None, *, finished: bool = False) -> None:
        dataset, bench = self.dataset, self.bench
        self.store.write(
            "run.json",
            {
                "schema_version": SCHEMA_VERSION,
                "prefixcache_version": version("prefixcache"),
                "status": status,
                "error": error,
                "started_at": self.started,
                "finished_at": _now() if finished else None,
                "dataset_id": dataset.dataset_id,
                "execution_mode": dataset.mode,
                "options": _shown(self.options, bench),
                "isolation": self.isolator.to_json() if self.isolator else None,
                "servers": [s.to_json() for s in self.servers],
                "preflight": self.preflight,
                "requests": bench.sent if bench else 0,
                "failed_requests": bench.failed if bench else 0,
                "passes": [_pass_summary(r) for r in self.results],
                "plan": self.plan,
                "kv_events": self.kv_events,
                "engine_warmup": self.engine_warmup,
                "warnings": self._warnings(),
            },
        )

    def _warnings(self) -> list[dict[str, Any]]:
        return [dict(w) for w in self.bench.warnings] if self.bench else []

    def _write_figures(self) -> None:
        head = {"schema_version": SCHEMA_VERSION, "dataset_id": self.dataset.dataset_id}
        self.store.write("performance_metrics.json", {**head, "passes": [_performance(r) for r in self.results]})
        self.store.write("prefix_cache_metrics.json", {**head, "passes": [r.figures for r in self.results]})


def _performance(result: PassResult) -> dict[str, Any]:
    rows = [r.to_row() for r in result.records]
    return {
        "pass": result.name,
        **summarise(rows, result.duration_s),
        "chain": result.chain,
        "load": result.load,
        "by_endpoint": summarise_by(rows, "endpoint", result.duration_s),
        "by_group": summarise_by(rows, "prefix_group_id", result.duration_s),
        "by_domain": summarise_by(rows, "planned_dp_id", result.duration_s),
        "warmup_requests": len(result.warmup),
        "warmup_failed": sum(r.status != "ok" for r in result.warmup),
    }


def _pass_summary(result: PassResult) -> dict[str, Any]:
    names = (
        "designed_hit_ratio",
        "actual_hit_rate",
        "expected_hit_tokens",
        "measured_hit_tokens",
        "measured_query_tokens",
    )
    return {
        "name": result.name,
        **{name: result.figures[name] for name in names},
        "requests": len(result.records),
        "failed_requests": sum(r.status != "ok" for r in result.records),
        "warmup_requests": len(result.warmup),
        "warmup_failed": sum(r.status != "ok" for r in result.warmup),
        "duration_s": result.duration_s,
        "chain": result.chain,
        "sending": result.sending,
        "order": result.order,
        "residue": result.figures["residue"],
        "isolation": result.figures["isolation"],
    }


def _shown(options: RunOptions, bench: Bench | None) -> dict[str, Any]:
    """The options as they may be written down: no credentials, no query of a URL."""
    return {
        "urls": [parse_endpoint(url).base for url in options.urls],
        "metrics_urls": [metrics_source(url).label for url in options.metrics_urls],
        "model": redact(bench.client.model, bench.client.secrets) if bench else options.model,
        "concurrency": bench.pace.in_flight if bench else options.concurrency,
        "load": bench.pace.shape.text if bench else options.load,
        "max_in_flight": options.max_in_flight,
        "duration_s": options.duration,
        "limit": options.limit,
        "gating": bench.gating if bench else options.gating,
        "send": bench.client.send if bench else options.send,
        "isolation": options.isolation,
        "allow_residue": options.allow_residue,
        "without_prompts": options.without_prompts,
        "slo": options.slo,
        "kv_events": bool(options.kv_events),
        "tls": {"insecure": options.connection.insecure, "own_authorities": options.connection.ca_file is not None},
        "proxy": options.connection.proxy is not None,
        "timeouts_s": {
            "connect": options.timeouts.connect,
            "idle": options.timeouts.idle,
            "first_byte": options.timeouts.first_byte,
            "total": options.timeouts.total,
        },
        "processes": bench.carrier.processes if bench else options.sending.processes,
        "api": options.sending.api,
        "headers": sorted(options.sending.headers),
        "extra_body": sorted(options.sending.extra_body),
        "retries": options.sending.retries.most,
        "engine_warmup": options.sending.engine_warmup,
        "poll_interval_s": options.poll_interval,
        "sampling": options.sending.sampling,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
