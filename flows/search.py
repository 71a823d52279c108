"""Flow search: the highest concurrency or rate that meets an SLO, one run per point.

Inputs: dataset folder, addresses, objective, range, folder of the search. Output: points/*, search.json, search.html;
the curve as artifacts. Cache: a point that was finished for the same dataset, servers and options is not run again.
Needs: the server; API keys only from the environment variable PREFIXCACHE_API_KEY.
"""

from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from prefect import flow

from flows.addresses import real
from flows.failures import plain_failure
from flows.figures import publish_search
from flows.logs import log_to_prefect
from flows.paths import dataset_folder, local_path
from flows.results import value_of
from flows.run_names import name_of_search
from flows.secrets import secret, unveiled
from flows.sending_options import sending_of
from prefixcache.analysis.slo import parse_slo
from prefixcache.analysis.slo_search import Bounds, bound
from prefixcache.engines.http import IDLE_S, Connection, Timeouts
from prefixcache.errors import PrefixCacheError
from prefixcache.load.options import RunOptions
from prefixcache.load.slo_points import SloPoints, search_slo
from prefixcache.report.slo_curve import SEARCH_HTML, write_slo_curve
from tasks.run_benchmark import watcher
from tasks.search_point import search_point


@flow(name="prefixcache-search", flow_run_name=name_of_search, persist_result=False)
def search(
    dataset: str,
    url: list[str],
    run_dir: str,
    slo: str,
    over: Literal["concurrency", "rate"] = "concurrency",
    low: float = 1,
    high: float = 256,
    resolution: float = 1,
    attainment: float = 0.99,
    confirm: int = 1,
    pass_name: str | None = None,
    metrics_url: list[str] | None = None,
    model: str | None = None,
    max_in_flight: int | None = None,
    duration: float | None = None,
    limit: int | None = None,
    gating: Literal["watermark", "first_token", "completion", "none"] | None = None,
    send: Literal["auto", "text", "ids"] = "auto",
    isolation: Literal["auto", "reset", "salt", "variant", "none"] = "auto",
    variant_dataset: str | None = None,
    allow_residue: bool = False,
    insecure: bool = False,
    ca_file: str | None = None,
    proxy: str | None = None,
    processes: int | None = None,
    api: Literal["openai", "generate"] = "openai",
    api_key: str | None = None,
    header: list[str] | None = None,
    extra_body: str | None = None,
    retries: int = 0,
    retry_wait: float = 0.5,
    engine_warmup: int = 0,
    rank_field: str | None = None,
    timeout: float = IDLE_S,
    language: Literal["en", "zh"] = "en",
) -> Any:
    """Find the highest load at which a share of the requests holds all thresholds.

    Args:
        dataset: Folder of the dataset, or its address, s3://bucket/path; it is fetched first.
        url: Addresses of the service, base or full path.
        run_dir: Folder of the search; finished points in it are used again.
        slo: Thresholds, e.g. ttft=0.5,tpot=50ms,e2e=3; any of the three.
        over: What is varied: requests in flight, or Poisson arrivals per second.
        low: Lowest load.
        high: Highest load.
        resolution: Loads are multiples of this.
        attainment: Share of the requests that must hold all thresholds.
        confirm: Points above the first miss that are measured all the same.
        pass_name: The pass that is judged; default the target's.
        metrics_url: Metrics pages; default /metrics of each address.
        model: Model name; default the server's first.
        max_in_flight: Over rates, requests in flight at most.
        duration: Seconds of load after which nothing is sent any more.
        limit: Send only the first so many requests of the send order.
        gating: Rule that keeps the model true under concurrency; default the dataset's.
        send: Send prompts as text or as token ids; auto takes text where the dataset has it.
        isolation: How a pass is kept apart from what was cached before it.
        variant_dataset: Folder of a dataset of the same plan with other content, for the second pass of compare.
        allow_residue: Go on where the cache cannot be proven empty.
        insecure: Take any TLS certificate of the server.
        ca_file: PEM file of the authorities that signed its certificate.
        proxy: Forward proxy, without credentials.
        processes: Processes that carry requests; default one for every 512 streams.
        api: openai is completions, or chat for chat datasets; generate is SGLang's own route.
        api_key: Name of the Prefect Secret block that holds the key; default the variable PREFIXCACHE_API_KEY.
        header: NAME: VALUE lines for every request; a secret value is written secret:BLOCK, the name of its block.
        extra_body: JSON object of fields for every request's body; null takes one out.
        retries: Attempts after a temporary failure; retried requests are marked.
        retry_wait: Seconds before the first of them, doubled each time.
        engine_warmup: Prompts unlike the dataset's, sent first in every point so that the engine is warm.
        rank_field: Field of the body that pins a DP rank, where the server takes no header for it.
        timeout: Seconds to wait for the next byte of an answer; a whole request may take three times as long.
        language: Language of the page.
    """
    log_to_prefect()
    try:
        folder = local_path(run_dir, "run_dir")
        options = RunOptions(
            urls=real(url),
            metrics_urls=real(metrics_url or []),
            model=model,
            duration=duration,
            limit=limit,
            gating=gating,
            send=send,
            isolation=isolation,
            variant_dataset=dataset_folder(variant_dataset, "variant_dataset") if variant_dataset else None,
            allow_residue=allow_residue,
            timeouts=Timeouts.of(timeout),
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
            connection=Connection(insecure, Path(ca_file) if ca_file else None, real([proxy])[0] if proxy else None),
        )
        bounds = Bounds(bound(low), bound(high), bound(resolution), attainment, confirm)
        points = SloPoints(
            dataset_folder(dataset, "dataset"),
            folder,
            options,
            over,
            parse_slo(slo),
            pass_name,
            max_in_flight,
            watcher(),
        )

        def measure(value: Decimal) -> dict[str, Any]:
            found: dict[str, Any] = value_of(search_point(points, over, f"{value.normalize():f}", return_state=True))
            return found

        report = search_slo(points, bounds, measure)
        write_slo_curve(report, folder / SEARCH_HTML, language)
    except PrefixCacheError as error:
        return plain_failure(error)
    publish_search(report, folder)
    return report
