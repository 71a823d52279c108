"""Flow search: the highest concurrency or rate that meets an SLO, one run per point.

Inputs: dataset folder, addresses, objective, range, folder of the search. Output: points/*, search.json, search.html;
the curve as artifacts. Cache: a point that was finished for the same dataset, servers and options is not run again.
Needs: the server; API keys from the environment variable PREFIXCACHE_API_KEY or a Secret block.
"""

from decimal import Decimal
from typing import Any, Literal

from prefect import flow

from flows import metering_options as metering
from flows import search_options as searching
from flows import sending_options as sending
from flows import service_options as service
from flows.failures import plain_failure
from flows.figures import publish_search
from flows.form import described
from flows.logs import log_to_prefect
from flows.paths import dataset_folder, local_path
from flows.results import value_of
from flows.run_names import name_of_search
from flows.run_options import finish_search, search_of
from flows.stored_parameters import recalled
from prefixcache.errors import PrefixCacheError
from tasks.run_benchmark import watcher
from tasks.search_point import search_point


@flow(name="prefixcache-search", flow_run_name=name_of_search, persist_result=False)
@described
def search(
    dataset: str,
    url: service.Urls,
    run_dir: str,
    slo: searching.Objective,
    over: searching.Over = searching.OVER,
    low: searching.Low = searching.LOW,
    high: searching.High = searching.HIGH,
    resolution: searching.Resolution = searching.RESOLUTION,
    points: searching.Points = None,
    attainment: searching.Attainment = searching.ATTAINMENT,
    confirm: searching.Confirm = searching.CONFIRM,
    pass_name: searching.PassName = None,
    metrics_url: service.MetricsUrls = None,
    model: service.Model = None,
    max_in_flight: searching.MaxInFlight = None,
    duration: service.Duration = None,
    limit: service.Limit = None,
    gating: service.Gating = None,
    send: service.Send = service.SEND,
    isolation: service.Isolation = service.ISOLATION,
    variant_dataset: service.VariantFolder = None,
    allow_residue: service.AllowResidue = False,
    insecure: service.Insecure = False,
    ca_file: service.CaFile = None,
    proxy: service.Proxy = None,
    processes: sending.Processes = None,
    api: sending.Api = sending.API,
    api_key: str | None = None,
    header: sending.Headers = None,
    extra_body: sending.ExtraBody = None,
    retries: sending.Retries = 0,
    retry_wait: sending.RetryWait = sending.RETRY_WAIT_S,
    engine_warmup: sending.EngineWarmup = 0,
    rank_field: sending.RankField = None,
    connect_timeout: sending.ConnectTimeout = None,
    first_byte_timeout: sending.FirstByteTimeout = None,
    total_timeout: sending.TotalTimeout = None,
    engine: metering.Engine = metering.ENGINE,
    role: metering.Roles = None,
    metrics_model: metering.MetricsModel = None,
    prometheus: metering.PrometheusUrl = None,
    selector: metering.Selector = "",
    probe_report: metering.ProbeReport = None,
    allow_misfit: metering.AllowMisfit = False,
    no_predict: metering.NoPredict = False,
    timeout: sending.Timeout = sending.TIMEOUT_S,
    language: Literal["en", "zh"] = "en",
) -> Any:
    """Find the highest load at which a share of the requests holds all thresholds.

    Args:
        dataset: Folder of the dataset, or its address, s3://bucket/path; it is fetched first.
        run_dir: Folder of the search; finished points in it are used again.
        proxy: Forward proxy, without credentials; those of the environment are not used.
        api_key: Name of the Prefect Secret block that holds the key; default the variable PREFIXCACHE_API_KEY.
        header: NAME: VALUE lines for every request. Prefect stores them: write a secret as NAME: secret:BLOCK, the name
            of its Secret block.
        extra_body: JSON object of fields for every request's body; null takes one out. Prefect stores it: write a
            secret in it as "secret:BLOCK", the name of its Secret block.
        language: Language of the page.
    """
    parameters = dict(locals())  # before any other name is bound here
    log_to_prefect()
    try:
        folder = local_path(run_dir, "run_dir")
        given = recalled(parameters)
        runs, bounds = search_of(given, dataset_folder(dataset, "dataset"), folder, watcher())

        def measure(value: Decimal) -> dict[str, Any]:
            text = f"{value.normalize():f}"
            found: dict[str, Any] = value_of(search_point(runs, runs.over, text, return_state=True))
            return found

        report = finish_search(runs, bounds, measure, language)
    except PrefixCacheError as error:
        return plain_failure(error, parameters)
    publish_search(report, folder)
    return report
