"""Flow report: a run directory → report/prefix_cache_report.{json,html}.

Inputs: run folder, language. Output: the two files; a table artifact. Cache: none. Needs: nothing else.
"""

from typing import Any, Literal

from prefect import flow

from flows.failures import plain_failure
from flows.figures import publish_figures
from flows.logs import log_to_prefect
from flows.paths import local_path
from flows.results import value_of
from flows.run_names import name_of_report
from prefixcache.errors import PrefixCacheError
from tasks.build_report import build_report


@flow(name="prefixcache-report", flow_run_name=name_of_report, persist_result=False)
def report(run_dir: str, language: Literal["en", "zh"] = "en", slo: str | None = None) -> Any:
    """Build the report of a finished run again.

    Args:
        run_dir: Folder of the run.
        language: Language of the HTML report.
        slo: Thresholds for goodput, e.g. ttft=0.5,tpot=50ms,e2e=3; default those of the run.
    """
    log_to_prefect()
    try:
        folder = local_path(run_dir, "run_dir")
        figures = value_of(build_report(folder, language, slo, return_state=True))
    except PrefixCacheError as error:
        return plain_failure(error)
    publish_figures(figures, folder)
    return figures
