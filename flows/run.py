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
from flows.results import value_of
from prefixcache.errors import PrefixCacheError
from prefixcache.load.options import RunOptions
from tasks.build_report import build_report
from tasks.run_benchmark import run_benchmark


@flow(name="prefixcache-run", persist_result=False)
def run(
    dataset: str,
    url: list[str],
    run_dir: str,
    metrics_url: list[str] | None = None,
    model: str | None = None,
    concurrency: int | None = None,
    gating: Literal["watermark", "first_token", "completion", "none"] | None = None,
    send: Literal["text", "ids"] = "text",
    allow_residue: bool = False,
    overwrite: bool = False,
    language: Literal["en", "zh"] = "en",
) -> Any:
    """Run a dataset against a server and compare target, design and measurement.

    Args:
        dataset: Folder of the dataset.
        url: Addresses of the service, base or full path.
        run_dir: Folder of the run.
        metrics_url: Metrics pages; default /metrics of each address.
        model: Model name; default the server's first.
        concurrency: Requests in flight; default the dataset's.
        gating: Rule that keeps the model true under concurrency; default the dataset's.
        send: Send prompts as text or as token ids.
        allow_residue: Go on where the cache cannot be proven empty.
        overwrite: Replace the results of an earlier run in the folder.
        language: Language of the HTML report.
    """
    try:
        options = RunOptions(
            urls=real(url),
            metrics_urls=real(metrics_url or []),
            model=model,
            concurrency=concurrency,
            gating=gating,
            send=send,
            allow_residue=allow_residue,
            overwrite=overwrite,
        )
        value_of(run_benchmark(Path(dataset), Path(run_dir), options, return_state=True))
        report = value_of(build_report(Path(run_dir), language, return_state=True))
    except PrefixCacheError as error:
        return plain_failure(error)
    publish_figures(report, Path(run_dir))
    return report
