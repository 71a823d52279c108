"""Flow run: one dataset against one service → run directory with report.

Inputs: dataset folder, addresses, run folder. Output: runtime/*, report/*; artifacts with the figures.
Cache: none: a benchmark is never answered from a cache and never retried.
Needs: the server; API keys only from the environment variable PREFIXCACHE_API_KEY.
"""

from pathlib import Path
from typing import Any, Literal

from prefect import flow

from flows.addresses import real
from flows.failures import plain_failure
from flows.figures import publish_figures
from flows.logs import log_to_prefect
from flows.paths import dataset_folder, local_path
from flows.results import value_of
from flows.run_names import name_of_run
from prefixcache.engines.http import IDLE_S, Connection, Timeouts
from prefixcache.errors import PrefixCacheError
from prefixcache.load.options import RunOptions
from tasks.build_report import build_report
from tasks.run_benchmark import run_benchmark


@flow(name="prefixcache-run", flow_run_name=name_of_run, persist_result=False)
def run(
    dataset: str,
    url: list[str],
    run_dir: str,
    metrics_url: list[str] | None = None,
    model: str | None = None,
    concurrency: int | None = None,
    load: str | None = None,
    max_in_flight: int | None = None,
    duration: float | None = None,
    limit: int | None = None,
    gating: Literal["watermark", "first_token", "completion", "none"] | None = None,
    send: Literal["auto", "text", "ids"] = "auto",
    isolation: Literal["auto", "reset", "salt", "variant", "none"] = "auto",
    variant_dataset: str | None = None,
    allow_residue: bool = False,
    overwrite: bool = False,
    without_prompts: bool = False,
    insecure: bool = False,
    ca_file: str | None = None,
    proxy: str | None = None,
    kv_events: list[str] | None = None,
    kv_events_replay: list[str] | None = None,
    slo: str | None = None,
    timeout: float = IDLE_S,
    language: Literal["en", "zh"] = "en",
) -> Any:
    """Run a dataset against a server and compare target, design and measurement.

    Args:
        dataset: Folder of the dataset, or its address, s3://bucket/path; it is fetched first.
        url: Addresses of the service, base or full path.
        run_dir: Folder of the run.
        metrics_url: Metrics pages; default /metrics of each address.
        model: Model name; default the server's first.
        concurrency: Requests in flight; default the dataset's.
        load: Shape of the load, such as closed:16, poisson:200 or ramp:10..200,seconds=60; default closed.
        max_in_flight: Of an open load, requests in flight at most.
        duration: Seconds of load after which nothing is sent any more.
        limit: Send only the first so many requests of the send order.
        gating: Rule that keeps the model true under concurrency; default the dataset's.
        send: Send prompts as text or as token ids; auto takes text where the dataset has it.
        isolation: How a pass is kept apart from what was cached before it.
        variant_dataset: Folder of a dataset of the same plan with other content, for the second pass of compare.
        allow_residue: Go on where the cache cannot be proven empty.
        overwrite: Replace the results of an earlier run in the folder.
        without_prompts: Keep no prompts in the run's folder; they are read from the dataset.
        insecure: Take any TLS certificate of the server.
        ca_file: PEM file of the authorities that signed its certificate.
        proxy: Forward proxy, without credentials.
        kv_events: Where the server publishes its KV events, tcp://HOST:PORT, one for each address.
        kv_events_replay: Where it repeats them, likewise.
        slo: Thresholds for goodput, e.g. ttft=0.5,tpot=50ms,e2e=3; any of the three.
        timeout: Seconds to wait for the next byte of an answer; a whole request may take three times as long.
        language: Language of the HTML report.
    """
    log_to_prefect()
    try:
        folder = local_path(run_dir, "run_dir")
        options = RunOptions(
            urls=real(url),
            metrics_urls=real(metrics_url or []),
            model=model,
            concurrency=concurrency,
            load=load,
            max_in_flight=max_in_flight,
            duration=duration,
            limit=limit,
            gating=gating,
            send=send,
            isolation=isolation,
            variant_dataset=dataset_folder(variant_dataset, "variant_dataset") if variant_dataset else None,
            allow_residue=allow_residue,
            overwrite=overwrite,
            without_prompts=without_prompts,
            slo=slo,
            timeouts=Timeouts.of(timeout),
            kv_events=tuple(kv_events or ()),
            kv_events_replay=tuple(kv_events_replay or ()),
            connection=Connection(insecure, Path(ca_file) if ca_file else None, real([proxy])[0] if proxy else None),
        )
        value_of(run_benchmark(dataset_folder(dataset, "dataset"), folder, options, return_state=True))
        report = value_of(build_report(folder, language, return_state=True))
    except PrefixCacheError as error:
        return plain_failure(error)
    publish_figures(report, folder)
    return report
