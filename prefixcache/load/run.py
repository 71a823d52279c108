"""A benchmark run: preflight, passes, files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from prefixcache.engines.endpoint import Endpoint, parse_endpoint
from prefixcache.engines.http import open_client
from prefixcache.engines.quantities import Role
from prefixcache.engines.snapshot import MetricsSource
from prefixcache.errors import locating
from prefixcache.load.api_key import api_key_of
from prefixcache.load.chosen import metrics_sources, pace_of, secrets_of, send_form
from prefixcache.load.counters.kv_recorder import KvRecorder, sources_of
from prefixcache.load.counters.monitor import Monitor
from prefixcache.load.dataset import RunDataset, load_dataset
from prefixcache.load.isolation import Isolator
from prefixcache.load.options import (
    Progress,
    ProgressCallback,
    RunOptions,
    RunSummary,
)
from prefixcache.load.passes import Bench, PassRunner
from prefixcache.load.preflight.checks import Preflight, preflight
from prefixcache.load.records.place import check_free, check_place, wrong_place
from prefixcache.load.records.runfiles import RunFiles
from prefixcache.load.records.store import RunStore
from prefixcache.load.request.client import CompletionClient, SendForm
from prefixcache.load.request.output_tokens import OutputCounter
from prefixcache.load.sending.carrier import Carrier, open_carrier
from prefixcache.load.sending.engine_warmup import warm_engine
from prefixcache.load.sending.routes import Router
from prefixcache.load.variant import load_variant


def run_benchmark(
    dataset_dir: Path | str, run_dir: Path | str, options: RunOptions, progress: ProgressCallback | None = None
) -> RunSummary:
    """Run a dataset against servers and write the run directory (docs/architecture.md).

    Args:
        dataset_dir: what ``generate`` wrote.
        run_dir: where ``dataset/`` and ``runtime/`` go.
        options: endpoints and how to send.
        progress: called from the event loop after every request and at each step.

    Returns:
        The summary; its status is ``failed`` if any request failed, ``partial`` if counters are missing.

    Raises:
        InputError: the dataset, the options or the server do not fit together.
        EnvironmentFailure: a server cannot be reached, a disk cannot be written.
    """
    if not str(run_dir).strip():
        raise wrong_place("no run directory is named", "Name one, or `.` for the current folder.")
    return asyncio.run(run_benchmark_async(Path(dataset_dir), Path(run_dir), options, progress))


async def run_benchmark_async(
    dataset_dir: Path, run_dir: Path, options: RunOptions, progress: ProgressCallback | None = None
) -> RunSummary:
    """``run_benchmark`` for callers that have an event loop of their own."""
    dataset = load_dataset(dataset_dir)
    variant = None
    try:
        if options.variant_dataset is not None:
            variant = await asyncio.to_thread(load_variant, options.variant_dataset, dataset)
        return await _Run(dataset.first(options.limit), variant, run_dir, options, progress).go()
    finally:
        dataset.close()
        if variant is not None:
            variant.close()


@dataclass(slots=True)
class _Run:
    """One run and what it has so far; run.json can be written from it at any moment."""

    dataset: RunDataset
    variant: RunDataset | None
    run_dir: Path
    options: RunOptions
    progress: ProgressCallback | None

    async def go(self) -> RunSummary:
        options = self.options
        endpoints = [parse_endpoint(url) for url in options.urls]
        api_key = api_key_of(options.api_key)
        secrets = secrets_of(options, api_key)
        send = send_form(self.dataset, options.send)
        check_free(self.run_dir)
        check_place(self.run_dir, self.dataset.directory, overwrite=options.overwrite)
        async with open_client(options.timeouts, options.connection) as http:
            pages = metrics_sources(options, endpoints, api_key, secrets)
            sources = await options.metering.sources(http, pages, endpoints, secrets)
            roles = options.metering.roles_of(sources)
            router = Router(endpoints, self.dataset, options.sending.rank_field)
            with locating(stage="preflight", dataset_id=self.dataset.dataset_id, retry_count=0):
                found = await self._preflight(http, endpoints, sources, router, api_key, secrets, send)
            # Only now: a refused run leaves no folder behind.
            store = RunStore(
                self.run_dir,
                self.dataset.directory,
                overwrite=options.overwrite,
                variant_dir=self.variant.directory if self.variant else None,
                without_prompts=options.without_prompts,
                kv_events=bool(options.kv_events),
            )
            files = RunFiles(self.dataset, options, store, secrets)
            try:
                files.write("partial")
                async with self._carrier() as carrier:
                    client = self._client(carrier, found, send, api_key, secrets)
                    bench = self._bench(http, client, carrier, endpoints, sources, roles, router, found, store)
                    isolator = Isolator(bench, self.variant)
                    files.begin(bench, found, isolator)
                    await self._warm_engine(bench, files)
                    async with self._recording(bench, router, files):
                        for name in self.dataset.passes:
                            files.add(await PassRunner(bench, name, isolator).run())
                return files.finish()
            except BaseException as error:
                files.abandon(error)
                raise
            finally:
                store.release()

    def _carrier(self) -> AbstractAsyncContextManager[Carrier]:
        options = self.options
        streams = pace_of(options, self.dataset).in_flight
        return open_carrier(options.sending.processes_for(streams), options.timeouts, options.connection)

    def _client(
        self, carrier: Carrier, found: Preflight, send: SendForm, api_key: str | None, secrets: tuple[str, ...]
    ) -> CompletionClient:
        sending = self.options.sending
        return CompletionClient(
            carrier.wire,
            found.model,
            send,
            api_key,
            secrets,
            interface=sending.api,
            extra_body=sending.extra_body,
            extra_headers=sending.headers,
            retries=sending.retries,
            counter=OutputCounter(self.dataset.directory, self.dataset.embedded_tokenizer),
            keeps_text=True,
        )

    async def _warm_engine(self, bench: Bench, files: RunFiles) -> None:
        """Let the engine compile and allocate before anything is measured."""
        count = self.options.sending.engine_warmup
        if not count:
            return
        bench.tell(Progress("", "engine_warmup", 0, count))
        sends = bench.carrier.client(bench.client)
        files.engine_warmup = await warm_engine(count, bench.concurrency, self.dataset, sends, bench.router)
        if files.engine_warmup["failed"]:
            bench.warn(
                "engine_warmup_failed",
                f"{files.engine_warmup['failed']:,} of {count:,} prompts of the engine's warm-up failed",
            )

    async def _preflight(
        self,
        http: httpx.AsyncClient,
        endpoints: Sequence[Endpoint],
        sources: Sequence[MetricsSource],
        router: Router,
        api_key: str | None,
        secrets: tuple[str, ...],
        send: SendForm,
    ) -> Preflight:
        if self.progress is not None:
            self.progress(Progress("", "preflight", 0, len(endpoints)))
        found = await preflight(
            http,
            endpoints,
            sources,
            self.dataset,
            model=self.options.model,
            by_rank=router.by_rank,
            check_tokens=send != "ids",
            isolated=self.options.isolation != "none",
            engine=self.options.metering.engine,
            options=self.options.checks,
            api_key=api_key,
            secrets=secrets,
        )
        if self.progress is not None:
            for note in found.notes:
                self.progress(Progress("", "preflight", len(endpoints), len(endpoints), note=note))
        router.pin_by(found.adapter)
        return found

    @asynccontextmanager
    async def _recording(self, bench: Bench, router: Router, files: RunFiles) -> AsyncIterator[None]:
        """Listen to the server's KV events, where asked to. That there are none never ends a run."""
        options, sink = self.options, bench.store.kv_events
        if sink is None:
            yield
            return
        ranks = router.domains if router.by_rank else 1
        sources = sources_of(options.kv_events, options.kv_events_replay, ranks)
        recorder = bench.recorder = KvRecorder(sources, sink.append)
        try:
            await asyncio.to_thread(recorder.start)
            yield
        finally:
            files.kv_events = await asyncio.to_thread(recorder.stop)
            if files.kv_events["status"] != "complete":
                bench.warn(f"kv_events_{files.kv_events['status']}", f"KV events: {files.kv_events['reason']}")

    def _bench(
        self,
        http: httpx.AsyncClient,
        client: CompletionClient,
        carrier: Carrier,
        endpoints: Sequence[Endpoint],
        sources: Sequence[MetricsSource],
        roles: Mapping[str, Role],
        router: Router,
        found: Preflight,
        store: RunStore,
    ) -> Bench:
        options, dataset, pace = self.options, self.dataset, pace_of(self.options, self.dataset)
        labels = [source.label for source in sources]
        bench = Bench(
            dataset=dataset,
            options=options,
            http=http,
            client=client,
            carrier=carrier,
            endpoints=endpoints,
            metrics_labels=labels if len(labels) == len(endpoints) else [e.base for e in endpoints],
            router=router,
            monitor=Monitor(
                http,
                sources,
                found.adapter,
                options.poll_interval,
                store.samples.append,
                roles,
            ),
            store=store,
            concurrency=pace.in_flight or dataset.concurrency,
            pace=pace,
            gating=options.gating or dataset.gating,
            progress=self.progress,
        )
        for code, text in found.warnings:
            bench.warn(code, text)
        for text in router.warnings:
            bench.warn("endpoints", text)
        if dataset.planned_blocks is not None and pace.in_flight != 1:
            bench.warn(
                "capacity_in_flight",
                f"the hits were planned for caches of {dataset.planned_blocks:,} blocks and one request at a time; "
                f"with {pace.in_flight or len(dataset.requests)} in flight others are evicted",
            )
        if changed := options.sending.sampling_changed:
            bench.warn(
                "sampling_changed",
                f"the extra body changes {', '.join(changed)}: answers may be of other lengths than planned, and "
                "others in the next run",
            )
        if client.send == "ids" and options.send == "auto":
            what = "no text (output.prompts: ids)" if dataset.without_texts else "no exact text"
            bench.warn("sent_as_ids", f"the dataset holds token ids and {what}, so its prompts are sent as ids")
        return bench
