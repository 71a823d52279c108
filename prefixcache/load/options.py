"""What a user may choose for a run, and what a run hands back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from prefixcache.analysis.slo import parse_slo
from prefixcache.engines.http import Connection, Timeouts
from prefixcache.engines.kv_events import events_endpoint
from prefixcache.errors import InputError
from prefixcache.load.counters.metering import Metering
from prefixcache.load.preflight.options import PreflightOptions
from prefixcache.load.records.series import Sample
from prefixcache.load.sending.gate import GATINGS, Gating
from prefixcache.load.sending.options import Sending
from prefixcache.load.shapes.grammar import parse_load
from prefixcache.load.shapes.model import Closed, Shape, closed_loop
from prefixcache.load.shapes.numbers import MOST_SLOTS

MOST_REQUESTS = 1_000_000_000
"""More than any dataset holds; and files keep whole numbers of 64 bits."""
SendChoice = Literal["auto", "text", "ids"]
Isolation = Literal["auto", "reset", "salt", "variant", "none"]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of ``run_benchmark``.

    Args:
        urls: base URLs or full paths of the endpoints; several for several instances.
        metrics_urls: metrics pages; ``/metrics`` of each endpoint if empty.
        model: model name; the server's first if None.
        concurrency, gating: the dataset's if None.
        load: the load's shape (docs/load.md), e.g. ``poisson:200``; None: a closed loop of ``concurrency``.
        max_in_flight: of an open loop, requests in flight at most.
        duration: seconds of the load after which nothing is sent any more; those in flight finish.
        limit: only the first so many requests of the send order.
        send: the prompts as text, or as token ids; ``auto``: as text where the dataset has text.
        isolation: how a pass is kept apart from what was cached before it (``prefixcache.load.isolation``).
        variant_dataset: the same plan with other content, for the second pass of ``compare``.
        allow_residue: go on where the cache cannot be proven empty.
        overwrite: replace the results of an earlier run in the same directory.
        without_prompts: the run directory gets the dataset's manifest, plan and report, but no prompts; those are read
            from where they are.
        slo: thresholds for goodput (``prefixcache.analysis.slo``); they change nothing of how the run goes.
        timeouts: deadlines of a request.
        connection: TLS and proxy.
        kv_events: ``tcp://HOST:PORT`` where the server publishes its KV events, one for each endpoint.
        kv_events_replay: where it repeats them, likewise; may be left out.
        sending: how requests are sent, apart from when.
        metering: how what the servers count is read.
        checks: what is checked before the load.
        poll_interval: seconds between two reads of the gauges.
        quiesce_timeout: how long to wait, in seconds, for the server to fall idle.
        assumed_prefill_tps, assumed_decode_tps: rates in tokens per second for the estimate of a dry run.

    ``api_key`` is never written; without one that of the environment variable ``PREFIXCACHE_API_KEY`` is used.

    Raises:
        InputError: a value that cannot be run with.
    """

    urls: tuple[str, ...] = field(repr=False)
    metrics_urls: tuple[str, ...] = field(default=(), repr=False)
    model: str | None = None
    concurrency: int | None = None
    gating: Gating | None = None
    load: str | None = None
    max_in_flight: int | None = None
    duration: float | None = None
    limit: int | None = None
    send: SendChoice = "auto"
    isolation: Isolation = "auto"
    variant_dataset: Path | None = None
    allow_residue: bool = False
    overwrite: bool = False
    without_prompts: bool = False
    slo: str | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
    connection: Connection = field(default_factory=Connection)
    kv_events: tuple[str, ...] = ()
    kv_events_replay: tuple[str, ...] = ()
    sending: Sending = field(default_factory=Sending)
    metering: Metering = field(default_factory=Metering)
    checks: PreflightOptions = field(default_factory=PreflightOptions)
    api_key: str | None = field(default=None, repr=False)
    poll_interval: float = 1.0
    quiesce_timeout: float = 60.0
    assumed_prefill_tps: float | None = None
    assumed_decode_tps: float | None = None

    def __post_init__(self) -> None:
        if not self.urls:
            raise _wrong("url", "no endpoint was given", "Give --url http://HOST:PORT.")
        if self.gating is not None and self.gating not in GATINGS:
            raise _wrong("gating", f"{self.gating!r} is unknown", f"Choose one of {', '.join(GATINGS)}.")
        for name, known in (("send", get_args(SendChoice)), ("isolation", get_args(Isolation))):
            if getattr(self, name) not in known:
                raise _wrong(name, f"{getattr(self, name)!r} is unknown", f"Choose one of {', '.join(known)}.")
        self._check_variant()
        self._check_events()
        self._check_load()
        for name, most in (("concurrency", MOST_SLOTS), ("max_in_flight", MOST_SLOTS), ("limit", MOST_REQUESTS)):
            number = getattr(self, name)
            if number is not None and not 1 <= number <= most:
                raise _wrong(name, f"{number} is not 1 to {most:,}", "Give a number of requests.")
        if self.slo is not None:
            parse_slo(self.slo)
        if self.poll_interval <= 0:
            raise _wrong("poll_interval", f"{self.poll_interval} is not above 0", "Give seconds between two polls.")

    def _check_load(self) -> None:
        shape = None if self.load is None else parse_load(self.load)
        closed = shape is None or isinstance(shape, Closed)
        if shape is not None and self.concurrency is not None:
            raise _wrong(
                "load",
                f"{self.load} stands beside a concurrency of {self.concurrency}",
                "Write closed:N alone." if closed else "Leave out --concurrency; --max-in-flight bounds an open loop.",
            )
        if self.max_in_flight is not None and closed:
            raise _wrong(
                "max_in_flight",
                "a closed loop is bounded by its concurrency",
                "Leave it out, or give an open load such as poisson:200.",
            )
        if self.duration is not None and not 0 < self.duration < float("inf"):
            raise _wrong("duration", f"{self.duration:g} is no length of time", "Give seconds above 0, e.g. 60.")

    def shape(self, concurrency: int) -> Shape:
        """The load's shape; where none was chosen, that of the chosen or the dataset's concurrency."""
        return closed_loop(self.concurrency or concurrency) if self.load is None else parse_load(self.load)

    def _check_events(self) -> None:
        for name, addresses in (("kv_events", self.kv_events), ("kv_events_replay", self.kv_events_replay)):
            for address in addresses:
                events_endpoint(address, field=name)
            if len(addresses) not in (0, len(self.urls)):
                raise _wrong(
                    _flag(name),
                    f"{len(addresses)} addresses of KV events stand beside {len(self.urls)} endpoints",
                    "Give one for each --url, in the same order.",
                )
        if self.kv_events_replay and not self.kv_events:
            raise _wrong(_flag("kv_events_replay"), "what is not recorded cannot be repeated", "Give --kv-events too.")

    def _check_variant(self) -> None:
        if self.isolation == "variant" and self.variant_dataset is None:
            raise _wrong(
                "isolation",
                "variant needs a second dataset of the same plan",
                "For mode compare generate it with --set dataset_id=OTHER_NAME and give it with --variant-dataset DIR; "
                "for any other mode restart the server and choose --isolation none.",
            )
        if self.variant_dataset is not None and self.isolation not in ("auto", "variant"):
            raise _wrong(
                "variant_dataset",
                f"a variant dataset stands beside isolation {self.isolation}",
                "Leave out one of the two.",
            )


