"""Flow generate: one configuration → a dataset with its proof.

Inputs: a configuration (as a form, or a YAML file on the machine that runs the flow) and the output folder or address.
Output: the dataset folder; a table artifact with target and design.
Cache: every stage by its content key (`tasks.policy`); a killed run started again resumes.
Needs: the tokenizer and the source; no server.
"""

from typing import Any

from prefect import flow, get_run_logger
from prefect.artifacts import create_table_artifact
from prefect.task_runners import ThreadPoolTaskRunner

from flows.addresses import real
from flows.failures import plain_failure
from flows.logs import log_to_prefect
from flows.paths import dataset_place, local_path
from flows.progress import progress_artifacts
from flows.run_names import name_of_generate
from flows.size_options import finder_of
from prefixcache.config import PrefixCacheDatasetConfig, load_config, parse_config
from prefixcache.config.sizes import AUTO, SizeFinder, resolve_sizes
from prefixcache.errors import InputError, PrefixCacheError
from prefixcache.pipeline import generate_prefix_cache_dataset
from prefixcache.stages.pool import default_workers
from prefixcache.stages.store import Store
from tasks.engines import Engine, RunnerName
from tasks.runner import AsTasks

MOST_THREADS = 8


@flow(
    name="prefixcache-generate",
    flow_run_name=name_of_generate,
    task_runner=ThreadPoolTaskRunner(max_workers=MOST_THREADS),  # type: ignore[arg-type]
    persist_result=False,
)
def generate(
    output: str,
    config: PrefixCacheDatasetConfig | None = None,
    config_file: str | None = None,
    tokenizer: str | None = None,
    sources: list[str] | None = None,
    settings: list[str] | None = None,
    auto_sizes: bool = False,
    url: list[str] | None = None,
    metrics_url: list[str] | None = None,
    engine: str | None = None,
    probe_report: str | None = None,
    workers: int | None = None,
    runner: RunnerName = "threads",
    runner_address: str | None = None,
) -> Any:
    """Build a dataset whose prefix-cache hit rate is planned and proven to the token.

    Args:
        output: Folder of the dataset, or an address such as s3://bucket/path; credentials come from the environment.
        config: The configuration; or name a file below.
        config_file: YAML file on the machine that runs the flow.
        tokenizer: Replaces tokenizer.path of the file.
        sources: NAME=PATH of text sources, e.g. gsm8k=/data/gsm8k.
        settings: key=value changes to the file.
        auto_sizes: Take block_size and hit_unit from whoever is named below, whatever the form or the file says.
        url: Servers to ask for the sizes, here or for `block_size: auto` in the file.
        metrics_url: Their metrics pages; default /metrics of each address.
        engine: Framework whose default block size counts where no server tells.
        probe_report: JSON file of `prefixcache probe` on the machine that runs the flow.
        workers: Processes that build shards; default one per CPU.
        runner: Who builds shards: this machine's processes behind threads, or a task runner of Prefect's.
        runner_address: Of a Dask or Ray cluster that is running; default one of the flow's own.
    """
    log_to_prefect()
    try:
        place = dataset_place(output, "output")
        scale = Engine(runner, runner_address)
        sizes = finder_of(real(url or []), real(metrics_url or []), engine, probe_report)
        chosen = _configuration(config, config_file, tokenizer, sources or [], settings or [], sizes, auto_sizes)
        store = Store(place) if isinstance(place, str) else None
        with AsTasks(workers or default_workers(), scale, store) as stages, progress_artifacts(chosen.dataset_id):
            report = generate_prefix_cache_dataset(chosen, place, stages).report
    except PrefixCacheError as error:
        return plain_failure(error)
    create_table_artifact(
        key="prefixcache-dataset",
        description=f"Dataset {chosen.dataset_id}: {report['validation_status']}",
        table=[
            {
                "dataset": chosen.dataset_id,
                "status": report["validation_status"],
                "target %": _rounded(report["target_hit_ratio"], 100),
                "designed %": round(report["designed_hit_ratio"] * 100, 4),
                "deviation pp": _rounded(report["signed_deviation_pp"], 1),
                "requests": report["request_count"],
                "input tokens": report["input_tokens"],
                "expected hit tokens": report["expected_hit_tokens"],
            }
        ],
    )
    return report


def _configuration(
    config: PrefixCacheDatasetConfig | None,
    config_file: str | None,
    tokenizer: str | None,
    sources: list[str],
    settings: list[str],
    sizes: SizeFinder | None,
    auto_sizes: bool,
) -> PrefixCacheDatasetConfig:
    """What the form or the file says, and of its sizes what a server tells.

    Raises:
        InputError: both or neither are given, sizes of a form are asked for that nobody takes, or as ``load_config``.
    """
    if (config is None) == (config_file is None):
        raise InputError("give either `config` or `config_file`", field="config", remedy="leave one of them empty.")
    if config_file is not None:
        path = local_path(config_file, "config_file")
        wanted = [*settings, "block_size=auto", "hit_unit=auto"] if auto_sizes else settings
        loaded = load_config(path, tokenizer=tokenizer, sources=sources, settings=wanted, sizes=sizes)
        chosen, told = loaded.config, list(loaded.warnings)
    else:
        assert config is not None
        chosen, told = _sized(config, sizes) if auto_sizes else (config, resolve_sizes(config.model_dump(), sizes))
    for text in told:
        get_run_logger().warning(text)
    return chosen


def _sized(config: PrefixCacheDatasetConfig, sizes: SizeFinder | None) -> tuple[PrefixCacheDatasetConfig, list[str]]:
    """The form with sizes that are asked for, and the warnings of it: a form's own field takes numbers alone."""
    raw = config.model_dump()
    raw |= {"block_size": AUTO, "block_size_source": None, "hit_unit": AUTO, "hit_unit_source": None}
    if not raw["hit_drop"]:  # a form holds its default, 0, where nobody has thought of it
        del raw["hit_drop"]
    warnings = resolve_sizes(raw, sizes)
    return parse_config(raw), warnings


def _rounded(value: float | None, factor: int) -> float | None:
    """Null where there is no target."""
    return None if value is None else round(value * factor, 6)
