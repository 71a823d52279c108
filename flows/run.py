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
from flows.secrets import secret, unveiled
from flows.sending_options import sending_of
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
    processes: int | None = None,
    api: Literal["openai", "generate"] = "openai",
    api_key: str | None = None,
    header: list[str] | None = None,
    extra_body: str | None = None,
    retries: int = 0,
    retry_wait: float = 0.5,
    engine_warmup: int = 0,
    rank_field: str | None = None,
    connect_timeout: float | None = None,
    first_byte_timeout: float | None = None,
    total_timeout: float | None = None,
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
        processes: Processes that carry requests; default one for every 512 streams.
        api: openai is completions, or chat for chat datasets; generate is SGLang's own route.
        api_key: Name of the Prefect Secret block that holds the key; default the variable PREFIXCACHE_API_KEY.
        header: NAME: VALUE lines for every request; a secret value is written secret:BLOCK, the name of its block.
        extra_body: JSON object of fields for every request's body; null takes one out.
        retries: Attempts after a temporary failure; retried requests are marked.
        retry_wait: Seconds before the first of them, doubled each time.
        engine_warmup: Prompts unlike the dataset's, sent first so that the engine is warm.
        rank_field: Field of the body that pins a DP rank, where the server takes no header for it.
        connect_timeout: Seconds to wait for a connection; default 10.
        first_byte_timeout: Seconds to wait for an answer to begin; default as timeout.
        total_timeout: Seconds that a whole request may take; default three times the timeout.
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
            timeouts=Timeouts.of(timeout, connect_timeout, first_byte_timeout, total_timeout),
            sending=sending_of(
                {
                    "processes": processes,
                    "api": api,
                    "header": unveiled(header or []),
                    "extra_body": extra_body,
                    "retries": retries,
                    "retry_wait": retry_wait,
                    "engine_warmup": engine_warmup,
                    "rank_field": rank_field,
                }
            ),
            api_key=secret(api_key, "api_key") if api_key else None,
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
