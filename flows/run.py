"""Flow run: one dataset against one service → run directory with report.

Inputs: dataset folder, addresses, run folder. Output: runtime/*, report/*; artifacts with the figures.
Cache: none: a benchmark is never answered from a cache and never retried.
Needs: the server; API keys from the environment variable PREFIXCACHE_API_KEY or a Secret block.
"""

from typing import Any, Literal

from prefect import flow

from flows import metering_options as metering
from flows import sending_options as sending
from flows import service_options as service
from flows.failures import plain_failure
from flows.figures import publish_figures
from flows.form import described
from flows.logs import log_to_prefect
from flows.options import Slo
from flows.paths import dataset_folder, local_path
from flows.results import value_of
from flows.run_names import name_of_run
from flows.run_options import options_of
from flows.stored_parameters import recalled
from prefixcache.errors import PrefixCacheError
from tasks.build_report import build_report
from tasks.run_benchmark import run_benchmark


@flow(name="prefixcache-run", flow_run_name=name_of_run, persist_result=False)
@described
def run(
    dataset: str,
    url: service.Urls,
    run_dir: str,
    metrics_url: service.MetricsUrls = None,
    model: service.Model = None,
    concurrency: service.Concurrency = None,
    load: service.Load = None,
    max_in_flight: service.MaxInFlight = None,
    duration: service.Duration = None,
    limit: service.Limit = None,
    gating: service.Gating = None,
    send: service.Send = service.SEND,
    isolation: service.Isolation = service.ISOLATION,
    variant_dataset: service.VariantFolder = None,
    allow_residue: service.AllowResidue = False,
    overwrite: service.Overwrite = False,
    without_prompts: service.WithoutPrompts = False,
    insecure: service.Insecure = False,
    ca_file: service.CaFile = None,
    proxy: service.Proxy = None,
    kv_events: service.KvEvents = None,
    kv_events_replay: service.KvEventsReplay = None,
    slo: Slo = None,
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
    """Run a dataset against a server and compare target, design and measurement.

    Args:
        dataset: Folder of the dataset, or its address, s3://bucket/path; it is fetched first.
        run_dir: Folder of the run.
        proxy: Forward proxy, without credentials; those of the environment are not used.
        api_key: Name of the Prefect Secret block that holds the key; default the variable PREFIXCACHE_API_KEY.
        header: NAME: VALUE lines for every request. Prefect stores them: write a secret as NAME: secret:BLOCK, the name
            of its Secret block.
        extra_body: JSON object of fields for every request's body; null takes one out. Prefect stores it: write a
            secret in it as "secret:BLOCK", the name of its Secret block.
        language: Language of the HTML report.
    """
    parameters = dict(locals())  # before any other name is bound here
    log_to_prefect()
    try:
        folder = local_path(run_dir, "run_dir")
        options = options_of(recalled(parameters))
        value_of(run_benchmark(dataset_folder(dataset, "dataset"), folder, options, return_state=True))
        report = value_of(build_report(folder, language, return_state=True))
    except PrefixCacheError as error:
        return plain_failure(error, parameters)
    publish_figures(report, folder)
    return report