def _flag(name: str) -> str:
    """As a user writes it, and as what reads the addresses of KV events names it."""
    return "--" + name.replace("_", "-")


def _wrong(name: str, message: str, remedy: str) -> InputError:
    return InputError(message, field=name, remedy=remedy, stage="run_benchmark")


@dataclass(frozen=True, slots=True)
class Progress:
    """A step of a run: ``phase`` is ``preflight``, ``isolate``, ``warmup``, ``measured`` or ``quiesce``.

    ``note`` is a sentence for the user; the first event of ``measured`` tells the gates' longest chain. ``sample``:
    the row that was just added to ``runtime/series.parquet``, about one a second.
    """

    pass_name: str
    phase: str
    done: int
    total: int
    failed: int = 0
    note: str = ""
    sample: Sample | None = None


ProgressCallback = Callable[[Progress], None]
RunStatus = Literal["complete", "partial", "failed"]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A finished run.

    Args:
        status: ``complete``; ``failed`` if any request failed; ``partial`` if all were answered but counters are
            missing.
        run_dir: its directory.
        dataset_id: of the dataset.
        requests, failed_requests: measured requests and warmup prompts sent, over all passes.
        passes: per pass ``name, designed_hit_ratio, actual_hit_rate, expected_hit_tokens, measured_hit_tokens,
            measured_query_tokens, requests, failed_requests, duration_s, chain``.
        warnings: each ``{code, message}`` and where it applies ``pass, stage, field, remedy``.
    """

    status: RunStatus
    run_dir: Path
    dataset_id: str
    requests: int
    failed_requests: int
    passes: tuple[Mapping[str, Any], ...]
    warnings: tuple[Mapping[str, Any], ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "run_dir": str(self.run_dir),
            "dataset_id": self.dataset_id,
            "requests": self.requests,
            "failed_requests": self.failed_requests,
            "passes": [dict(p) for p in self.passes],
            "warnings": [dict(w) for w in self.warnings],
        }
